"""Residual plots: against fitted values, normal quantiles and leverage."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import ndtri

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData, InvalidParameter, NotAvailable
from hiperplano.messages import Message
from hiperplano.plot.style import GREY, Display, colour, hide_spines, should_rasterise
from hiperplano.stats.diagnose import diagnose_least_squares

PANELS = ("fitted", "quantiles", "leverage")
_NUMBERED = 3  # rows whose numbers are written beside their points
_LEVELS = (0.5, 1.0)  # levels of Cook's distance


class ResidualDisplay(Display):
    """Residuals against fitted values, standardised residuals against normal quantiles, and against leverage.

    The rows with the largest residuals, and in the last panel with the largest Cook's distances, are numbered. Make it
    with `from_estimator`, or with `from_predictions`, which knows no leverage.

    Attributes
    ----------
    fitted, residuals : ndarray of shape (n,)
        Fitted values, and targets minus fitted values.
    standardised : ndarray of shape (n,)
        Residuals over their standard errors; from predictions alone, over their standard deviation.
    leverage, cooks : ndarray of shape (n,) or None
        Diagonal of the hat matrix, and Cook's distances.
    ax_, figure_
        The panels in their order, and the figure, once drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import LinearRegression, ResidualDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 2))
    >>> y = X @ [1.0, -1.0] + rng.normal(size=50)
    >>> y[7] += 9
    >>> display = ResidualDisplay.from_estimator(LinearRegression().fit(X, y), X, y)
    >>> int(display.standardised.argmax()), len(display.ax_)
    (7, 3)
    """

    def __init__(
        self,
        *,
        fitted: Array,
        residuals: Array,
        standardised: Array,
        leverage: Array | None = None,
        cooks: Array | None = None,
    ) -> None:
        self.fitted = fitted
        self.residuals = residuals
        self.standardised = standardised
        self.leverage = leverage
        self.cooks = cooks

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Diagnose a fit, and draw.

        Parameters
        ----------
        estimator : fitted LinearRegression, Ridge or RidgeCV, or Pipeline that ends with one
            With one target. For other regressors use `from_predictions`.
        X, y : the rows of the fit
            In the order of the fit.
        sample_weight : array-like of shape (n,), optional
            As given to `fit`.
        ax : matplotlib axes, as many as there are panels, optional
            Axes to draw on; new ones by default.
        **kwargs
            For `plot`.

        Returns
        -------
        display
            With `ax_` and `figure_` once drawn.
        """
        found = diagnose_least_squares(estimator, X, y, sample_weight)
        if not np.isfinite(found.standardised).any():
            raise NotAvailable(
                "ResidualDisplay: {model} fits all {n} rows exactly, so its residuals are rounding errors. Add "
                "rows, or take columns out.",
                model=type(estimator).__name__,
                n=len(found.residuals),
            )
        fitted = np.asarray(y, dtype=np.float64).ravel() - found.residuals
        display = cls(
            fitted=fitted,
            residuals=found.residuals,
            standardised=found.standardised,
            leverage=found.leverage,
            cooks=found.cooks,
        )
        return display.plot(ax=ax, **kwargs)

    @classmethod
    def from_predictions(cls, y: Any, predicted: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the residuals of any regressor, without leverage.

        Parameters
        ----------
        y, predicted : array-like of shape (n,)
            Targets, and what was predicted for them.
        ax : matplotlib axes, as many as there are panels, optional
            Axes to draw on; new ones by default.
        **kwargs
            For `plot`.

        Returns
        -------
        display
            With `ax_` and `figure_` once drawn.
        """
        true, fitted = (np.asarray(values, dtype=np.float64) for values in (y, predicted))
        if true.ndim != 1 or true.shape != fitted.shape or len(true) < 2:
            raise InvalidData(
                "ResidualDisplay: y has shape {shape} and predicted {other}; both must be vectors of the same "
                "length, of two rows or more. Pass one target.",
                shape=true.shape,
                other=fitted.shape,
            )
        residuals = true - fitted
        if not np.isfinite(residuals).all() or not residuals.std() > 0:
            what = Message("hold NaN or infinity")
            if np.isfinite(residuals).all():
                what = Message("do not vary")
            raise InvalidData(
                "ResidualDisplay: the residuals {what}; the plot shows how finite ones spread. Check y and predicted.",
                what=what,
            )
        display = cls(fitted=fitted, residuals=residuals, standardised=residuals / residuals.std())
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, panels: Any = None, **kwargs: Any) -> Self:
        """Draw some of the panels.

        Parameters
        ----------
        ax : matplotlib axes, as many as there are panels, optional
            New ones by default.
        panels : list of {"fitted", "quantiles", "leverage"}, optional
            All that are known by default.
        **kwargs
            For matplotlib's `scatter`.

        Returns
        -------
        self : display
            With `ax_` and `figure_` set.
        """
        known = PANELS if self.leverage is not None else PANELS[:2]
        wanted = list(known) if panels is None else [panels] if isinstance(panels, str) else list(panels)
        unknown = [one for one in wanted if one not in known]
        if unknown or not wanted:
            reason = "" if self.leverage is not None else Message(" (predictions alone have no leverage)")
            raise InvalidParameter(
                "ResidualDisplay: panels={panels!r}; panels must be some of {known}{reason}. Choose among them.",
                panels=panels,
                known=", ".join(map(repr, known)),
                reason=reason,
            )
        draw = {"fitted": self._fitted, "quantiles": self._quantiles, "leverage": self._leverage}
        style = {
            "s": 14,
            "color": colour(0),
            "alpha": 0.6,
            "linewidths": 0,
            "rasterized": should_rasterise(len(self.fitted)),
        }
        for panel, name in zip(self._panels(ax, len(wanted), len(wanted), (3.9, 3.5)), wanted, strict=True):
            draw[name](panel, **style | kwargs)
            hide_spines(panel)
        return self

    def _fitted(self, ax: Any, **style: Any) -> None:
        ax.axhline(0.0, color=GREY, lw=1.0)
        ax.scatter(self.fitted, self.residuals, **style)
        self._annotate_rows(ax, self.fitted, self.residuals, np.abs(self.residuals))
        ax.set(xlabel="fitted value", ylabel="residual")

    def _quantiles(self, ax: Any, **style: Any) -> None:
        known = np.flatnonzero(np.isfinite(self.standardised))
        order = known[np.argsort(self.standardised[known], kind="stable")]
        quantiles = np.full(len(self.standardised), np.nan)
        quantiles[order] = ndtri((np.arange(len(order)) + 0.5) / len(order))
        ax.axline((0.0, 0.0), slope=1.0, color=GREY, lw=1.0)
        ax.scatter(quantiles, self.standardised, **style)
        self._annotate_rows(ax, quantiles, self.standardised, np.abs(self.standardised))
        ax.set(xlabel="normal quantile", ylabel="standardised residual")

    def _leverage(self, ax: Any, **style: Any) -> None:
        leverage, cooks = np.asarray(self.leverage), np.asarray(self.cooks)
        ax.axhline(0.0, color=GREY, lw=1.0)
        ax.scatter(leverage, self.standardised, **style)
        self._annotate_rows(ax, leverage, self.standardised, cooks)
        ax.set(xlabel="leverage", ylabel="standardised residual")
        right, (low, high) = ax.get_xlim()[1], ax.get_ylim()
        across = np.linspace(1e-3, min(right, 0.999), 200)
        for level in _LEVELS:
            border = np.sqrt(level * leverage.sum() * (1.0 - across) / across)
            inside = border <= max(-low, high)
            for sign in (1.0, -1.0):
                ax.plot(across[inside], sign * border[inside], color=colour(1), lw=1.0, ls="--")
            if inside.any() and border[-1] <= high:
                words = f"Cook {level:g}"
                ax.annotate(
                    words, (across[-1], border[-1]), ha="right", va="bottom", fontsize="x-small", color=colour(1)
                )
        ax.set(xlim=(0.0, right), ylim=(low, high))

    @staticmethod
    def _annotate_rows(ax: Any, across: Array, up: Array, size: Array) -> None:
        """Write the numbers of the rows with the largest values beside their points, neighbours on different sides."""
        spans = [np.nanmax(values) - np.nanmin(values) for values in (across, up)]
        written: list[int] = []
        for row in np.argsort(-np.nan_to_num(size), kind="stable")[:_NUMBERED]:
            to_the_left = bool(across[row] > np.nanmin(across) + spans[0] / 2)
            for other in written:
                near = abs(across[row] - across[other]) < 0.1 * spans[0] and abs(up[row] - up[other]) < 0.06 * spans[1]
                to_the_left ^= bool(near)
            written.append(int(row))
            ax.annotate(
                str(row),
                (across[row], up[row]),
                xytext=(-4 if to_the_left else 4, 0),
                textcoords="offset points",
                va="center",
                ha="right" if to_the_left else "left",
                fontsize="x-small",
            )
