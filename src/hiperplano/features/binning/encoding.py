"""Columns of a table as WoE: the rows of `WoEEncoder.transform`, and their correlations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Sums
from hiperplano.features.binning.bins import Bins, CategoryBins, NumericBins
from hiperplano.features.binning.lookup_loops import look_up
from hiperplano.features.binning.reading import as_numbers


def column_of(X: Any, number: int) -> Any:
    """One column of a table or array."""
    if hasattr(X, "iloc"):
        return X.iloc[:, number]
    if hasattr(X, "get_column"):
        return X.get_column(X.columns[number])
    return X.column(number) if hasattr(X, "column_names") else np.ascontiguousarray(X[:, number])


def write_encoded(bins: Bins, encoding: Array, column: Any, out: Array, name: Any = None) -> Array | None:
    """Put the encoding of each value's bin into `out`.

    Parameters
    ----------
    encoding : ndarray of shape (bins,) or (bins, k)
    out : ndarray of shape (n, k)
        Filled.

    Returns
    -------
    ndarray of int of shape (n,) or None
        The bins, where they had to be known.
    """
    if isinstance(bins, NumericBins) and encoding.ndim == 1:
        special = np.array([code for group in bins.special for code in group], dtype=np.float64)
        sizes = [len(group) for group in bins.special]
        places = np.repeat(np.arange(bins.n_regular, bins.missing), sizes)
        cuts = np.array(bins.cuts, dtype=np.float64)
        look_up(as_numbers(column, name), cuts, special, places, encoding.astype(out.dtype), out[:, 0])
        return None
    codes = bins.assign(column, name)
    out[...] = encoding[codes].reshape(len(codes), -1)
    return codes if isinstance(bins, CategoryBins) else None


@dataclass(frozen=True)
class Encoded:
    """The function of a block: its columns as `transform` writes them."""

    columns: tuple[int, ...]
    bins: tuple[Bins, ...]
    encodings: tuple[Array, ...]

    def __call__(self, block: Block) -> Array:
        rows = block.dense()
        widths = [1 if encoding.ndim == 1 else encoding.shape[1] for encoding in self.encodings]
        made, end = np.empty((len(rows), sum(widths))), 0
        for column, bins, encoding, width in zip(self.columns, self.bins, self.encodings, widths, strict=True):
            write_encoded(bins, encoding, rows[:, column], made[:, end : end + width])
            end += width
        return made


@dataclass(frozen=True)
class EncodedMoments:
    """The statistic: Σw, Σw·z and Σw·zzᵀ of the encoded columns z."""

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
    """Columns to leave out, each with the stronger one that says much the same.

    From the strongest column down, each is kept unless its correlation with one that was kept is larger than `most`.
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
