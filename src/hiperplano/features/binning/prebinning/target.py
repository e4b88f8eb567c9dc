"""The target of a binning: two classes, more classes, or a number; and its sums over given bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from hiperplano.data.design import Array, Block, Design, RowVector, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.data.labels import DistinctLabels, encode_labels
from hiperplano.data.validate import check_weight
from hiperplano.errors import InvalidTarget
from hiperplano.features.binning.bins import NumericBins
from hiperplano.features.binning.reading import as_array, is_missing

TARGETS = ("auto", "binary", "multiclass", "continuous")
_MOST_CLASSES = 20
_DISTINCT = 101


@dataclass(frozen=True)
class Target:
    """Target of a binning.

    Attributes
    ----------
    kind : str
        "binary", "multiclass" or "continuous".
    classes : ndarray
        Sorted classes; the second of two is the event. Empty for a numeric target.
    center : float
        Mean of a numeric target, which is subtracted before summation.
    """

    kind: str
    classes: Array
    center: float = 0.0

    @property
    def n_classes(self) -> int:
        """0 for numbers."""
        return len(self.classes)


def target_rows(y: Any, sample_weight: Any, n_rows: int) -> tuple[InMemory, Array | None]:
    """Rows without columns that hold the target, and a mask of the rows with nonzero weight (None for all).

    Parameters
    ----------
    y : array-like of shape (n,)
    n_rows : int
        Number of rows of the columns.
    """
    if y is None:
        raise InvalidTarget(
            "bins are chosen by the target: this requires y to be passed, but the target y is None. Pass y, one "
            "value for each row."
        )
    labels = as_array(y if getattr(y, "ndim", 1) == 1 else column_or_1d(y, warn=True))
    if len(labels) != n_rows:
        raise InvalidTarget(
            "y has {n_labels} values and X {n_rows} rows (inconsistent numbers of samples); each row needs one. Pass "
            "vectors of one length.",
            n_labels=len(labels),
            n_rows=n_rows,
        )
    refuse_missing(labels)
    if labels.dtype.kind == "O" and len({type(value) for value in labels.tolist()}) == 1:
        labels = np.array(labels.tolist())
    weight = check_weight(sample_weight, n_rows)
    rows = InMemory(np.empty((n_rows, 0)), labels[:, None], weight, one_target=True)
    if weight is None or weight.all():
        return rows, None
    return rows.gather(weight > 0), np.flatnonzero(weight)


def refuse_missing(labels: Array) -> None:
    """Raise an error if a row has no target."""
    missing = np.array([is_missing(value) for value in labels.tolist()]) if labels.dtype.kind in "OM" else None
    if labels.dtype.kind == "f":
        missing = ~np.isfinite(labels)
    if missing is not None and missing.any():
        raise InvalidTarget(
            "Input y contains NaN or infinity in {bad} of {n} rows; bins need the target of every row. Drop those "
            "rows.",
            bad=int(missing.sum()),
            n=len(labels),
        )


def target_vectors(design: Design, kind: str) -> tuple[Target, dict[str, RowVector]]:
    """The target of a design, and the row vector to sum, by its name: "code" or "amount".

    Parameters
    ----------
    kind : str
        One of `TARGETS`; "auto" treats non-integers, or more than 20 distinct numbers, as a quantity.
    """
    (distinct,) = design.fold(_Distinct(), _first_distinct)
    if len(distinct) < 2:
        raise InvalidTarget(
            "y holds one value ({value!r} in all {n} rows; one class); bins need two or more. Check the target column.",
            value=distinct.tolist()[0],
            n=design.n_rows,
        )
    kind = _guess(distinct) if kind == "auto" else kind
    if kind == "continuous":
        return _number_target(design, distinct)
    classes, codes = encode_labels(design)
    if kind == "binary" and len(classes) != 2:
        raise InvalidTarget(
            "y holds {n} classes; target='binary' needs two. Join classes, or set target='multiclass'.", n=len(classes)
        )
    return Target("binary" if len(classes) == 2 else "multiclass", classes), {"code": codes}


def _guess(distinct: Array) -> str:
    if distinct.dtype.kind not in "iuf" or len(distinct) <= 2:
        return "multiclass"
    whole = distinct.dtype.kind != "f" or bool((distinct == np.floor(distinct)).all())
    return "multiclass" if whole and len(distinct) <= _MOST_CLASSES else "continuous"


def _number_target(design: Design, distinct: Array) -> tuple[Target, dict[str, RowVector]]:
    if distinct.dtype.kind not in "iufb":
        raise InvalidTarget(
            "y holds {value!r}; target='continuous' needs numbers. Convert y, or set target='multiclass'.",
            value=distinct.tolist()[0],
        )
    (sums,) = design.fold(_Mean())
    center = float(sums[1] / sums[0])
    return Target("continuous", np.empty(0), center), {"amount": design.map(_Centred(center))}


@dataclass(frozen=True)
class _Distinct:
    """The first distinct values of the target, as many as are needed to determine its kind."""

    reads_rows = False

    def __call__(self, block: Block) -> Sums:
        labels = block.y[:, 0]
        if labels.dtype.kind == "O":
            return (np.array(sorted(set(labels.tolist()), key=str)[:_DISTINCT], dtype=object),)
        return (DistinctLabels()(block)[0][:_DISTINCT],)


def _first_distinct(left: Sums, right: Sums) -> Sums:
    if left[0].dtype.kind == "O":
        return (np.array(sorted({*left[0].tolist(), *right[0].tolist()}, key=str)[:_DISTINCT], dtype=object),)
    return (np.union1d(left[0], right[0])[:_DISTINCT],)


@dataclass(frozen=True)
class _Mean:
    reads_rows = False

    def __call__(self, block: Block) -> Sums:
        weights = block.weights
        return (np.array([weights.sum(), weights @ block.y[:, 0].astype(np.float64)]),)


@dataclass(frozen=True)
class _Centred:
    reads_rows = False
    center: float

    def __call__(self, block: Block) -> Array:
        return np.asarray(block.y[:, 0].astype(np.float64) - self.center)


def bin_sums(columns: tuple[int, ...], bins: tuple[NumericBins, ...], n_classes: int, vector: str = "") -> BinSums:
    """The statistic that sums the target over given bins of some columns, or of one row vector."""
    return VectorBinSums(columns, bins, n_classes, vector) if vector else BinSums(columns, bins, n_classes)


@dataclass(frozen=True)
class BinSums:
    """The statistic: sums of the target over given bins of some columns.

    Attributes
    ----------
    columns : tuple of int
    bins : tuple of NumericBins
        Bins of these columns.
    n_classes : int
        Number of classes in the vector "code"; 0 for a numeric target in the vector "amount".
    """

    columns: tuple[int, ...]
    bins: tuple[NumericBins, ...]
    n_classes: int

    def __call__(self, block: Block) -> Sums:
        return tuple(
            self._sums(bins, values, block) for bins, values in zip(self.bins, self._columns(block), strict=True)
        )

    def _columns(self, block: Block) -> list[Array]:
        rows = block.dense()
        return [rows[:, column] for column in self.columns]

    def _sums(self, bins: NumericBins, values: Array, block: Block) -> Array:
        codes, size, weight = bins.assign(values), bins.n_bins, block.weight
        if self.n_classes:
            cells = codes * self.n_classes + block.vectors["code"]
            counted = np.bincount(cells, weight, size * self.n_classes).reshape(size, self.n_classes)
            return counted.astype(np.float64, copy=False)
        amount, weight = block.vectors["amount"], block.weights
        return np.column_stack([np.bincount(codes, weight * amount**power, size) for power in range(3)])


@dataclass(frozen=True)
class VectorBinSums(BinSums):
    """The same for one row vector."""

    reads_rows = False
    vector: str

    def _columns(self, block: Block) -> list[Array]:
        return [block.vectors[self.vector]]
