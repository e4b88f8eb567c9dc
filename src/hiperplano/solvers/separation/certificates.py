"""Certificates that a plane separates two classes, or that none can; each can be checked against the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from hiperplano.data import Design, validate
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.messages import Message
from hiperplano.solvers.separation.planes import (
    EPS,
    resolution,
    rows_at,
    signed_rows,
    signed_scores,
    spread,
    targets,
    to_data_units,
)
from hiperplano.solvers.separation.programs import row_space

ZERO = 1e-9  # scores and distances below this share of the columns' spread count as zero


@dataclass(frozen=True, kw_only=True)
class Certificate(ABC):
    """Common attributes of the three certificates.

    Attributes
    ----------
    fit_intercept : bool
        Whether planes may have an intercept, or must pass through the origin.
    classes : tuple
        Labels on the negative and on the positive side.
    n_examined : int
        Rows in the largest linear program that was solved; the others were only checked.
    """

    separated: ClassVar[bool]
    fit_intercept: bool
    classes: tuple[Any, Any] = (-1.0, 1.0)
    n_examined: int

    def verify(self, X: Any, y: Any) -> bool:
        """Whether the proof holds for these rows, from the numbers alone and in a few passes over them.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows as given to `separability`.
        y : array-like of shape (n,)
            Labels as given to `separability`.

        Returns
        -------
        bool
            Whether these rows fulfil what the certificate states.
        """
        design = validate(BaseEstimator(), X, y, numeric_target=False)
        labels = targets(design)
        positive, negative = labels == self.classes[1], labels == self.classes[0]
        if not (positive | negative).all():
            return False
        return self.holds(design.with_vectors(y=np.where(positive, 1.0, -1.0)[:, None], weight=None))

    @abstractmethod
    def holds(self, design: Design) -> bool:
        """Whether the proof holds for validated rows.

        Parameters
        ----------
        design : Design
            With targets of −1 and +1.

        Returns
        -------
        bool
            As `verify`.
        """


@dataclass(frozen=True, kw_only=True)
class Separable(Certificate):
    """A plane with every row strictly on its own side: y·(x·coef + intercept) ≥ 1, up to rounding.

    Attributes
    ----------
    coef : ndarray of shape (d,)
        Coefficients of the plane.
    intercept : float
        Intercept of the plane.
    margin : float
        min y·(x·coef + intercept)/‖coef‖, the distance of the closest row, in the units of the data. A larger one
        may exist: this plane has few coefficients, not the widest margin.
    columns, names : tuple
        Positions and names of the columns with a coefficient.
    fit_intercept, classes, n_examined
        As in `Overlapping`.

    Examples
    --------
    >>> from hiperplano import separability
    >>> found = separability([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> found.margin, found.verify([[0.0], [1.0], [3.0]], [0, 0, 1])
    (1.0, True)
    """

    separated = True
    coef: Array
    intercept: float
    margin: float
    columns: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def holds(self, design: Design) -> bool:
        if not _plane_fits(self, design):
            return False
        score, rounding = signed_scores(design, self.coef, self.intercept)
        length = float(np.linalg.norm(self.coef))
        if not (score > rounding).all():
            return False
        return bool(abs(self.margin * length - score.min()) <= ZERO * score.min() + rounding.max())

    def __str__(self) -> str:
        return Message(
            "Separable {where}: a plane with coefficients for {names} has every row on its own side, the closest at a "
            "distance of {margin:.4g}.",
            where=_where(self),
            names=_listed(self.names),
            margin=self.margin,
        )


@dataclass(frozen=True, kw_only=True)
class Overlapping(Certificate):
    """A proof that no plane separates the classes: positive weights that give both the same weighted sum.

    Σ weights·x over the positive rows equals that over the negative ones. With intercept the weights sum to one in
    each class, so that the convex hulls share `point`; through the origin they sum to one in all. The weighted
    rows span all rows: thus a plane with no row on the wrong side has every row on it, and separates nothing.

    Attributes
    ----------
    rows : ndarray of int
        Positions of the rows with a weight; all others have weight 0.
    weights : ndarray of float
        Weights of these rows, positive.
    point : ndarray of shape (d,)
        Common point of the classes.
    fit_intercept : bool
        Whether planes may have an intercept, or must pass through the origin.
    classes : tuple
        Labels on the negative and on the positive side.
    n_examined : int
        Rows in the largest linear program that was solved; the others were only checked.

    Examples
    --------
    >>> from hiperplano import separability
    >>> found = separability([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    >>> found.separated, found.verify([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    (False, True)
    """

    separated = False
    rows: Array = field(repr=False)
    weights: Array = field(repr=False)
    point: Array

    def holds(self, design: Design) -> bool:
        scale = ColumnScale.exact(design, self.fit_intercept)
        return _meets(self, design, scale) and _spans(self.rows, design, scale)

    def __str__(self) -> str:
        return Message(
            "Overlapping {where}: weights on {n} rows give both classes the same weighted sum: no plane separates "
            "them.",
            where=_where(self),
            n=len(self.rows),
        )


@dataclass(frozen=True, kw_only=True)
class QuasiSeparable(Certificate):
    """A plane with no row on the wrong side and some strictly on their own, and a point where the classes meet.

    The point, as in `Overlapping`, proves that no plane has all rows strictly on their side.

    Attributes
    ----------
    coef : ndarray of shape (d,)
        Coefficients of the plane.
    intercept : float
        Intercept of the plane.
    n_separated : int
        Number of rows strictly on their side, with a score of at least 1; no plane has more. The other rows have score
        0.
    columns, names : tuple
        Positions and names of the columns with a coefficient: those that separate.
    rows, weights, point
        As in `Overlapping`.
    fit_intercept, classes, n_examined
        As in `Overlapping`.

    Examples
    --------
    >>> from hiperplano import separability
    >>> found = separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> found.n_separated, found.columns
    (2, (0,))
    """

    separated = True
    coef: Array
    intercept: float
    n_separated: int
    columns: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    rows: Array = field(repr=False)
    weights: Array = field(repr=False)
    point: Array = field(repr=False)

    def holds(self, design: Design) -> bool:
        if not _plane_fits(self, design):
            return False
        scale = ColumnScale.exact(design, self.fit_intercept)
        score, rounding = signed_scores(design, self.coef, self.intercept)
        zero = rounding + resolution(scale, self.coef, ZERO)
        sides = (score >= -zero).all() and int((score > zero).sum()) == self.n_separated > 0
        return bool(sides) and _meets(self, design, scale)

    def __str__(self) -> str:
        return Message(
            "Quasi-separable {where}: {n} rows are separated without error by {names}; the others lie on the plane.",
            where=_where(self),
            names=_listed(self.names),
            n=self.n_separated,
        )


def _plane_fits(plane: Separable | QuasiSeparable, design: Design) -> bool:
    finite = bool(np.isfinite(plane.coef).all() and np.isfinite(plane.intercept))
    allowed = plane.fit_intercept or plane.intercept == 0.0
    return finite and allowed and len(plane.coef) == design.n_columns


def _meets(proof: Overlapping | QuasiSeparable, design: Design, scale: ColumnScale) -> bool:
    """Whether the weights are valid, and give both classes the point as their weighted sum."""
    numbers, weights = proof.rows, proof.weights
    if len(proof.point) != design.n_columns or len(numbers) != len(weights) or not (weights > 0).all():
        return False
    if not len(numbers) or len(np.unique(numbers)) != len(numbers) or not np.isin(numbers, design.row_numbers()).all():
        return False
    order = np.argsort(numbers)
    rows, weights = rows_at(design, np.searchsorted(design.row_numbers(), numbers[order])), weights[order]
    positive = targets(rows) > 0
    total = [weights[positive].sum(), weights[~positive].sum()]
    if not np.allclose(total if proof.fit_intercept else sum(total), 1.0, rtol=0.0, atol=ZERO):
        return False
    there, here, size = weighted_sums(rows, weights)
    zero = ZERO * spread(scale) + (len(numbers) + 8) * EPS * size
    return bool((np.abs(there - here) <= zero).all() and (np.abs(there - proof.point) <= zero).all())


def weighted_sums(rows: InMemory, weights: Array) -> Sums:
    """Σ weight·x over the positive rows, over the negative ones, and Σ weight·|x| over all, each of shape (d,)."""
    return rows.with_vectors(weight=weights).fold(_class_sums)


def _class_sums(block: Block) -> Sums:
    positive = block.y[:, 0] > 0
    by_side = block.transpose_dot(np.column_stack([block.weights * positive, block.weights * ~positive]))
    return by_side[:, 0].copy(), by_side[:, 1].copy(), block.absolute().transpose_dot(block.weights)


def _spans(numbers: Array, design: Design, scale: ColumnScale) -> bool:
    """Whether every direction in which the given rows have score 0 gives score 0 to all rows."""
    positions = np.searchsorted(design.row_numbers(), np.sort(numbers))
    _, _, free = row_space(signed_rows(rows_at(design, positions), scale))
    for direction in free.T:
        coef, intercept = to_data_units(scale, direction)
        score, rounding = signed_scores(design, coef, intercept)
        if (np.abs(score) > rounding + resolution(scale, coef, ZERO)).any():
            return False
    return True


def _where(certificate: Certificate) -> Message:
    return Message("with an intercept") if certificate.fit_intercept else Message("through the origin")


def _listed(names: tuple[str, ...], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else Message("{shown} and {n} more", shown=shown, n=len(names) - most)
