"""Lanczos: symmetric systems with many shifts, (matrix + σ)·x = right, from one Krylov space for each right side.

The space does not depend on σ. Every new direction is made orthogonal to all before it: rounding delays nothing. The
smaller a residual has become, the less the next product counts: all but the first ones may be rounded (van den Eshof
and Sleijpen 2004).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads
from hiperplano.linalg.krylov.spaces import KrylovSpaces

_FIRST_TRIAL = 9  # steps before the rounding of a product is measured; again when it seems to have become small enough
_FIRST_LOOK = 3e-6  # the residual at which solutions are first judged
_NEXT_LOOK = 0.3  # of it, at the next time
_Product = Callable[[Array, Array], Array]
_Judge = Callable[[Array, Array, Array], Array]


class ShiftedSystems:
    """(matrixⱼ + σ)·x = rightⱼ for every column j and shift σ, side by side.

    Parameters
    ----------
    product : callable, (ndarray of shape (m, d), numbers of m columns) -> ndarray of shape (m, d)
        Each direction, which is a row, times the matrix of its column, symmetric and positive semidefinite.
    right : ndarray of shape (d, k)
    shifts : ndarray of shape (shifts,)
        More than 0.
    rtol : float
        Length of the residual to reach, relative to that of the right side.
    budget : int
        Steps beyond which another method would be faster: a shift is given up when a quarter of them is done and its
        progress says that twice as many will be needed, and when twice as many are made.
    rounded : callable, optional
        `product`, faster and less exact: for the steps whose rounding is too small to matter. Residuals are then those
        of the exact matrix if its error is about the same for all directions.
    least : float, optional
        The residual in which rounding must not show, if that is not `rtol`.
    """

    def __init__(
        self,
        product: _Product,
        right: Array,
        shifts: Array,
        *,
        rtol: float,
        budget: int,
        rounded: _Product | None = None,
        least: float | None = None,
    ) -> None:
        self._product, self._rounded, self._budget = product, rounded, budget
        self._least = rtol if least is None else least
        self._spaces = KrylovSpaces(right, shifts, min(2 * budget, len(right)), rtol)
        self._errors, self._may_round = np.zeros(right.shape[1]), False

    @property
    def n_iter(self) -> int:
        """Steps made."""
        return self._spaces.n_steps

    @property
    def settled(self) -> Array:
        """What a judge found good enough, of shape (k, shifts)."""
        return self._spaces.settled

    def solve(self, needed: Array | None = None, judge: _Judge | None = None) -> None:
        """Make steps, for all columns, until some systems are solved or given up.

        Parameters
        ----------
        needed : ndarray of bool of shape (k, shifts), optional
            Which; all by default.
        judge : callable, optional
            From the solutions of some shifts, of shape (d, k, m), their relative residuals, of shape (k, m), and the
            numbers of the shifts, to which of them are good enough: a bool each. It is asked now and then.
        """
        spaces, look = self._spaces, _FIRST_LOOK
        needed = np.ones(spaces.residuals.shape, dtype=bool) if needed is None else needed
        with one_blas_thread():  # once: every product and every extension would ask for it
            while (needed & (unfinished := spaces.unfinished())).any():
                worst = float(spaces.residuals[needed & unfinished].max())
                if judge is not None and worst <= look:
                    shifts, look = (needed & unfinished).any(axis=0), _NEXT_LOOK * worst
                    found = self._best(np.broadcast_to(shifts, needed.shape))[:, :, shifts]
                    sure = judge(found, spaces.residuals[:, shifts], np.flatnonzero(shifts))
                    spaces.settled[:, shifts] |= sure & needed[:, shifts]
                else:
                    self._step(np.flatnonzero(unfinished.any(axis=1)))

    def solutions(self) -> Array:
        """Of shape (d, k, shifts); NaN where they were given up."""
        return self._best(self._spaces.solved())

    def inverse(self, column: int, number: int, right: Array) -> Array:
        """About (matrix + σ)⁻¹·right for any `right`, of a column and the shift of some number."""
        return self._spaces.inverse(column, number, right)

    def _best(self, chosen: Array) -> Array:
        """The solutions that the spaces hold for some columns and shifts; NaN for others."""
        spaces = self._spaces
        found = in_threads(lambda each: spaces.solutions(each, chosen[each]), range(len(chosen)), spaces.n_cells)
        return np.stack(found, axis=1)

    def _step(self, columns: Array) -> None:
        """Of some columns: a direction more."""
        spaces, rounded = self._spaces, self._rounded
        directions = spaces.directions(columns)
        if self._may_round and rounded is not None:
            images = rounded(directions, columns)
        else:
            images = self._product(directions, columns)
            if rounded is not None and spaces.n_steps >= _FIRST_TRIAL and self._allows(columns):
                self._errors[columns] = np.linalg.norm(rounded(directions, columns) - images, axis=1)
                self._may_round = self._allows(columns)
        spaces.extend(images, columns, self._may_round)
        if spaces.n_steps == self._budget // 4:
            spaces.give_up(2 * self._budget)

    def _allows(self, columns: Array) -> bool:
        """Whether rounding as large as the last measured would not show."""
        return self._spaces.allow(self._errors[columns], columns, self._least)
