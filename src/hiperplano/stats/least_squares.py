"""Standard errors and tests of a least-squares fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.parameters import check_number
from hiperplano.errors import NotAvailable
from hiperplano.linalg.triangular import Factor, reciprocal
from hiperplano.messages import Message
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution
from hiperplano.stats.slopes import Slopes
from hiperplano.stats.summary import Summary, coefficient_names, target_names, undetermined_note

_EPS = float(np.finfo(float).eps)
_LOST = 1e-6  # the intercept is not determined if its share along directions without information is above this
_ACCURATE = 1e-8  # larger relative errors of standard errors are mentioned


@dataclass(frozen=True)
class Sample:
    """Facts about the rows that inference needs, besides sums.

    Attributes
    ----------
    n : int
        Number of rows.
    log_weights : float
        Sum of the logarithms of their weights.
    """

    n: int
    log_weights: float

    @classmethod
    def of(cls, design: Design) -> Sample:
        """From the rows of a design."""
        return cls(design.n_rows, float(design.fold(_LogWeights())[0][0]) if design.has_weight else 0.0)


@dataclass(frozen=True)
class _LogWeights:
    """Σ log w."""

    reads_rows = False

    def __call__(self, block: Block) -> Sums:
        return (np.atleast_1d(np.log(block.weights).sum()),)


def summarise(model: Any, level: float) -> Summary:
    """The classical summary of a fitted least-squares model, from the quantities stored by `fit`."""
    solution: LeastSquaresSolution = model.solution_
    if _partly_determined(model, solution):
        return _summarise_determined(model, solution, level)
    refuse_undetermined(model, solution, Message("No standard errors"))
    slopes = Slopes.of(solution)
    if slopes is None:
        d = len(solution.mean)
        raise NotAvailable(
            "No standard errors after {method}: they need the inverse of a {d} × {d} matrix, which this solver "
            "avoids. Set solver='gram' and fit again, or leave out columns if that does not fit memory.",
            method=solution.method,
            d=d,
        )
    half = slopes.with_intercept(solution.mean, solution.total, model.fit_intercept)
    explained = None if solution.factor is None else explained_squares(solution.factor, solution.coef)
    spread = CoefficientSpread(half[None], slopes.freedom, explained, scaled=True)
    found = table(model, solution, model._sample_, spread, "classical", level)
    if slopes.error < _ACCURATE:
        return found
    digits = max(0.0, -np.log10(slopes.error))
    if solution.factor is not None and solution.factor.rounding > _EPS:
        note = Message(
            "float32 rows were multiplied as such, which leaves standard errors about {digits:.0f} digits here. Set "
            "solver='gram' and fit again for all of them.",
            digits=digits,
        )
        return replace(found, notes=(*found.notes, note))
    note = Message(
        "columns are so nearly collinear that standard errors have about {digits:.0f} digits here. {in_python}",
        in_python=Message("inference(model, X, y) makes them from the rows, with all digits."),
        digits=digits,
    )
    return replace(found, notes=(*found.notes, note))


def _partly_determined(model: Any, solution: LeastSquaresSolution) -> bool:
    """Whether columns are linearly dependent, and `fit` stored which coefficients that affects."""
    enough = model._sample_.n > solution.coef.shape[1] and solution.factor is not None
    return solution.dependent.size > 0 and not solution.alpha.any() and enough


def _summarise_determined(model: Any, solution: LeastSquaresSolution, level: float) -> Summary:
    """The summary of a fit with linearly dependent columns: coefficients that are determined have standard errors."""
    assert solution.factor is not None
    slopes, null = Slopes.dependent(solution.factor, solution.rank)
    half = slopes.with_intercept(solution.mean, solution.total, model.fit_intercept)
    unknown = np.zeros(len(half), dtype=bool)
    unknown[solution.dependent + bool(model.fit_intercept)] = True
    if model.fit_intercept:
        level_part = solution.factor.scale * solution.mean
        unknown[0] = bool(np.abs(null.T @ level_part).max(initial=0.0) > _LOST * np.linalg.norm(level_part))
    half[unknown] = np.nan
    spread = CoefficientSpread(
        half[None], slopes.freedom, explained_squares(solution.factor, solution.coef), scaled=True
    )
    found = table(model, solution, model._sample_, spread, "classical", level)
    names = [name for name, lost in zip(found.names, unknown, strict=True) if lost]
    return replace(found, notes=(*undetermined_note(names), *found.notes))


def refuse_undetermined(model: Any, solution: LeastSquaresSolution, what: str) -> None:
    """Raise an error with the reason if single coefficients are not determined."""
    if solution.dependent.size and not solution.alpha.any():
        names = coefficient_names(model, False)
        rows = model._sample_.n
        if rows <= len(names):
            raise NotAvailable(
                "{what}: {rows} rows do not determine {n_names} coefficients and their spread. Add rows, or leave "
                "out columns.",
                what=what,
                rows=rows,
                n_names=len(names),
            )
        culprits = ", ".join(repr(names[j]) for j in solution.dependent[:6])
        if len(solution.dependent) == 1:
            raise NotAvailable(
                "{what}: column {culprits} does not vary, so its coefficient is not determined. Drop the column "
                "and fit again.",
                what=what,
                culprits=culprits,
            )
        raise NotAvailable(
            "{what}: {culprits} follow from other columns or do not vary (rank {rank} of {n_names}), so "
            "single coefficients are not determined. Drop a column of each relation and fit again.",
            what=what,
            culprits=culprits + (" …" if len(solution.dependent) > 6 else ""),
            rank=solution.rank,
            n_names=len(names),
        )
    if len(np.unique(solution.alpha)) > 1:
        raise NotAvailable(
            "{what}: targets with different penalties have different covariances. Fit one target at a time.", what=what
        )


@dataclass(frozen=True)
class CoefficientSpread:
    """Covariance of the coefficients.

    Attributes
    ----------
    half : ndarray of shape (1 or targets, k, r)
        half·halfᵀ is the covariance of intercept and slopes; in units of σ² if `scaled`. Standard errors are the norms
        of its rows.
    freedom : float
        Degrees of freedom of the slopes.
    explained : ndarray of shape (targets,) or None
        Squared slopes in units of their covariance: F times the number of slopes (and σ² if `scaled`).
    """

    half: Array
    freedom: float
    explained: Array | None
    scaled: bool


def explained_squares(factor: Factor, coef: Array) -> Array:
    """coefᵀ·XᵀX·coef for every target, from a factor without penalty, as ‖U·D⁻¹·coef‖², which avoids cancellation."""
    return np.asarray(np.square(factor.upper @ in_scaled_units(factor, coef)).sum(axis=0))


def in_scaled_units(factor: Factor, coef: Array) -> Array:
    """D⁻¹·coef, of shape (d, targets); 0 for columns that do not vary."""
    return np.asarray(coef.T * reciprocal(factor.scale)[:, None])


def fitted_exactly(solution: LeastSquaresSolution) -> Array:
    """For every target, whether its residuals do not exceed the rounding errors of their terms."""
    total = solution.total
    reach = np.hypot(reciprocal(solution.scale) / np.sqrt(total), solution.mean)
    terms = np.square(solution.coef * reach).sum(axis=1) + solution.tss / total + np.square(solution.intercept)
    return np.asarray(solution.rss / total <= np.square(4 * _EPS) * (2 + len(reach)) * terms)


def table(
    model: Any, solution: LeastSquaresSolution, sample: Sample, spread: CoefficientSpread, kind: str, level: float
) -> Summary:
    """Arrange coefficients and covariance in a summary."""
    check_number("summary", "level", level, 0.0, 1.0, open_low=True)
    alpha = float(solution.alpha[0])
    fit_intercept = bool(model.fit_intercept)
    n_slopes = solution.coef.shape[1]
    df_model = spread.freedom
    df = sample.n - df_model - fit_intercept
    if df <= 0:
        raise NotAvailable(
            "No standard errors: {n} rows leave {df:g} degrees of freedom for {n_coefficients} coefficients. Add "
            "rows, or leave out columns.",
            n=sample.n,
            df=df,
            n_coefficients=n_slopes + fit_intercept,
        )
    sigma2 = solution.rss / df
    half = np.broadcast_to(spread.half, (len(sigma2), *spread.half.shape[-2:]))
    half = half * np.sqrt(sigma2)[:, None, None] if spread.scaled else half
    cov = half @ np.swapaxes(half, 1, 2)
    coef = np.column_stack([solution.intercept, solution.coef]) if fit_intercept else solution.coef
    se = np.linalg.norm(half, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(se > 0, coef / se, np.where(coef == 0, 0.0, np.sign(coef) * np.inf))
    statistic[np.isnan(se)] = np.nan
    exact = fitted_exactly(solution)
    notes = _notes(model, solution, exact, df_model, kind)
    tested = not (alpha or model.positive)
    if not tested:
        p, low, high = (np.full(coef.shape, np.nan) for _ in range(3))
    else:
        p = 2.0 * stdtr(df, -np.abs(statistic))
        reach = stdtrit(df, 0.5 + level / 2) * se
        low, high = coef - reach, coef + reach
        for values in (p, low, high):
            values[exact] = np.nan
    stats = _stats(solution, sample, spread, df, fit_intercept, tested)
    if "f" in stats:
        for key in ("f", "f_p"):
            stats[key] = np.where(exact & (solution.tss > 0), np.nan, stats[key])
    if alpha:
        stats["effective_df"] = df_model + fit_intercept
    one = np.ndim(model.coef_) == 1

    def shaped(values: Array) -> Array:
        return np.asarray(values[0] if one else values)

    return Summary(
        title=Message("{model}: {n} rows, {kind} standard errors", model=type(model).__name__, n=sample.n, kind=kind),
        names=coefficient_names(model, fit_intercept),
        coef=shaped(coef),
        se=shaped(se),
        statistic=shaped(statistic),
        p=shaped(p),
        low=shaped(low),
        high=shaped(high),
        stats={key: (float(value[0]) if one else value) if np.ndim(value) else value for key, value in stats.items()},
        level=float(level),
        statistic_name="t",
        covariance=shaped(cov),
        blocks=[] if one else target_names(model, len(coef)),
        notes=notes,
    )


def _stats(
    solution: LeastSquaresSolution,
    sample: Sample,
    spread: CoefficientSpread,
    df: float,
    fit_intercept: bool,
    tested: bool,
) -> dict[str, Any]:
    """Statistics of the whole fit, each of shape (targets,) or a number."""
    n, rss, tss, df_model = sample.n, solution.rss, solution.tss, spread.freedom
    parameters = df_model + fit_intercept + 1  # the variance of the errors is a parameter, as in R
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = np.where(tss > 0, 1.0 - rss / np.where(tss > 0, tss, 1.0), 0.0)
        adj_r2 = 1.0 - (1.0 - r2) * (n - fit_intercept) / df
        loglik = 0.5 * (sample.log_weights - n * (np.log(2 * np.pi) + 1.0 - np.log(n) + np.log(rss)))
        stats: dict[str, Any] = {"r2": r2, "adj_r2": adj_r2}
        if tested and df_model > 0 and spread.explained is not None:
            unit = rss / df if spread.scaled else 1.0
            f = np.where(spread.explained > 0, spread.explained / unit / df_model, 0.0)
            stats |= {"f": f, "f_p": fdtrc(df_model, df, f)}
    stats |= {"sigma": np.sqrt(rss / df), "loglik": loglik}
    stats |= {"aic": 2 * parameters - 2 * loglik, "bic": np.log(n) * parameters - 2 * loglik, "n": n, "df": df}
    return stats


def _notes(model: Any, solution: LeastSquaresSolution, exact: Array, df_model: float, kind: str) -> tuple[str, ...]:
    alpha, notes, constant = float(solution.alpha[0]), [], solution.tss == 0
    if constant.any():
        notes.append(
            Message(
                "{which} does not vary: there is nothing to explain, and nothing to test.",
                which=_targets(model, constant),
            )
        )
    if (exact & ~constant).any():
        notes.append(
            Message(
                "{which} is fitted exactly: residuals are rounding errors, standard errors made of them mean nothing, "
                "and tests and intervals are left out.",
                which=_targets(model, exact & ~constant),
            )
        )
    if alpha:
        notes.append(
            Message(
                "the fit is penalised (alpha={alpha:g}): its coefficients are biased towards 0, so p-values and "
                "intervals, which assume unbiased coefficients, do not hold and are left out; standard errors "
                "measure the spread, not the bias. Effective degrees of freedom: {df:.4g}.",
                alpha=alpha,
                df=df_model + model.fit_intercept,
            )
        )
    if model.positive:
        notes.append(
            Message(
                "coefficients were held at 0 or above: their distribution is not normal at that border, so p-values "
                "and intervals do not hold and are left out."
            )
        )
    if kind != "classical":
        notes.append(
            Message(
                "{kind}: standard errors are valid even if the errors' variance changes from row to row.", kind=kind
            )
        )
    return tuple(notes)


def _targets(model: Any, which: Array) -> str:
    """The targets selected by a mask, by name."""
    if len(which) == 1:
        return Message("the target")
    names = target_names(model, len(which))
    return ", ".join(repr(names[k]) for k in np.flatnonzero(which))
