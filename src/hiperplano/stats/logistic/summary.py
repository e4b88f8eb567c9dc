"""Standard errors and tests of a logistic fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.errors import NotAvailable
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.messages import Message
from hiperplano.solvers.likelihood.firth import FirthSolution
from hiperplano.solvers.likelihood.fit import MOST_KEPT
from hiperplano.solvers.likelihood.solution import LogisticSolution, separation_remedy
from hiperplano.stats.logistic.odds import OddsSummary
from hiperplano.stats.logistic.profile import firth_intervals
from hiperplano.stats.summary import coefficient_names, fact, undetermined_note

_FLAT = 1e-14  # a direction has no information if its eigenvalue is below this share of the largest
_LOST = 1e-5  # a parameter is not determined if its share along such directions is above this


def summarise(model: Any, level: float) -> OddsSummary:
    """The summary of a fitted logistic model, from the quantities stored by `fit`."""
    solution: LogisticSolution = model.solution_
    size = solution.coef.size + solution.intercept.size
    if solution.hessian is None and solution.strength > 0 and size <= MOST_KEPT:
        unknown = len(solution.coef) * solution.scale.size
        return table(model, solution, Spread(np.full((unknown, unknown), np.nan)), "classical", level)
    if solution.hessian is None:
        raise NotAvailable(
            "No standard errors were kept for {size} coefficients: that needs a matrix of {size} × {size} numbers "
            "at the solution. {in_python}",
            size=size,
            in_python=Message("Ask for it with inference(model, X, y)."),
        )
    return table(model, solution, spread_of(solution, solution.hessian), "classical", level)


@dataclass(frozen=True)
class Spread:
    """Covariance of the standardised parameters, and the directions without information.

    Attributes
    ----------
    covariance : ndarray of shape (k, k)
    null : ndarray of shape (k, r) or None
        Orthonormal directions without information.
    constant : ndarray of bool of shape (k,) or None
        Parameters of constant columns.
    """

    covariance: Array
    null: Array | None = None
    constant: Array | None = None

    def undetermined(self, change: Array) -> Array:
        """Which parameters, after the linear map `change`, are not determined.

        A constant column counts as absent, so that the intercept stays determined.
        """
        found = np.zeros(len(change), dtype=bool)
        if self.null is not None:
            lost = np.linalg.norm(change @ self.null, axis=1)
            found |= lost > _LOST * np.linalg.norm(change, axis=1)
        if self.constant is not None:
            found |= ~change[:, ~self.constant].any(axis=1)
        return found


def spread_of(solution: LogisticSolution, hessian: Array, meat: Array | None = None) -> Spread:
    """Covariance of the standardised parameters: the inverse information, or a sandwich around `meat`.

    If columns are linearly dependent, it is the pseudo-inverse, which is correct for all that is determined.

    Parameters
    ----------
    hessian : ndarray of shape (k, k)
        Hessian of the mean loss with its penalty.
    meat : ndarray of shape (k, k), optional
        Sum of squared gradients over the rows.
    """
    solver = SymmetricSolver(hessian, _FLAT)
    inverse = solver.solve(np.eye(len(hessian)))
    null = np.linalg.qr(solver.null)[0] if solver.unit_null.shape[1] else None
    constant = hessian.diagonal() == 0
    if meat is not None:
        covariance = inverse @ (meat / solution.total**2) @ inverse
    elif solution.strength == 0:
        covariance = inverse / solution.total
    else:
        diagonal = np.tile(solution.penalty_diagonal(), len(solution.coef))
        covariance = inverse @ (hessian - np.diag(diagonal)) @ inverse / solution.total
    return Spread(np.asarray(covariance), null, constant if constant.any() else None)


def to_data(scale: ColumnScale, n_scores: int) -> Array:
    """The linear map from standardised parameters of all scores to contrasts in the units of the data.

    With several scores, the contrasts are differences from the first class.
    """
    if n_scores == 1:
        return scale.matrix()
    contrast = np.hstack([-np.ones((n_scores - 1, 1)), np.eye(n_scores - 1)])
    return np.kron(contrast, scale.matrix())


def table(model: Any, solution: LogisticSolution, spread: Spread, kind: str, level: float) -> OddsSummary:
    """Arrange coefficients and covariance in a summary."""
    check_number("summary", "level", level, 0.0, 1.0, open_low=True)
    n_scores, fit_intercept = len(solution.coef), bool(model.fit_intercept)
    change = to_data(solution.scale, n_scores)
    covariance = change @ spread.covariance @ change.T
    unknown = spread.undetermined(change)
    covariance[unknown], covariance[:, unknown] = np.nan, np.nan
    coef = np.column_stack([solution.intercept, solution.coef]) if fit_intercept else solution.coef
    if n_scores > 1:
        coef = coef[1:] - coef[0]
    se = np.sqrt(np.maximum(covariance.diagonal(), 0.0)).reshape(coef.shape)
    statistic = np.divide(coef, se, out=np.zeros_like(coef), where=~(se <= 0))
    p = 2.0 * ndtr(-np.abs(statistic))
    reach = ndtri(0.5 + level / 2) * se
    low, high = coef - reach, coef + reach
    if solution.strength > 0 or not solution.converged:
        p, low, high = (np.full(coef.shape, np.nan) for _ in range(3))
    elif isinstance(solution, FirthSolution) and kind == "classical":
        ends, tests = firth_intervals(solution, float(level), ~unknown)
        # Copies, so that the cached values stay unchanged.
        low, high, p = ends[None, :, 0].copy(), ends[None, :, 1].copy(), tests[None].copy()

    def shaped(values: Array) -> Array:
        return np.asarray(values[0] if n_scores == 1 else values)

    names = coefficient_names(model, fit_intercept)
    culprits: list[bool] = np.any(unknown.reshape(coef.shape), axis=0).tolist()
    free = coef.size - absent(spread, n_scores)
    return OddsSummary(
        title=Message(
            "{model}: {n} rows, {kind} standard errors",
            model=type(model).__name__,
            n=fact(solution.total),
            kind=Message("classical") if kind == "classical" else kind,
        ),
        names=names,
        coef=shaped(coef),
        se=shaped(se),
        statistic=shaped(statistic),
        p=shaped(p),
        low=shaped(low),
        high=shaped(high),
        stats=_stats(solution, free, coef.shape[0] * fit_intercept),
        level=float(level),
        statistic_name="z",
        covariance=covariance,
        blocks=[] if n_scores == 1 else _contrasts(model),
        notes=(
            *undetermined_note([name for name, lost in zip(names, culprits, strict=True) if lost]),
            *_notes(model, solution, kind, bool(np.isfinite(se[~unknown.reshape(se.shape)]).all())),
        ),
    )


def absent(spread: Spread, n_scores: int) -> int:
    """The number of parameters that are not determined."""
    k = len(spread.covariance)
    lost = [] if spread.null is None else [spread.null]
    lost += [] if spread.constant is None else [np.eye(k)[:, spread.constant]]
    if not lost:
        return 0
    by_score = np.hstack(lost).reshape(n_scores, k // n_scores, -1)
    contrasts = by_score if n_scores == 1 else by_score[1:] - by_score[0]
    return int(np.linalg.matrix_rank(contrasts.reshape(-1, by_score.shape[2]), tol=_LOST))


def _stats(solution: LogisticSolution, n_parameters: int, n_intercepts: int) -> dict[str, Any]:
    n = solution.total
    df = n_parameters - n_intercepts
    lr = max(solution.null_deviance - solution.deviance, 0.0)
    return {
        "loglik": -0.5 * solution.deviance,
        "deviance": solution.deviance,
        "null_deviance": solution.null_deviance,
        "lr": lr,
        "lr_p": float(chdtrc(df, lr)) if solution.at_maximum else np.nan,
        "mcfadden_r2": 1.0 - solution.deviance / solution.null_deviance if solution.null_deviance > 0 else np.nan,
        "aic": solution.deviance + 2.0 * n_parameters,
        "bic": solution.deviance + np.log(n) * n_parameters,
        "n": n,
        "df": n - n_parameters,
    }


def _contrasts(model: Any) -> list[str]:
    first, *others = model.classes_
    return [Message("{label} against {first}", label=label, first=first) for label in others]


def _notes(model: Any, solution: LogisticSolution, kind: str, with_errors: bool) -> tuple[str, ...]:
    notes = []
    if not with_errors:
        notes.append(
            Message(
                "standard errors were not needed on the way to this penalised fit, and would have cost as much as "
                "several passes over the rows. {in_python}",
                in_python=Message("inference(model, X, y) computes them."),
            )
        )
    if isinstance(solution, FirthSolution):
        if kind == "classical":
            notes.append(
                Message(
                    "Firth's penalised likelihood: intervals and p-values are those of its profile, z is coefficient "
                    "over standard error."
                )
            )
        else:
            notes.append(Message("Firth's penalised likelihood: intervals and p-values are Wald's."))
    elif solution.unbounded:
        notes.append(
            Message(
                "the classes are separated: coefficients were stopped on their way to infinity, and nothing that "
                "assumes a maximum of the likelihood holds. {remedy}",
                remedy=separation_remedy(len(solution.coef)),
            )
        )
    elif solution.strength > 0:
        notes.append(
            Message(
                "the fit is penalised (C={C:g}): its coefficients are biased towards 0, so p-values and intervals, "
                "which assume unbiased coefficients, do not hold and are left out; standard errors measure the "
                "spread, not the bias. {in_python}",
                in_python=Message("C=np.inf gives plain maximum likelihood."),
                C=1.0 / (solution.strength * solution.total),
            )
        )
    if not solution.converged and not solution.unbounded:
        notes.append(
            Message(
                "the fit ended early, with a largest gradient entry of {gradient:.1e}: all numbers are of the point it "
                "reached, and tests and intervals, which assume a maximum, are left out. Raise max_iter and fit again.",
                gradient=solution.gradient_norm,
            )
        )
    if model.class_weight is not None and kind == "classical":
        notes.append(
            Message(
                "classes are weighted: a row of weight 2 counts as two here, so these standard errors are not those of "
                "the rows there are. {in_python}",
                in_python=Message("inference(model, X, y, cov='HC0') counts each row once."),
            )
        )
    if kind != "classical":
        notes.append(Message("{kind}: standard errors are valid even if the model's variance is wrong.", kind=kind))
    return tuple(notes)
