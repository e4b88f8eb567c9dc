"""Coefficients in the units of the table: scalers before the model and of its target are undone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtr
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from hiperplano.data.design import Array
from hiperplano.stats.summary import Summary


@dataclass(frozen=True)
class Affine:
    """An affine map for each column: x becomes slope·x + offset."""

    slope: Array
    offset: Array

    def then(self, other: Affine) -> Affine:
        """The composition: this map first, then another."""
        return Affine(other.slope * self.slope, other.slope * self.offset + other.offset)


def scaling(step: Any) -> Affine | None:
    """The map of a step, if it is one of scikit-learn's linear scalers; else None."""
    if not hasattr(step, "n_features_in_"):
        return None
    one, zero = np.ones(step.n_features_in_), np.zeros(step.n_features_in_)
    if isinstance(step, MinMaxScaler):
        return None if step.clip else Affine(step.scale_, step.min_)
    if isinstance(step, StandardScaler):
        center, scale = (step.mean_ if step.with_mean else None), step.scale_
    elif isinstance(step, RobustScaler):
        center, scale = step.center_, step.scale_
    elif isinstance(step, MaxAbsScaler):
        center, scale = None, step.scale_
    else:
        return None
    slope = one if scale is None else 1.0 / np.asarray(scale)
    return Affine(slope, zero if center is None else -slope * center)


@dataclass(frozen=True)
class Units:
    """Maps from the columns of a table to those of a model, and from the model's predictions to the target.

    Attributes
    ----------
    columns : Affine
        Map of each column.
    response : Affine
        Map of the prediction, of shape (1,).
    """

    columns: Affine
    response: Affine

    @classmethod
    def of(cls, steps: list[Any], n_columns: int, target_scaler: Any = None) -> Units:
        """Units for the scalers at the end of a list of steps."""
        columns = Affine(np.ones(n_columns), np.zeros(n_columns))
        for step in reversed(steps):
            found = scaling(step)
            if found is None or len(found.slope) != n_columns:
                break
            columns = found.then(columns)
        found = None if target_scaler is None else scaling(target_scaler)
        if found is None:
            return cls(columns, Affine(np.ones(1), np.zeros(1)))
        return cls(columns, Affine(1.0 / found.slope, -found.offset / found.slope))

    @property
    def same(self) -> bool:
        """Whether the model's units are those of the table."""
        plain = [np.all(each.slope == 1.0) and not np.any(each.offset) for each in (self.columns, self.response)]
        return bool(all(plain))

    def coefficients(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Slopes of shape (scores, d) and intercepts of shape (scores,) in the units of the table."""
        level = intercept + coef @ self.columns.offset
        return self.response.slope * coef * self.columns.slope, self.response.slope * level + self.response.offset

    def summary(self, found: Summary) -> Summary:
        """The summary of a fit in the units of the table: the same tests of slopes, and new ones of the intercept.

        Profile likelihood intervals belong to one parameter. That of the intercept for other origins cannot be derived
        from them, and is omitted.
        """
        if self.same:
            return found
        has_intercept = found.names[:1] == ["intercept"]
        change = np.diag(self.columns.slope)
        if has_intercept:
            change = np.block([[np.ones((1, 1)), self.columns.offset[None]], [np.zeros((len(change), 1)), change]])
        change = change * self.response.slope
        blocks = np.atleast_2d(found.coef)
        coef = blocks @ change.T
        se = self._standard_errors(found.covariance, change, len(blocks))
        low, high, p = (np.atleast_2d(each).copy() for each in (found.low, found.high, found.p))
        slopes = slice(int(has_intercept), None)
        for ends in (low, high):
            ends[:, slopes] = ends[:, slopes] * change.diagonal()[slopes]
        if has_intercept and self.columns.offset.any():
            reach = _reach(found)
            low[:, 0], high[:, 0] = coef[:, 0] - reach * se[:, 0], coef[:, 0] + reach * se[:, 0]
            p[:, 0] = _p(coef[:, 0] / se[:, 0], found) if np.isfinite(reach) else np.nan
        if has_intercept:
            shift = self.response.offset[0]
            coef[:, 0], low[:, 0], high[:, 0] = coef[:, 0] + shift, low[:, 0] + shift, high[:, 0] + shift
            p[:, 0] = p[:, 0] if not shift else np.nan
        statistic = np.divide(coef, se, out=np.zeros_like(coef), where=~(se <= 0))

        def shaped(values: Array) -> Array:
            return np.asarray(values.reshape(np.shape(found.coef)))

        return replace(
            found,
            coef=shaped(coef),
            se=shaped(se),
            statistic=shaped(statistic),
            low=shaped(low),
            high=shaped(high),
            p=shaped(p),
        )

    def _standard_errors(self, covariance: Array, change: Array, n_blocks: int) -> Array:
        size = len(change)
        if covariance.ndim == 3:
            parts = list(covariance)
        else:
            parts = [covariance[b * size : (b + 1) * size, b * size : (b + 1) * size] for b in range(n_blocks)]
        return np.array([_transformed_errors(part, change) for part in parts])


def _transformed_errors(covariance: Array, change: Array) -> Array:
    """Transformed standard errors; NaN for results that involve parameters that are not determined."""
    unknown = np.isnan(covariance.diagonal())
    known = np.where(np.isnan(covariance), 0.0, covariance)
    squares = np.maximum((change @ known @ change.T).diagonal(), 0.0)
    return np.where(change[:, unknown].any(axis=1), np.nan, np.sqrt(squares))


def _reach(found: Summary) -> float:
    """Half width of Wald intervals in standard errors; NaN for other or missing intervals."""
    with np.errstate(invalid="ignore", divide="ignore"):
        up, down = ((found.high - found.coef) / found.se, (found.coef - found.low) / found.se)
    known = np.isfinite(up) & np.isfinite(down)
    if not known.any() or not np.allclose(up[known], down[known], rtol=1e-6):
        return float("nan")
    return float(np.median(up[known]))


def _p(statistic: Array, found: Summary) -> Array:
    if found.statistic_name == "t":
        return np.asarray(2.0 * stdtr(found.stats["df"], -np.abs(statistic)))
    return np.asarray(2.0 * ndtr(-np.abs(statistic)))
