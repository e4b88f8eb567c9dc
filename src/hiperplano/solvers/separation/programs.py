"""The two linear programs behind separability, on rows z = y·(x, 1) held in memory.

Both are solved in their dual form, which has one constraint per coordinate, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from hiperplano.data.design import Array
from hiperplano.errors import NotAvailable

_RANK = 1e-10  # singular values below this share of the largest count as zero
_TOLERANCES = (1e-10, 1e-7)  # the smallest tolerance of HiGHS, and its default for programs where that fails
_ROUNDS = 4  # rounds of reweighting that make a direction sparser
_FLOOR = 0.01  # coefficients are replaced by at least this share of the largest one when reweighting
_SOLVED, _TROUBLE = 0, 4  # status of linprog; between them, infeasible and unbounded


@dataclass(frozen=True)
class Partition:
    """Partition of the rows into separated and bound ones.

    Some plane has all separated rows strictly on their side, and no row on the wrong side.

    Attributes
    ----------
    direction : ndarray of shape (p,)
        A plane with scores of at least 1 on the separated rows and 0 on the bound ones; zeros if no row is separated.
    bound : ndarray of bool, shape (m,)
        Rows that every such plane passes through.
    weight : ndarray of shape (m,)
        Positive on bound rows, 0 on others, Σ weight·z = 0: the proof for the bound rows.
    free : ndarray of shape (p, k)
        Orthonormal directions in which all bound rows have score 0.
    """

    direction: Array
    bound: Array
    weight: Array
    free: Array


def partition(z: Array, fit_intercept: bool, maybe_separable: bool) -> Partition:
    """Partition rows by the planes that have no row on the wrong side.

    Parameters
    ----------
    z : ndarray of shape (m, p)
    fit_intercept : bool
        Whether the last coordinate is the intercept, which is not penalised in the sparse direction.
    maybe_separable : bool
        False if bound rows are known to exist, so that a strictly separating plane is not searched for.
    """
    m, p = z.shape
    if maybe_separable:
        direction = sparse_direction(z, np.empty((0, p)), fit_intercept)
        if direction is not None:
            return Partition(direction, np.zeros(m, bool), np.zeros(m), np.eye(p))
    weight, bound, plain = positive_relation(z)
    inside, spanned, free = row_space(z[bound])
    # The program's residual is near its tolerance; a projection reduces it to rounding errors.
    weight[bound] = np.maximum(weight[bound] - inside @ (inside.T @ weight[bound]), 0.0)
    if bound.all():
        return Partition(np.zeros(p), bound, weight, free)
    direction = sparse_direction(z[~bound], spanned, fit_intercept)
    return Partition(plain if direction is None else direction, bound, weight, free)


def row_space(z: Array) -> tuple[Array, Array, Array]:
    """Orthonormal bases of the column space (m, r), of the row space (r, p), and of its complement."""
    m, p = z.shape
    if not m:
        return np.empty((0, 0)), np.empty((0, p)), np.eye(p)
    left, singular, right = np.linalg.svd(z, full_matrices=m < p)
    rank = int((singular > _RANK * singular.max(initial=0.0)).sum())
    return left[:, :rank], right[:rank], right[rank:].T


def positive_relation(z: Array) -> tuple[Array, Array, Array]:
    """The relation Σ λ·z = 0, λ ≥ 0, with the most positive weights; the rows that have them; and v for the other rows.

    max Σ min(λ, 1). By Stiemke's theorem a row has λ > 0 in some relation if and only if no v with z·v ≥ 0 for
    all rows has z·v > 0 there, so the best λ is 1 or more on all those rows and 0 on the rest.
    """
    m, p = z.shape
    bounds = np.zeros((2 * m, 2))
    bounds[:m, 1], bounds[m:, 1] = 1.0, np.inf
    # λ = 0 is feasible and the maximum is at most m, so any other status means numerical trouble.
    program = {"A_eq": np.hstack([z.T, z.T]), "b_eq": np.zeros(p), "bounds": bounds}
    answer = _solve(np.repeat([-1.0, 0.0], m), lambda status: status == _SOLVED, **program)
    if answer.status != _SOLVED:
        raise NotAvailable(
            "separability: HiGHS could not solve a linear program of {m} rows and {p} columns ({message}). Remove "
            "columns that nearly follow from others, and look for extreme values.",
            m=m,
            p=p,
            message=answer.message,
        )
    bound = answer.x[:m] > 0.5
    return np.where(bound, answer.x[:m] + answer.x[m:], 0.0), bound, -answer.eqlin.marginals


def sparse_direction(z: Array, still: Array, fit_intercept: bool, cost: Array | None = None) -> Array | None:
    """argmin Σ cost·|w| over (w, b) with z·(w, b) ≥ 1 for the rows of z and = 0 for those of `still`.

    Return None if there is none.

    The dual: max Σ λ over λ ≥ 0 and free μ, with |zᵀλ + stillᵀμ| ≤ cost for coefficients and = 0 for the intercept.
    """
    m, r = len(z), len(still)
    columns = np.vstack([z, still]).T
    slopes = columns[:-1] if fit_intercept else columns
    answer = _solve(
        np.concatenate([-np.ones(m), np.zeros(r)]),
        lambda status: status < _TROUBLE,
        A_ub=np.vstack([slopes, -slopes]),
        b_ub=np.ones(2 * len(slopes)) if cost is None else np.tile(cost, 2),
        A_eq=columns[-1:] if fit_intercept else None,
        b_eq=np.zeros(1) if fit_intercept else None,
        bounds=[(0.0, None)] * m + [(None, None)] * r,
    )
    if answer.status != _SOLVED:  # λ = 0 is feasible, so any other status means that the program is unbounded
        return None
    upper, lower = np.split(-answer.ineqlin.marginals, 2)
    v = np.concatenate([upper - lower, -answer.eqlin.marginals]) if fit_intercept else upper - lower
    v = _on_support(v, still, len(slopes))
    smallest = float((z @ v).min())
    return v / smallest if smallest > 0.5 else None


def sparser_direction(z: Array, still: Array, fit_intercept: bool, direction: Array) -> Array:
    """A direction with fewer coefficients, if some rounds of reweighting (small coefficients cost more) find one."""
    slopes = slice(0, len(direction) - fit_intercept)
    for _ in range(_ROUNDS):
        size = np.abs(direction[slopes])
        if not size.any():  # only the intercept
            break
        found = sparse_direction(z, still, fit_intercept, size.max() / (size + _FLOOR * size.max()))
        if found is None or np.count_nonzero(found[slopes]) >= np.count_nonzero(size):
            break
        direction = found
    return direction


def _solve(cost: Array, settled: Callable[[int], bool], **program: Any) -> Any:
    """Solve with `linprog`, at the smallest tolerance for which its status is conclusive, or at the last one."""
    for tolerance in _TOLERANCES:
        options = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
        answer = linprog(cost, method="highs-ds", options=options, **program)
        if settled(answer.status):
            break
    return answer


def _on_support(v: Array, still: Array, n_slopes: int) -> Array:
    """Set noise among the coefficients to 0, and project so that the `still` rows have a score of exactly 0."""
    used = np.ones(len(v), bool)
    used[:n_slopes] = np.abs(v[:n_slopes]) > 1e-9 * np.abs(v[:n_slopes]).max(initial=0.0)
    out = np.where(used, v, 0.0)
    if len(still):
        part = still[:, used]
        out[used] -= np.linalg.lstsq(part, part @ out[used], rcond=_RANK)[0]
    return out
