"""Independent solves, in coordinates in which units and offsets of columns do not matter.

A judge compares a fitted model with one of them. It returns what is wrong, or "" if nothing is, or if float64 cannot
tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.special import expit, log_softmax, softmax

from tests.quadratic import solve

_EPS = 2.3e-16
_BLURRED = 1e-7  # share of a column's spread that its rounding may be, for an answer to be judged
_UNCLEAR = 1e-12, 1e-6  # singular values between which a rank is a matter of opinion
_DIGITS = 1e-6


@dataclass(frozen=True)
class Sample:
    """What was fitted: the rows of weight, their targets (numbers of classes or numbers) and weights.

    Attributes
    ----------
    rows : object
        The same rows as they were passed, to predict.
    """

    X: Any
    y: Any
    weight: Any
    rows: Any


@dataclass(frozen=True)
class Coordinates:
    """Columns M = [1, (x − mean)/size] and the penalty of their coefficients, both brought to unit size."""

    columns: Any
    penalty: Any
    blur: float

    @classmethod
    def of(cls, sample: Sample, strength: float, fit_intercept: bool) -> Coordinates:
        """For a penalty of ½·strength on the squares of coefficients in the units of the data."""
        X = sample.X.astype(np.longdouble)
        weight = sample.weight / sample.weight.sum()
        mean = weight @ X if fit_intercept else np.zeros(X.shape[1])
        apart = X - mean
        size = np.sqrt(weight @ np.square(apart)).astype(float)
        offset = np.abs(np.asarray(mean, dtype=float))
        constant = size <= 8 * _EPS * offset
        blur = float(np.max(np.where(constant, 0.0, _EPS * offset / np.where(constant, 1.0, size)), initial=0.0))
        size = np.where(constant | (size == 0), 1.0, size)
        Z = np.where(constant, 0.0, (apart / size).astype(float))
        with np.errstate(over="ignore"):
            penalty = np.where(constant, 1.0, np.minimum(strength / size**2, 1e60))
        if fit_intercept:
            Z, penalty = np.column_stack([np.ones(len(Z)), Z]), np.append(0.0, penalty)
        shrink = np.sqrt(1.0 + penalty)
        return cls(Z / shrink, penalty / shrink**2, blur)

    @property
    def clear(self) -> bool:
        """Whether columns are sharp, and plainly dependent or plainly not."""
        values = np.linalg.svd(np.vstack([self.columns, np.diag(np.sqrt(self.penalty))]), compute_uv=False)
        shares = values / max(values[0], 1e-300)
        return self.blur < _BLURRED and not ((shares > _UNCLEAR[0]) & (shares < _UNCLEAR[1])).any()


def rounding(model: Any, sample: Sample) -> Any:
    """What scores may be off by the rounding of coefficients, intercept and products, of shape (n, scores)."""
    coef = np.atleast_2d(model.coef_)
    eps = float(np.finfo(coef.dtype).eps)
    terms = np.abs(sample.X) @ np.abs(coef.T.astype(float))
    return 64 * eps * (terms + np.abs(np.atleast_1d(model.intercept_)))


def compared(found: Any, right: Any, slack: Any, size: float) -> str:
    """What differs, in words."""
    right = np.asarray(right, dtype=float)
    right = right.reshape(len(right), -1)
    error = np.abs(np.asarray(found, dtype=float).reshape(right.shape) - right)
    if (error <= _DIGITS * size + slack).all():
        return ""
    return f"off by {error.max():.2e} where numbers are of size {size:.2e}"


def regression(model: Any, sample: Sample, alpha: float, positive: bool = False) -> str:
    """Least squares and ridge, by an SVD or by non-negative least squares."""
    y = sample.y.reshape(len(sample.X), -1).astype(float)
    scale = sample.weight.max()
    at = Coordinates.of(sample, alpha / scale, model.fit_intercept)
    if not at.clear:
        return ""
    root = np.sqrt(sample.weight / scale)
    rows = np.vstack([root[:, None] * at.columns, np.diag(np.sqrt(at.penalty))])
    level = (sample.weight @ y / sample.weight.sum()) if model.fit_intercept else np.zeros(y.shape[1])
    target = np.vstack([root[:, None] * (y - level), np.zeros((rows.shape[1], y.shape[1]))])
    unit = max(float(np.abs(target).max(initial=0.0)), 1e-300)
    if positive:  # the best intercept leaves weighted means as they are
        first = int(model.fit_intercept)
        apart = at.columns[:, first:] - (sample.weight @ at.columns[:, first:] / sample.weight.sum()) * first
        weighted = np.vstack([root[:, None] * apart, np.diag(np.sqrt(at.penalty))[first:, first:]])
        right = target[: len(weighted)] if not first else np.delete(target, len(y), axis=0)
        theta = np.column_stack([nnls(weighted, column / unit, maxiter=1000)[0] * unit for column in right.T])
        fitted = apart @ theta + level
    else:
        fitted = at.columns @ (np.linalg.lstsq(rows, target / unit, rcond=1e-13)[0] * unit) + level
    found = np.asarray(model.predict(sample.rows), dtype=float).reshape(y.shape)
    size = max(float(np.abs(y - level).max(initial=0.0)), 64 * _EPS * float(np.abs(level).max(initial=0.0)))
    # Rows of little weight are free to be far off: what they are fitted to is not determined to many digits.
    if sample.weight.min() < 1e-8 * scale:
        return ""
    return compared(found, fitted, rounding(model, sample) + 64 * _EPS * np.abs(level), size)


def linear_kernel(model: Any, sample: Sample) -> str:
    """Kernel ridge with the linear kernel: ridge without an intercept, if float64 holds a penalty beside products."""
    if _EPS * np.max(np.square(sample.X).sum(axis=1)) * sample.weight.max() > _BLURRED * model.alpha:
        return ""

    class Primal:
        fit_intercept, intercept_ = False, 0.0
        coef_ = np.atleast_2d((np.atleast_2d(model.dual_coef_.T) @ sample.X).astype(float))
        predict = staticmethod(model.predict)

    return regression(Primal, sample, model.alpha)


def least_squares_classifier(model: Any, sample: Sample, alpha: float, other: float = 0.0) -> str:
    """One regression on ±1, or for each class on 1 and `other`."""
    classes = len(model.classes_)
    own = sample.y[:, None] == np.arange(classes)
    codes = np.where(sample.y == 1, 1.0, -1.0) if classes == 2 else np.where(own, 1.0, other)

    class Scores:
        fit_intercept, coef_, intercept_ = model.fit_intercept, model.coef_, model.intercept_
        predict = staticmethod(model.decision_function)

    return regression(Scores, Sample(sample.X, codes, sample.weight, sample.rows), alpha)


def _newton(step: Any, theta: Any) -> Any | None:
    """A minimum by damped Newton steps: `step` gives value, gradient and Hessian."""
    value, gradient, hessian = step(theta)
    for _ in range(300):
        move = np.linalg.lstsq(hessian, gradient, rcond=1e-14)[0]
        decrement = float(gradient @ move)
        if decrement <= 1e-20 * max(value, 1.0):
            return theta
        length = 1.0
        while length > 1e-12:
            trial = step(theta - length * move)
            if trial[0] <= value - 1e-4 * length * decrement:
                break
            length /= 2
        else:
            return theta if decrement < 1e-14 * max(value, 1e-3) else None
        theta = theta - length * move
        value, gradient, hessian = trial
    return None


def logistic(model: Any, sample: Sample, C: float) -> str:
    """Softmax regression with one block of coefficients for each class, the first 0 if nothing is penalised."""
    classes = len(model.classes_)
    scale = sample.weight.max()
    strength = 0.0 if np.isinf(C) else 1.0 / (C * scale)
    at = Coordinates.of(sample, strength * (0.5 if classes == 2 else 1.0), model.fit_intercept)
    if not at.clear or sample.weight.min() < 1e-8 * scale:
        return ""
    weight, M = sample.weight / scale, at.columns
    p, own = M.shape[1], sample.y[:, None] == np.arange(classes)
    # Two classes: the penalty is on one vector u of coefficients, which is ½‖u‖² = ‖u/2‖² + ‖−u/2‖² of two.
    penalty = np.tile(at.penalty * (4.0 if classes == 2 else 1.0), classes)

    def step(theta: Any) -> Any:
        scores = M @ theta.reshape(classes, p).T
        logs = log_softmax(scores, axis=1)
        chance = np.exp(logs)
        value = -(weight @ logs[own]) + 0.5 * penalty @ theta**2
        gradient = (((chance - own) * weight[:, None]).T @ M).ravel() + penalty * theta
        hessian = np.diag(penalty)
        for j in range(classes):
            for k in range(classes):
                bend = weight * chance[:, j] * ((j == k) - chance[:, k])
                hessian[j * p : (j + 1) * p, k * p : (k + 1) * p] += (M * bend[:, None]).T @ M
        return value, gradient, hessian

    theta = _newton(step, np.zeros(classes * p))
    if theta is None:
        return ""
    scores = M @ theta.reshape(classes, p).T
    if np.abs(scores).max() > 20:  # separable, or nearly so: the maximum is at or near infinity
        return ""
    slack = np.max(rounding(model, sample), axis=1, keepdims=True)
    # A gradient of the mean loss of `tol` moves parameters by its product with the inverse Hessian, and scores by M.
    inverse = np.abs(M @ np.linalg.pinv(step(theta)[2], hermitian=True, rcond=1e-14).reshape(classes, p, -1))
    slack = slack + 2 * model.tol * weight.sum() * inverse.sum(axis=2).max(axis=0)[:, None]
    return compared(model.predict_proba(sample.rows), softmax(scores, axis=1), slack + 1e-7, 1.0)


def firth(model: Any, sample: Sample) -> str:
    """Fisher scoring with Firth's modified residuals, y − p + h·(½ − p)."""
    at = Coordinates.of(sample, 0.0, model.fit_intercept)
    if not at.clear or sample.weight.min() < 1e-8 * sample.weight.max():
        return ""
    M, weight = at.columns, sample.weight
    M = M[:, np.linalg.norm(M, axis=0) > 0]
    if np.linalg.matrix_rank(M) < M.shape[1]:
        return ""

    def scoring(chance: Any) -> Any:
        """The step of Fisher scoring, and half of what it promises."""
        bend = weight * chance * (1 - chance)
        information = (M * bend[:, None]).T @ M
        hat = bend * np.einsum("ij,ji->i", M, np.linalg.lstsq(information, M.T, rcond=None)[0])
        score = (weight * (sample.y - chance) + hat * (0.5 - chance)) @ M
        move = np.linalg.lstsq(information, score, rcond=None)[0]
        return move, float(score @ move)

    found = model.predict_proba(sample.rows)[:, 1]
    if scoring(found)[1] <= 1e-9:  # a maximum: where weights differ much there are several, and neither way finds all
        return ""
    theta = np.zeros(M.shape[1])
    for _ in range(2000):
        move, _ = scoring(expit(M @ theta))
        theta = theta + move * min(1.0, 1.0 / max(np.abs(M @ move).max(), 1e-9)) * 0.5
        if np.abs(M @ move).max() < 1e-9:
            return compared(found, expit(M @ theta), rounding(model, sample), 1.0)
    return ""


def support_vectors(model: Any, sample: Sample, targets: Any, squared: bool, epsilon: float | None) -> str:
    """Each plane as a quadratic program with slacks, by an interior point method; objectives are compared.

    Parameters
    ----------
    targets : ndarray of shape (n, planes)
        ±1, or numbers if there is an epsilon.
    """
    S = model.C * sample.weight.max()
    if sample.weight.min() < 1e-8 * sample.weight.max():
        return ""
    strength = sample.weight / sample.weight.max()
    coef, intercept = np.atleast_2d(model.coef_).astype(np.longdouble), np.atleast_1d(model.intercept_)
    for plane, y in enumerate(targets.T):
        level = float(np.median(y)) if epsilon is not None and model.fit_intercept else 0.0
        y = y - level  # an intercept takes up any level; less of it is rounded away
        score = sample.X @ coef[plane] + (intercept[plane].astype(np.longdouble) - level)
        miss = np.abs(y - score) - epsilon if epsilon is not None else 1 - y * score
        loss = np.maximum(miss, 0.0) ** (2 if squared else 1)
        found = float(strength @ loss + 0.5 / S * np.sum(coef[plane] ** 2))
        # In units of the target losses shrink by `unit`, or its square, and the penalty by its square.
        unit = 1.0 if epsilon is None else max(1.0, float(np.abs(y).max()))
        at = Coordinates.of(sample, (1.0 if squared else unit) / S, model.fit_intercept)
        if not at.clear:
            return ""
        try:
            right = _program(at, y / unit, strength, squared, None if epsilon is None else epsilon / unit)
        except AssertionError:
            continue
        right *= unit * unit if squared else unit
        wobble = float(strength @ (rounding(model, sample)[:, plane] * (1 + 2 * np.abs(miss) * squared)))
        if found > right + 1e-5 * right + 1e-8 * strength.sum() + wobble:
            return f"plane {plane} has the objective {found:.9g}, the least is {right:.9g}"
    return ""


def _program(at: Coordinates, y: Any, strength: Any, squared: bool, epsilon: float | None) -> float:
    M, n = at.columns, len(y)
    rows = [-y[:, None] * M] if epsilon is None else [-M, M]
    bound = [-np.ones(n)] if epsilon is None else [epsilon - y, epsilon + y]
    slacks = n * len(rows)
    both = np.tile(strength, len(rows))
    quadratic = np.diag(np.concatenate([at.penalty, 2 * both * squared]))
    linear = np.concatenate([np.zeros(M.shape[1]), both * (not squared)])
    matrix = np.vstack(
        [
            np.hstack([np.vstack(rows), -np.eye(slacks)]),
            np.hstack([np.zeros((slacks, M.shape[1])), -np.eye(slacks)]),
        ]
    )
    return float(solve(quadratic, linear, matrix, np.concatenate([*bound, np.zeros(slacks)]))[1])


def gaussian(model: Any, sample: Sample, own_covariance: bool) -> str:
    """Posterior probabilities of Gaussian classes, from their weighted moments."""
    at = Coordinates.of(sample, 0.0, True)
    M = at.columns[:, 1:]
    if at.blur > _BLURRED or sample.weight.min() < 1e-8 * sample.weight.max():
        return ""
    classes, weight = len(model.classes_), sample.weight / sample.weight.sum()
    parts = [sample.y == k for k in range(classes)]
    share = np.array([weight[part].sum() for part in parts])
    means = [weight[part] @ M[part] / total for part, total in zip(parts, share, strict=True)]
    scatters = [
        ((M[part] - mean) * weight[part, None]).T @ (M[part] - mean) for part, mean in zip(parts, means, strict=True)
    ]
    pooled = sum(scatters)
    logs = np.empty((len(M), classes))
    for k in range(classes):
        covariance = scatters[k] / share[k] if own_covariance else pooled
        values = np.linalg.eigvalsh(covariance)
        if values[0] < 1e-7 * max(values[-1], 1e-300):
            return ""
        apart = np.linalg.solve(np.linalg.cholesky(covariance), (M - means[k]).T)
        logs[:, k] = np.log(share[k]) - 0.5 * np.sum(apart**2, axis=0) - 0.5 * np.linalg.slogdet(covariance)[1]
    eps = 2e-7 if getattr(sample.rows, "dtype", None) in (np.float32, np.float16) else 0.0
    slack = 1e-6 + eps * np.abs(logs).max() + 1e6 * _EPS * at.blur / _EPS * np.abs(logs).max()
    if hasattr(model, "coef_"):
        slack = slack + np.max(rounding(model, sample), axis=1, keepdims=True)
    return compared(model.predict_proba(sample.rows), softmax(logs, axis=1), slack, 1.0)
