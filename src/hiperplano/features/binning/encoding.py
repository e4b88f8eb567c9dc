"""Columns of a table as WoE: the rows of `WoEEncoder.transform`, and their correlations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Sums
from hiperplano.data.loops.arrays import frozen
from hiperplano.errors import InvalidData
from hiperplano.features.binning.bins import Bins, CategoryBins, NumericBins
from hiperplano.features.binning.reading import as_numbers


def column_of(X: Any, number: int) -> Any:
    """One column of a table or array."""
    if hasattr(X, "iloc"):
        return X.iloc[:, number]
    if hasattr(X, "get_column"):
        return X.get_column(X.columns[number])
    return X.column(number) if hasattr(X, "column_names") else np.ascontiguousarray(X[:, number])


@dataclass(frozen=True)
class ColumnCode:
    """The output of `transform` for one column.

    Attributes
    ----------
    bins : NumericBins or CategoryBins
    encoding : ndarray of shape (bins,) or (bins, k)
        Values of each bin.
    name : str
        For messages.
    known_only : bool
        Whether categories that the fit did not see are an error.
    """

    bins: Bins
    encoding: Array
    name: str
    known_only: bool = False

    @property
    def width(self) -> int:
        """Number of output columns."""
        return 1 if self.encoding.ndim == 1 else int(self.encoding.shape[1])

    def write(self, column: Any, out: Array) -> Array | None:
        """Fill `out`, of shape (n, width); return the bins of categories if they had to be computed."""
        if isinstance(self.bins, NumericBins) and self.width == 1:
            encoding = self.encoding.reshape(-1).astype(out.dtype, copy=False)
            from hiperplano.features.binning.lookup_loops import look_up  # numba is loaded late

            look_up(frozen(as_numbers(column, self.name)), *self.bins.loop_arrays(), encoding, out[:, 0])
            return None
        codes = self.bins.assign(column, self.name)
        out[...] = self.encoding[codes].reshape(len(codes), -1)
        return codes if isinstance(self.bins, CategoryBins) else None


@dataclass(frozen=True)
class Encoded:
    """Function of a block: some of its columns as `transform` writes them."""

    columns: tuple[int, ...]
    codes: tuple[ColumnCode, ...]

    @property
    def width(self) -> int:
        """Number of output columns."""
        return sum(code.width for code in self.codes)

    @property
    def all_intervals(self) -> bool:
        """Whether every column has intervals and one value per bin."""
        return all(code.width == 1 and isinstance(code.bins, NumericBins) for code in self.codes)

    def __call__(self, block: Block) -> Array:
        made = np.empty((len(block), self.width), order="F")
        rows = block.dense()
        if self.all_intervals:
            self.writer(rows, made)(0, len(rows))
            return made
        end = 0
        for column, code in zip(self.columns, self.codes, strict=True):
            codes = code.write(rows[:, column], made[:, end : end + code.width])
            end += code.width
            if code.known_only and codes is not None and (codes == code.bins.n_bins - 1).any():
                raise InvalidData(
                    "column {name!r} holds a category that the fit did not see. Set handle_unknown='ignore' to give "
                    "it WoE 0, or fit again.",
                    name=code.name,
                )
        return made

    def writer(self, rows: Array, made: Array) -> Callable[[int, int], None]:
        """Function that fills the rows start … stop − 1 of `made`, which is column-major, from those of an array."""
        from hiperplano.features.binning.lookup_loops import look_up_rows  # numba is loaded late

        lists = [code.bins.loop_arrays() for code in self.codes if isinstance(code.bins, NumericBins)]
        encodings = [code.encoding.reshape(-1).astype(made.dtype, copy=False) for code in self.codes]
        cuts, special = _joined([each[0] for each in lists]), _joined([each[1] for each in lists])
        special_bins, missing = np.concatenate([each[2] for each in lists]), np.array([each[3] for each in lists])
        encoding, chosen = _joined(encodings), np.array(self.columns)

        def write(start: int, stop: int) -> None:
            look_up_rows(frozen(rows), chosen, *cuts, *special, special_bins, missing, *encoding, made.T, start, stop)

        return write


def _joined(arrays: list[Array]) -> tuple[Array, Array]:
    """Concatenated arrays, and where each begins; the last entry is the total length."""
    return np.concatenate(arrays), np.cumsum([0, *map(len, arrays)])


def float_rows(table: Any) -> Array | None:
    """A table as an array of floats if it is one, or if a pandas table stores all columns in one; None otherwise."""
    if hasattr(table, "iloc"):
        first = table.iloc[:1]
        if not np.shares_memory(first.iloc[:, 0].to_numpy(), first.to_numpy()):
            return None  # separate columns would have to be copied
        table = table.to_numpy()
    return table if getattr(table, "dtype", None) in (np.float32, np.float64) else None


@dataclass(frozen=True)
class EncodedMoments:
    """Statistic: Σw, Σw·z and Σw·zzᵀ of the encoded columns z."""

    encoded: Encoded

    def __call__(self, block: Block) -> Sums:
        return moments(self.encoded(block), block.weights)


def moments(encoded: Array, weight: Array) -> Sums:
    """Σw, Σw·z and Σw·zzᵀ of rows z."""
    weighted = encoded * weight[:, None]
    return np.atleast_1d(weight.sum()), weighted.sum(axis=0), encoded.T @ weighted


def correlations(sums: Sums) -> Array:
    """Correlations from the moments; 0 with a constant column."""
    weight, first, second = sums
    covariance = second / weight - np.outer(first, first) / weight**2
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    constant = scale <= 1e-12 * np.sqrt(np.diag(second) / weight)
    scale = np.where(constant, np.inf, scale)
    return np.asarray(covariance / np.outer(scale, scale))


def uncorrelated(strengths: Sequence[float], correlation: Array, most: float) -> dict[int, int]:
    """Columns to leave out, each with the stronger column that it duplicates.

    From the strongest column down, each is kept unless its correlation with a kept one is larger than `most`.
    """
    kept: list[int] = []
    left_out: dict[int, int] = {}
    for column in np.argsort(-np.asarray(strengths), kind="stable").tolist():
        rival = max(kept, key=lambda each: abs(correlation[column, each]), default=None)
        if rival is not None and abs(correlation[column, rival]) > most:
            left_out[column] = rival
        else:
            kept.append(column)
    return left_out
