"""Methods for one support vector machine with rows in memory; most start from the best result so far."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.svm.active_set import active_set, free_rows
from hiperplano.solvers.svm.augmented_lagrangian import WIDE
from hiperplano.solvers.svm.compiled.costs import (
    DENSE_CELLS,
    FEW_PASSES,
    affordable_passes,
    ascent_pass_cost,
    interior_cost,
    interior_fits,
    newton_cost,
    newton_step_cost,
    passes_before_active_set,
    products_before_factor,
    takes_few_steps,
)
from hiperplano.solvers.svm.compiled.normal_equations import NormalEquations
from hiperplano.solvers.svm.compiled.problem import Box, Control, Found, LoopRows, middle

_EARLY_END = 0.125  # share of its affordable passes after which an ascent may end, if other costs are known well
_PASSES_OF_A_STEP = 10.0  # a Newton step that costs more passes of the ascent than these counts as several passes
_INTERIOR_SHARE = 0.5  # tolerance of the interior point method, as a share of `tol`: balancing Σβ = 0 adds to the gap
_EXACT = 1e-14  # relative gap to which small tables are solved
POLISHING = 200  # most passes for that
_POLISHED_FLOOR = 1e-3  # absolute gap of small tables, as a share of that of others
_NEVER = np.empty(0)  # no number of free rows ends an ascent


class Search:
    """The best plane so far, and the methods that may improve it.

    Parameters
    ----------
    rows : LoopRows
    box : Box
    control : Control
    """

    def __init__(self, rows: LoopRows, box: Box, control: Control) -> None:
        self.rows, self.box, self.control = rows, box, control
        n, d = len(box.target), len(rows.shift)
        self.coef, self.beta = np.zeros(d + 1), np.zeros(n)
        self.found = Found(self.coef, self.beta, 0.0, np.inf, 0)
        self.methods: list[str] = []

    @property
    def proved(self) -> bool:
        """Whether the gap is small enough."""
        return self.found.gap <= self.control.tol * self.found.objective + self.control.floor

    @property
    def left(self) -> int:
        return self.control.most - self.found.passes

    @property
    def ended(self) -> bool:
        """Whether the gap is small enough, or no pass is left."""
        return self.proved or self.left <= 0

    @property
    def misses_tol(self) -> bool:
        """Whether the gap exceeds `tol`, even if it counts as a rounding error beside the losses of no plane at all."""
        return self.found.gap > self.control.tol * self.found.objective

    @property
    def likely_free(self) -> bool:
        """Whether a typical row's dual variable is expected between its bounds, where the ascent takes more passes.

        A step of it that the bounds allow then changes the row's score by more than the unit of scores.
        """
        return float(np.square(self.rows.arrays[0]).sum()) > self.control.softness * self.rows.n_rows

    @property
    def _knows_costs(self) -> bool:
        """Whether the costs of the methods after the ascent are known well.

        They are not if sparse rows are made dense, or if rows become free one by one.
        """
        n, d = self.rows.n_rows, len(self.rows.shift)
        return self.rows.is_dense or (n * d > DENSE_CELLS and takes_few_steps(n, d, bool(self.box.soft[0])))

    @property
    def method(self) -> str:
        """A key of `METHODS`: the ascent, if it was used, and the last other method."""
        names = ["dual"] if "dual" in self.methods else []
        return ", ".join(names + [each for each in self.methods if each != "dual"][-1:])

    def ascend(self, affordable: float = np.inf, enough: Array = _NEVER) -> None:
        """Dual coordinate ascent, for about `affordable` passes; if that is a limit, within half of all passes.

        Once the number k of free rows has settled, enough[k] are the affordable passes, if there is such an entry.
        """
        from hiperplano.solvers.svm.compiled.ascent_loops import dual_ascent

        self._note("dual")
        half = self.control.most // 2 - self.found.passes
        control = self.control._replace(most=max(1, self.left if np.isinf(affordable) else half))
        early = _EARLY_END if self._knows_costs else 1.0
        limits = affordable, early, enough
        self._take(Found(*dual_ascent(*self.rows.arrays, self.box, control, *limits, self.coef, self.beta)))

    def ascend_then_active_set(self, affordable: float) -> None:
        """Dual coordinate ascent on dense rows, for about `affordable` passes, then the active set method.

        The latter needs fewer free rows than columns. It may start as soon as their number has settled, and the ascent
        has taken half the time that it would.
        """
        enough = passes_before_active_set(self.rows)
        self.ascend(affordable, enough)
        if not self.proved and self.left > 0 and free_rows(self.box, self.beta).sum() < len(enough):
            self.active_set()

    def active_set(self) -> None:
        """The active set method on dense rows, from the last result of the ascent."""
        best, rounds = active_set(self.rows.matrix, self.box, self.control.fit_intercept, self.beta, self.coef[-1])
        if best is None:
            self.found = self.found._replace(passes=self.found.passes + rounds)
            return
        self._note("active set")
        beta, level = self._prove(np.append(best.coef, best.level), best.beta, rounds)
        self.coef, self.beta = self._pull(beta, level), beta.copy()

    def newton(self, share: float = 1.0) -> None:
        """Newton's method on dense rows, from the best result so far, with a share of the remaining passes.

        Steps are computed by conjugate gradients until these take as long as a factorisation. They are always exact if
        full precision is required.
        """
        from hiperplano.solvers.svm.compiled.newton_loops import augmented_newton

        n, d = self.rows.n_rows, len(self.rows.shift)
        step = newton_step_cost(n, d, bool(self.box.soft[0]))
        # Fits with expensive steps get fewer of them, so that they end as soon as others.
        dear = step / (_PASSES_OF_A_STEP * ascent_pass_cost(self.rows))
        control = self.control._replace(most=max(1, int(share * self.left / max(1.0, dear))))
        plain = np.isfinite(control.bound)
        start = self.found.coef if self.methods else self.coef
        centre = self.found.beta.copy() if self.methods else middle(self.box)
        self._note("newton")
        width = WIDE * control.unit if plain else 0.0
        products = None if control.tol <= _EXACT else products_before_factor(n, d) or None
        found = Found(*augmented_newton(self.rows.arrays[0], self.box, control, start, centre, width, products))
        self._take(found)
        if self.proved:
            return
        coef = self._pull(found.beta, found.coef[-1])
        if np.isfinite(coef).all():  # otherwise weights times columns overflow, and an ascent cannot start there
            self.coef, self.beta = coef, found.beta.copy()

    def interior(self, factor: float = 0.0) -> None:
        """The interior point method, which does not use earlier results.

        If `factor`, the cost of a factorisation in steps of conjugate gradients, is given, the equations are solved by
        conjugate gradients until these take more steps.
        """
        from hiperplano.solvers.svm.compiled.ascent_loops import certificate
        from hiperplano.solvers.svm.compiled.conjugate_equations import ConjugateEquations
        from hiperplano.solvers.svm.compiled.interior_point import InteriorPoint

        self._note("interior")
        x = self.rows.matrix
        equations = ConjugateEquations(x, factor) if factor else NormalEquations(x)
        inside = InteriorPoint(x, self.box, self.control.fit_intercept, equations)
        found = inside.solve(_INTERIOR_SHARE * self.control.tol, _INTERIOR_SHARE * self.control.floor, self.left)
        pull, coef = self._pull(found.beta, found.level), np.append(found.coef, found.level)
        mismatch = pull[:-1] - found.coef
        coef, beta, objective, gap = certificate(*self.rows.arrays, self.box, self.control, coef, found.beta, mismatch)
        self._take(Found(coef, beta, objective, gap, found.passes))
        self.coef, self.beta = self._pull(self.found.beta, self.found.coef[-1]), self.found.beta.copy()

    def second_order(self) -> None:
        """The interior point method or Newton's, whichever is expected to be faster, and the other one if that fails.

        If classes are nearly separated and C is large, few rows change sides in a step of Newton's method, and it is
        given up when it makes no progress.
        """
        n, d, squared = self.rows.n_rows, len(self.rows.shift), bool(self.box.soft[0])
        if squared or newton_cost(n, d, squared) < interior_cost(n, d):
            self.newton(0.5)
        if not self.proved and self.left > 0 and interior_fits(n, d):
            self.interior()
        if not self.proved and self.left > 0:
            self.newton()

    def polish(self) -> None:
        """Newton's method on a small table, to full precision; once no row changes sides, one step is exact.

        The result then does not depend on the order of rows, and weights are equivalent to repeated rows.
        """
        asked = self.control
        tol, floor = min(asked.tol, _EXACT), _POLISHED_FLOOR * asked.floor  # a gap above it may still hide a step
        self.control = asked._replace(tol=tol, floor=floor, most=self.found.passes + POLISHING)
        if self.rows.is_dense:
            self.newton()
        else:
            self.newton_on_dense(self.rows.matrix.toarray())
        self.control = asked

    def newton_in_span(self) -> None:
        """Ascent and second-order methods in the span of the rows, whose coordinates may have lost digits.

        If passes over sparse rows cost less than over their coordinates, the ascent has been tried there.
        """
        here = Search(
            self.rows.span, self.box, self.control._replace(most=max(1, self.left), tol=0.5 * self.control.tol)
        )
        here.beta = self.beta.copy()
        here.coef = here._pull(here.beta, self.coef[-1])
        tried = self.found.passes > 0 and ascent_pass_cost(self.rows) < ascent_pass_cost(here.rows)
        squared = bool(here.box.soft[0])
        here.ascend_then_active_set(FEW_PASSES if tried else affordable_passes(here.rows, squared))
        if not here.proved:
            here.second_order()
        for method in here.methods:
            self._note(method)
        self.beta = here.found.beta.copy()
        self.coef = self._pull(self.beta, here.found.coef[-1])
        self._prove(self.coef.copy(), self.beta, here.found.passes + 1)

    def newton_on_dense(self, x: Array) -> None:
        """Second-order methods on sparse rows that were made dense."""
        rows = LoopRows.dense(x, self.control.fit_intercept)
        here = Search(rows, self.box, self.control._replace(most=max(1, self.left)))
        here.methods = list(self.methods)
        coef = self.found.coef.copy()
        coef[-1] += coef[:-1] @ rows.shift
        here.found = self.found._replace(coef=coef, passes=0)
        here.second_order()
        self.methods = here.methods
        coef = here.found.coef.copy()
        coef[-1] -= coef[:-1] @ rows.shift
        self.coef, self.beta = here.coef, here.beta
        self.coef[:-1] += here.beta.sum() * rows.shift
        self.coef[-1] = coef[-1]
        self.found = here.found._replace(coef=coef, passes=self.found.passes + here.found.passes)

    def _note(self, method: str) -> None:
        self.methods = [each for each in self.methods if each != method] + [method]

    def _take(self, new: Found) -> None:
        passes = self.found.passes + new.passes
        better = new.gap <= max(self.found.gap, _EXACT * new.objective)  # smaller gaps are rounding errors
        self.found = (new if better else self.found)._replace(passes=passes)

    def _prove(self, coef: Array, beta: Array, passes: int) -> tuple[Array, float]:
        """Take Σβ·x with its best level, after so many passes; returns balanced β, and the level."""
        from hiperplano.solvers.svm.compiled.ascent_loops import certificate

        mismatch = np.zeros(len(coef) - 1)
        coef, beta, objective, gap = certificate(*self.rows.arrays, self.box, self.control, coef, beta, mismatch)
        self._take(Found(coef, beta, objective, gap, passes))
        return beta, float(coef[-1])

    def _pull(self, beta: Array, level: float) -> Array:
        """Coefficients Σβ·x, followed by the level."""
        out = np.empty(len(self.rows.shift) + 1)
        out[-1] = level
        if self.rows.is_dense:
            with np.errstate(over="ignore", invalid="ignore"):
                np.matmul(beta, self.rows.arrays[0], out=out[:-1])
        else:
            out[:-1] = beta @ self.rows.matrix
        return out
