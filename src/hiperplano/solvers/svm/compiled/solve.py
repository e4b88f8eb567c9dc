"""Support vector machines on rows in memory: dual coordinate ascent, and Newton's method where that takes too long.

Ascent costs little where C is small, where rows are sparse, and where there are no more of them than columns; elsewhere
it may take forever. So it gets as many passes as the better way costs (`solvers/cost.py`): wide rows are then brought
to coordinates of their span, and Newton's method begins where the ascent has ended.
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.memory import memory_limit
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.svm.compiled.normal_equations import NormalEquations, Products
from hiperplano.solvers.svm.compiled.problem import Box, Control, Found, LoopRows, middle

_WIDE = 4.0  # of the scores' unit: the first width, which makes nearly all rows free
_VISIT, _NUMBER = 25.0, 0.3  # nanoseconds for a row that is visited by the ascent, and for each of its numbers
_CACHED = 2**16  # rows whose dual variables, targets and bounds stay in a core's cache: 4 MB
_MISSED = 100.0  # for a row beyond, in random order: the wait for memory
_NEWTON_VISIT, _NEWTON_NUMBER = 30.0, 0.6  # for a row and a number in a pass of Newton's method
_ENTRY = 1.5  # for a stored number of a sparse row
_PAIR = 2.0  # for two of them, multiplied
_CALL = 5e5  # for a step that sums over the rows in blocks
_FEWEST_PRODUCTS = 3  # that lead anywhere
_SEPARATED = 4  # rows for each column, of which planes separate most: rough steps then free rows one by one
_MANY, _GENTLE = 25, 4  # products with the free rows in a step by conjugate gradients; where few steps are needed
_PRODUCT, _FACTOR = 0.03, 0.1  # of products of free rows, and of a triangular factor
_COPY = 1.5  # for a number of a free row that is copied for them
_FREE_VISIT, _FREE_NUMBER = 5.0, 0.6  # for a free row and its numbers in a product with them
_INTERIOR_CALL, _INTERIOR_VISIT = 3e5, 250.0  # for a step of the interior point method, and for each row in it
_INTERIOR_STEPS, _INTERIOR_PRODUCTS = 15, 6  # that it takes, and products with all rows in each
_CLOSER = 0.5  # share of the gap that it leaves, before dual variables are balanced
_DEAR = 10.0  # passes of the ascent in the time of a step of Newton's method that counts as one
_TRIED = 4.0  # passes that solve sparse tables with a small C, where others would take longer
_FEW = 10.0  # passes that lead nowhere, but prove what was found
_TALL = 8  # rows for each column: with squares an ascent is then faster than Newton's method for no C, or hardly
_EARLY = 0.125  # share of the affordable passes after which an ascent may end, where it is known what others cost
_EXACT = 1e-14  # gap of the last steps on small tables, and
POLISHING = 200  # passes at most
_SURELY = 1e-3  # share of a floor that is rounding in any case
_DENSE_CELLS = 2**20  # of sparse rows that are made dense
_MOST_DENSE_CELLS = 2**24  # the same for the interior point method: 128 MB
_MOST_ROWS = 4000  # whose products are taken


class Search:
    """The best plane so far, with the passes that it took.

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
    def _knows_costs(self) -> bool:
        """Whether those of what follows an ascent are known well: not if rows are made dense, or freed one by one."""
        n, d = self.rows.n_rows, len(self.rows.shift)
        return self.rows.is_dense or (n * d > _DENSE_CELLS and _takes_few_steps(n, d, bool(self.box.soft[0])))

    @property
    def method(self) -> str:
        """A key of `METHODS`: the ascent, if there was any, and what has led to the end."""
        names = ["dual"] if "dual" in self.methods else []
        return ", ".join(names + [each for each in self.methods if each != "dual"][-1:])

    def ascend(self, affordable: float = np.inf) -> None:
        """Dual coordinate ascent, up to about so many passes; if limited, others get half of the rest."""
        from hiperplano.solvers.svm.compiled.ascent_loops import dual_ascent

        self._note("dual")
        control = self.control._replace(most=max(1, self.left if np.isinf(affordable) else self.left // 2))
        early = _EARLY if self._knows_costs else 1.0
        self._take(Found(*dual_ascent(*self.rows.arrays, self.box, control, affordable, early, self.coef, self.beta)))

    def newton(self, share: float = 1.0) -> None:
        """Newton's method on dense rows, from what is known, with a share of the passes that are left.

        Its steps are made by conjugate gradients until those take as long as a factor, unless all digits are wanted.
        """
        from hiperplano.solvers.svm.compiled.newton_loops import augmented_newton

        n, d = self.rows.n_rows, len(self.rows.shift)
        step = _newton_step(n, d, bool(self.box.soft[0]))
        dear = step / (_DEAR * ascent_pass(self.rows))  # such fits end as soon as others
        control = self.control._replace(most=max(1, int(share * self.left / max(1.0, dear))))
        plain = np.isfinite(control.bound)
        start = self.found.coef if self.methods else self.coef
        centre = self.found.beta.copy() if self.methods else middle(self.box)
        self._note("newton")
        width = _WIDE * control.unit if plain else 0.0
        products = 0 if control.tol <= _EXACT else _worthwhile_products(n, d)
        found = Found(*augmented_newton(self.rows.arrays[0], self.box, control, start, centre, width, products))
        coef = self._pull(found.beta, found.coef[-1])
        if np.isfinite(coef).all():  # else weights times columns lie beyond float64, and an ascent cannot start there
            self.coef, self.beta = coef, found.beta.copy()
        self._take(found)

    def interior(self, factor: float = 0.0) -> None:
        """The interior point method, from the start.

        Its equations are solved by conjugate gradients until they take more steps than a factor is worth.
        """
        from hiperplano.solvers.svm.compiled.ascent_loops import certificate
        from hiperplano.solvers.svm.compiled.conjugate_equations import ConjugateEquations
        from hiperplano.solvers.svm.compiled.interior_point import InteriorPoint

        self._note("interior")
        x = self.rows.matrix
        equations = ConjugateEquations(x, factor) if factor else NormalEquations(x)
        inside = InteriorPoint(x, self.box, self.control.fit_intercept, equations)
        found = inside.solve(_CLOSER * self.control.tol, _CLOSER * self.control.floor, self.left)
        pull, coef = self._pull(found.beta, found.level), np.append(found.coef, found.level)
        mismatch = pull[:-1] - found.coef
        coef, beta, objective, gap = certificate(*self.rows.arrays, self.box, self.control, coef, found.beta, mismatch)
        self._take(Found(coef, beta, objective, gap, found.passes))
        self.coef, self.beta = self._pull(self.found.beta, self.found.coef[-1]), self.found.beta.copy()

    def second_order(self) -> None:
        """The interior point method or Newton's, whichever seems faster, and the other one where that fails.

        Newton's frees and binds a few rows in a step where classes are nearly separated and C is large: it is left when
        its steps lead nowhere.
        """
        n, d, squared = self.rows.n_rows, len(self.rows.shift), bool(self.box.soft[0])
        if squared or _newton_cost(n, d, squared) < _interior_cost(n, d):
            self.newton(0.5)
        if not self.proved and self.left > 0 and interior_fits(n, d):
            self.interior()
        if not self.proved and self.left > 0:
            self.newton()

    def polish(self) -> None:
        """Newton's method on a small table to the last digits: where no row changes sides any more, one step has all.

        Weights of rows then mean the same as rows that are there several times, and another order of rows changes
        nothing.
        """
        asked = self.control
        tol, floor = min(asked.tol, _EXACT), _SURELY * asked.floor  # what is left above it may be a step
        self.control = asked._replace(tol=tol, floor=floor, most=self.found.passes + POLISHING)
        if self.rows.is_dense:
            self.newton()
        else:
            self.newton_on_dense(self.rows.matrix.toarray())
        self.control = asked

    def newton_in_span(self) -> None:
        """The same in coordinates of the rows' span; `ascend` must prove the outcome."""
        here = Search(
            self.rows.span, self.box, self.control._replace(most=max(1, self.left), tol=0.5 * self.control.tol)
        )
        here.beta = self.beta.copy()
        here.coef = here._pull(here.beta, self.coef[-1])
        here.ascend(affordable_passes(here.rows, bool(here.box.soft[0])))
        if not here.proved:
            here.second_order()
        for method in here.methods:
            self._note(method)
        self.beta = here.found.beta.copy()
        self.coef = self._pull(self.beta, here.found.coef[-1])
        self.found = self.found._replace(passes=self.found.passes + here.found.passes)

    def newton_on_dense(self, x: Array) -> None:
        """The same on sparse rows that were made dense."""
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
        better = new.gap <= max(self.found.gap, _EXACT * new.objective)  # smaller gaps are rounding
        self.found = (new if better else self.found)._replace(passes=passes)

    def _pull(self, beta: Array, level: float) -> Array:
        """Σβ·x, and the level."""
        x, indices, _ = self.rows.arrays
        out = np.empty(len(self.rows.shift) + 1)
        out[-1] = level
        if self.rows.is_dense:
            with np.errstate(over="ignore", invalid="ignore"):
                np.matmul(beta, x, out=out[:-1])
            return out
        each = np.repeat(beta, np.diff(self.rows.arrays[2]))
        out[:-1] = np.bincount(indices, each * x, len(self.rows.shift))
        return out


def ascent_pass(rows: LoopRows) -> float:
    """Nanoseconds for one pass of the ascent, which visits rows in random order."""
    visit = _VISIT + (_MISSED if rows.n_rows > _CACHED else 0.0)
    return rows.n_rows * (visit + (_NUMBER if rows.is_dense else _ENTRY) * rows.n_stored)


def affordable_passes(rows: LoopRows, squared: bool, made_dense: bool = False) -> float:
    """Passes of the ascent for half of what Newton's method costs, about; on rows that are `made_dense` for it."""
    n, d = rows.n_rows, len(rows.shift)
    if rows.is_dense or made_dense:
        cost = _newton_cost(n, d, squared)
        cost = min(cost, _interior_cost(n, d)) if not squared else cost
    else:
        cost = min(_sparse_newton_cost(rows, squared), _sparse_interior_cost(rows))
    passes = float(0.5 * cost / ascent_pass(rows))
    return passes if passes > _FEW else 0.0


def _surely_affordable_passes(rows: LoopRows, squared: bool) -> float:
    """At least so many are on sparse rows, before anybody has counted the products of rows, or of columns."""
    n, d = rows.n_rows, len(rows.shift)
    least = Products(True, min(n, d), min(n, d)).cost
    costs = [_sparse_newton_cost(rows, squared), _sparse_interior_cost(rows, least)]
    if n * d <= _MOST_DENSE_CELLS:
        costs += [_newton_cost(n, d, squared), _interior_cost(n, d)]
    return float(0.5 * min(costs) / ascent_pass(rows))


def _takes_few_steps(n: int, d: int, squared: bool) -> bool:
    """Whether Newton's method frees and binds most rows in its first steps."""
    return squared and n > 2 * d


def _newton_steps(n: int, d: int, squared: bool) -> float:
    """As measured, within a factor of 2."""
    return 8 if _takes_few_steps(n, d, squared) else 10 + 150 * np.sqrt(min(1.0, d / n))


def _newton_cost(n: int, d: int, squared: bool) -> float:
    """Nanoseconds of Newton's method on dense rows."""
    return _newton_steps(n, d, squared) * _newton_step(n, d, squared)


def _newton_step(n: int, d: int, squared: bool) -> float:
    solve = _factor_cost(n, d)
    if _takes_few_steps(n, d, squared) and _worthwhile_products(n, d):
        solve = min(solve, _GENTLE * _product_cost(n, d))
    return n * (_NEWTON_VISIT + _NEWTON_NUMBER * d) + solve


def _factor_cost(n: int, d: int) -> float:
    """Products of all pairs of free rows, or of columns, and their factor."""
    least, free = min(n // 2 + 1, d), n // 2
    return free * d * least * _PRODUCT + least**3 / 3 * _FACTOR


def _product_cost(n: int, d: int) -> float:
    """A product with the free rows, in a step of conjugate gradients."""
    return (n // 2 + 1) * (_FREE_VISIT + _FREE_NUMBER * d)


def _worthwhile_products(n: int, d: int) -> int:
    """Products in a step of conjugate gradients that take as long as a factor; 0 where those would seldom do."""
    products = int((n // 2 * d * _COPY + _factor_cost(n, d)) / _product_cost(n, d))
    return products if products >= _FEWEST_PRODUCTS and n > _SEPARATED * d else 0


def spares_factors(n: int, d: int, squared: bool) -> bool:
    """Whether Newton's method seems to need neither many steps nor a factor in them."""
    return _takes_few_steps(n, d, squared) and _worthwhile_products(n, d) > _GENTLE


def _interior_cost(n: int, d: int) -> float:
    """The same of the interior point method, which takes products of rows once, or of columns at each step."""
    passes = _INTERIOR_STEPS * (_INTERIOR_CALL + n * (_INTERIOR_VISIT + _NEWTON_NUMBER * d))
    if n <= d:
        return passes + n * n * d * _PRODUCT + _INTERIOR_STEPS * Costs.factor(n)
    return passes + _INTERIOR_STEPS * (n * d * d * _PRODUCT + Costs.factor(d))


def passes_of_interior(n: int, d: int) -> float:
    """Passes of Newton's method on dense rows in the time of the interior point method, or less.

    A step takes up to two of them; where it is stuck, few rows are free, and it takes half the time.
    """
    return 4 * _interior_cost(n, d) / _newton_step(n, d, squared=False)


def _sparse_newton_cost(rows: LoopRows, squared: bool) -> float:
    """Nanoseconds of Newton's method by sums over sparse rows.

    With a plain loss no more rows than columns are free at the end, in general, and some more on the way.
    """
    n, d, stored = rows.n_rows, len(rows.shift), rows.n_stored
    free = n // 2 if squared else min(n, 2 * d)
    matrix = free * stored**2 * _PAIR + min(free + 1, d) ** 3 / 3 * _FACTOR
    products = _GENTLE if _takes_few_steps(n, d, squared) else _MANY
    solve = min(matrix, products * free * 2 * _ENTRY * stored)
    return _newton_steps(n, d, squared) * (_CALL + n * (_NEWTON_VISIT + 2 * _ENTRY * stored) + solve)


def _sparse_interior_cost(rows: LoopRows, factor: float | None = None) -> float:
    """The same of the interior point method, or with another cost of a factor."""
    factor = rows.products.cost if factor is None else factor
    visit = _INTERIOR_VISIT + _INTERIOR_PRODUCTS * _ENTRY * rows.n_stored + _PAIR * rows.n_stored**2
    return _INTERIOR_STEPS * (_INTERIOR_CALL + rows.n_rows * visit + factor)


def factor_steps(rows: LoopRows) -> float:
    """Steps of conjugate gradients in the time of a dense factor; what a sparse one would fill in is a guess."""
    n, size = rows.n_rows, min(rows.n_rows, len(rows.shift))
    if not interior_fits(size, size):
        return np.inf
    step = n * (_NEWTON_VISIT + 2 * _ENTRY * rows.n_stored)
    return float((n * _PAIR * rows.n_stored**2 + Costs.factor(size)) / step)


def interior_fits(n: int, d: int) -> bool:
    """Whether there is memory for products of rows and their factor, or copies of the rows."""
    return 8.0 * n * min(2 * n, 3 * d) <= memory_limit()


def is_wide(n_rows: int, n_columns: float) -> bool:
    """Whether rows are so few that their span is the place to solve in."""
    return 2 * n_rows <= n_columns and n_rows <= _MOST_ROWS


def solve_dense(search: Search, few: bool) -> None:
    """The cheapest way to the wanted gap; where rows are not few, what is left is for sums over all of them."""
    rows, n, d = search.rows, search.rows.n_rows, len(search.rows.shift)
    wide = is_wide(n, d)
    squared = bool(search.box.soft[0])
    cost = Costs(n, d, 1.0, 1).row_products / ascent_pass(rows) if wide else affordable_passes(rows, squared)
    if cost and not (squared and n > _TALL * d):
        search.ascend(cost)
    if not search.proved and search.left > 0:
        if wide:
            search.newton_in_span()
            search.ascend(_FEW)
            if not search.proved and search.left > 0:
                search.interior()  # coordinates of the span have lost the digits of short columns to those of long ones
        elif few or spares_factors(n, d, squared):
            search.second_order()
        elif not squared and interior_fits(n, d) and _interior_cost(n, d) < _newton_cost(n, d, squared):
            search.interior()
    if not search.proved and search.left > 0 and (wide or few):
        search.ascend()


def solve_sparse(search: Search) -> None:
    """Ascent, and Newton's method for rows whose span, or table, is small; what is left is for sums over all rows."""
    rows, n, d = search.rows, search.rows.n_rows, len(search.rows.shift)
    wide = is_wide(n, d)
    squared = bool(search.box.soft[0])
    surely = _surely_affordable_passes(rows, squared)
    if surely > _TRIED or wide:
        search.ascend(max(surely, _FEW) if wide else surely)
    if search.proved or search.left <= 0:
        return
    left_early = 0 < search.found.passes < surely
    newton, interior = _sparse_newton_cost(rows, squared), _sparse_interior_cost(rows)
    dense = not squared and _interior_cost(n, d) < min(newton, interior)
    small = not wide and n * d <= (_MOST_DENSE_CELLS if dense else _DENSE_CELLS)
    passes = affordable_passes(rows, squared, small) - search.found.passes
    if passes > _FEW and not left_early:
        search.ascend(passes)
    if search.proved or search.left <= 0:
        return
    if not small and interior < newton:
        search.interior(0.0 if squared or rows.products.stays_sparse else factor_steps(rows))
    if search.proved or search.left <= 0:
        return
    if wide:
        search.newton_in_span()
        search.ascend(_FEW)
    elif small:
        search.newton_on_dense(rows.matrix.toarray())
        if not search.proved and search.left > 0:
            search.ascend()
