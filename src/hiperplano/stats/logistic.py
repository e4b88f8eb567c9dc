"""Standard errors and tests of a logistic fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.errors import NotAvailable
from hiperplano.solvers.likelihood.coordinates import Coordinates
from hiperplano.solvers.likelihood.firth import FirthSolution
from hiperplano.solvers.likelihood.maximum import LogisticSolution, ways_out
from hiperplano.stats.odds import OddsSummary
from hiperplano.stats.profile import firth_intervals
from hiperplano.stats.summary import coefficient_names, fact

_FLAT = 1e-14  # eigenvalue, as a share of the largest, of a direction without information


def summarise(model: Any, level: float) -> OddsSummary:
    """The summary of a fitted logistic model, from what `fit` kept."""
    solution: LogisticSolution = model.solution_
    if solution.hessian is None:
        size = solution.coef.size + solution.intercept.size
        raise NotAvailable(
            f"No standard errors were kept for {size} coefficients: that needs a matrix of {size} × {size} numbers at "
            "the solution. Ask for it with inference(model, X, y)."
        )
    return table(model, solution, scaled_covariance(model, solution, solution.hessian), "classical", level)


def scaled_covariance(model: Any, solution: LogisticSolution, hessian: Array, meat: Array | None = None) -> Array:
    """Covariance of the scaled parameters: the inverse information, or a sandwich around `meat`.

    `hessian` is that of the mean loss with its penalty; `meat` is Σ of squared gradients over the rows.
    """
    diagonal = np.tile(solution.penalty_diagonal(), len(solution.coef))
    inverse = _inverse(hessian, coefficient_names(model, bool(model.fit_intercept)))
    if meat is not None:
        return np.asarray(inverse @ (meat / solution.total**2) @ inverse)
    if solution.strength == 0:
        return np.asarray(inverse / solution.total)
    return np.asarray(inverse @ (hessian - np.diag(diagonal)) @ inverse / solution.total)


def _inverse(hessian: Array, names: list[str]) -> Array:
    """The inverse, after bringing the diagonal to one; `names` of one score's parameters serve the refusal."""
    diagonal = hessian.diagonal()
    root = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    unit = hessian / np.outer(root, root)
    values, vectors = np.linalg.eigh(unit)
    flat = values <= _FLAT * values[-1]
    if flat.any():
        part = np.abs(vectors[:, flat]).max(axis=1).reshape(-1, len(names)).max(axis=0)
        culprits = [name for name, share in zip(names, part, strict=True) if share > 1e-3 and name != "intercept"]
        raise NotAvailable(
            f"No standard errors: {', '.join(map(repr, culprits[:6]))}{' …' if len(culprits) > 6 else ''} do not vary "
            "or follow from other columns, so single coefficients are not determined. Drop a column of each relation "
            "and fit again, or set a finite C."
        )
    return np.asarray((vectors / values) @ vectors.T / np.outer(root, root))


def to_data(coordinates: Coordinates, n_scores: int) -> Array:
    """The matrix from scaled parameters of all scores to contrasts in the units of the data.

    With several scores these are differences to the first class.
    """
    if n_scores == 1:
        return coordinates.matrix()
    contrast = np.hstack([-np.ones((n_scores - 1, 1)), np.eye(n_scores - 1)])
    return np.kron(contrast, coordinates.matrix())


def table(model: Any, solution: LogisticSolution, covariance: Array, kind: str, level: float) -> OddsSummary:
    """Arrange coefficients and covariance (of the scaled parameters)."""
    check_number("summary", "level", level, 0.0, 1.0, open_low=True)
    n_scores, fit_intercept = len(solution.coef), bool(model.fit_intercept)
    change = to_data(solution.coordinates, n_scores)
    unit = np.abs(change).max(axis=1)  # squares of units may lie beyond the range of floats, their roots do not
    change /= unit[:, None]
    covariance = change @ covariance @ change.T
    coef = np.column_stack([solution.intercept, solution.coef]) if fit_intercept else solution.coef
    if n_scores > 1:
        coef = coef[1:] - coef[0]
    se = (unit * np.sqrt(np.maximum(covariance.diagonal(), 0.0))).reshape(coef.shape)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        covariance = covariance * unit[:, None] * unit
        statistic = np.where(se > 0, coef / se, 0.0)
    p = 2.0 * ndtr(-np.abs(statistic))
    reach = ndtri(0.5 + level / 2) * se
    low, high = coef - reach, coef + reach
    if solution.strength > 0 or not solution.converged:
        p, low, high = (np.full(coef.shape, np.nan) for _ in range(3))
    elif isinstance(solution, FirthSolution) and kind == "classical":
        ends, tests = firth_intervals(solution, float(level))
        low, high, p = ends[None, :, 0].copy(), ends[None, :, 1].copy(), tests[None].copy()  # what is kept stays

    def shaped(values: Array) -> Array:
        return np.asarray(values[0] if n_scores == 1 else values)

    return OddsSummary(
        title=f"{type(model).__name__}: {fact(solution.total)} rows, {kind} standard errors",
        names=coefficient_names(model, fit_intercept),
        coef=shaped(coef),
        se=shaped(se),
        statistic=shaped(statistic),
        p=shaped(p),
        low=shaped(low),
        high=shaped(high),
        stats=_stats(solution, coef.size, coef.shape[0] * fit_intercept),
        level=float(level),
        statistic_name="z",
        covariance=covariance,
        blocks=[] if n_scores == 1 else [f"{name} against {model.classes_[0]}" for name in model.classes_[1:]],
        notes=_notes(model, solution, kind),
    )


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


def _notes(model: Any, solution: LogisticSolution, kind: str) -> tuple[str, ...]:
    notes = []
    if isinstance(solution, FirthSolution):
        whose = "Wald's" if kind != "classical" else "those of its profile, z is coefficient over standard error"
        notes.append(f"Firth's penalised likelihood: intervals and p-values are {whose}.")
    elif solution.unbounded:
        notes.append(
            "the classes are separated: coefficients were stopped on their way to infinity, and nothing that assumes "
            f"a maximum of the likelihood holds. {ways_out(len(solution.coef))}"
        )
    elif solution.strength > 0:
        notes.append(
            f"the fit is penalised (C={1.0 / (solution.strength * solution.total):g}): its coefficients are drawn "
            "towards 0, so p-values and intervals, which assume that they are right on average, do not hold and are "
            "left out; standard errors tell the spread, not the bias. C=np.inf gives plain maximum likelihood."
        )
    if not solution.converged and not solution.unbounded:
        notes.append(
            f"the fit ended early, with a largest gradient entry of {solution.gradient_norm:.1e}: all numbers are of "
            "the point it reached, and tests and intervals, which assume a maximum, are left out. Raise max_iter and "
            "fit again."
        )
    if model.class_weight is not None and kind == "classical":
        notes.append(
            "classes are weighted: a row of weight 2 counts as two here, so these standard errors are not those of the "
            "rows there are. inference(model, X, y, cov='HC0') counts each row once."
        )
    if kind != "classical":
        notes.append(f"{kind}: standard errors hold also if the model's variance is wrong.")
    return tuple(notes)
