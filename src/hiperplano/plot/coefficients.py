"""Plot of coefficients with their intervals."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData, InvalidParameter, NotAvailable
from hiperplano.plot.style import GREY, Display, colour, hide_spines, legend_above
from hiperplano.stats.summary import Summary


class CoefficientDisplay(Display):
    """Coefficients, the largest first, with confidence intervals where the model has a `summary()` that gives them.

    The intercept is not drawn. Make it with `from_estimator`.

    Attributes
    ----------
    names : list of str
        Of the columns.
    coef : ndarray of shape (blocks, d)
        One row for each target, or class.
    low, high : ndarray of shape (blocks, d) or None
        Ends of the confidence intervals; NaN where there is none.
    level : float
        Level of the intervals.
    blocks : list of str
        Names of the rows of `coef`; empty for a single one.
    scaled : bool
        Whether coefficients are those of columns at unit standard deviation.
    note : str
        Why there are no intervals, if there are none.
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    >>> from hiperplano import CoefficientDisplay, LinearRegression, load_credit_line
    >>> X, y = load_credit_line(as_frame=True, return_X_y=True)
    >>> display = CoefficientDisplay.from_estimator(LinearRegression().fit(X, y), X)
    >>> display.names[display.coef[0].argmax()]
    'income'
    >>> bool((display.low < display.coef).all() and (display.coef < display.high).all())
    True
    """

    def __init__(
        self,
        *,
        names: list[str],
        coef: Array,
        low: Array | None = None,
        high: Array | None = None,
        level: float = 0.95,
        blocks: list[str] | None = None,
        scaled: bool = False,
        note: str = "",
    ) -> None:
        self.names = names
        self.coef = coef
        self.low = low
        self.high = high
        self.level = level
        self.blocks = [] if blocks is None else blocks
        self.scaled = scaled
        self.note = note

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        level: float = 0.95,
        feature_names: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the coefficients of a fitted linear model.

        Parameters
        ----------
        estimator : fitted linear model, or a pipeline that ends with one
            A model of hiperplano or scikit-learn with `coef_`.
        X : array-like or table of shape (n, d), optional
            If given, coefficients are multiplied by the standard deviations of its columns: effects of columns
            of different units can then be compared.
        level : float, default=0.95
            Level of the confidence intervals.
        feature_names : list of str, optional
            Names of the columns; those of the fit by default.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs
            For `plot`.

        Returns
        -------
        display
            With `ax_` and `figure_` once drawn.
        """
        check_is_fitted(estimator)
        rows = X
        if isinstance(estimator, Pipeline):
            before, estimator = estimator[:-1], estimator[-1]
            rows = X if X is None or not len(before) else before.transform(X)
            if feature_names is None and len(before) and not hasattr(estimator, "feature_names_in_"):
                feature_names = _names_out(before)
        if not hasattr(estimator, "coef_"):
            raise NotAvailable(
                "CoefficientDisplay: {model} has no coef_; only linear models have coefficients. Pass a linear "
                "model, or a pipeline that ends with one.",
                model=type(estimator).__name__,
            )
        found = _with_intervals(estimator, level)
        names = _names(estimator, feature_names, found["coef"].shape[1])
        if rows is not None:
            spread = _spread(rows, len(names))
            for key in ("coef", "low", "high"):
                found[key] = None if found[key] is None else found[key] * spread
        return cls(names=names, level=level, scaled=rows is not None, **found).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, most: int = 25, odds: bool = False, **kwargs: Any) -> Self:
        """Draw a dot for each coefficient and a line for its interval.

        Parameters
        ----------
        ax : matplotlib axes, optional
            New ones by default.
        most : int, default=25
            Number of columns to draw, those with the largest coefficients.
        odds : bool, default=False
            Draw exp(coefficient), the odds ratio of a logistic model, on a logarithmic axis.
        **kwargs
            For matplotlib's `errorbar`.

        Returns
        -------
        self : display
            With `ax_` and `figure_` set.
        """
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
            raise InvalidParameter(
                "CoefficientDisplay: most={most!r}; most must be a whole number of 1 or more. Set it so.", most=most
            )
        order = np.argsort(-np.abs(self.coef).max(axis=0), kind="stable")[:most]
        ax = self._axes(ax, (6.4, max(2.2, 0.9 + 0.28 * len(order) * max(1.0, 0.5 * len(self.coef)))))
        height = -np.arange(len(order), dtype=float)
        shift = np.linspace(0.25, -0.25, len(self.coef)) if len(self.coef) > 1 else np.zeros(1)
        ax.axvline(1.0 if odds else 0.0, color=GREY, lw=1.0, zorder=0)
        for number in range(len(self.coef)):
            label = self.blocks[number] if self.blocks else None
            style = {"color": colour(number), "fmt": "o", "ms": 5, "lw": 1.8, "label": label} | kwargs
            middle, ends = self._drawn(number, order, odds)
            ax.errorbar(middle, height + shift[number], xerr=ends, **style)
        ax.set_yticks(height, [self.names[column] for column in order])
        ax.set_ylim(height[-1] - 0.6, 0.6)
        if odds:
            _format_log_axis(ax)
        ax.set_xlabel(self._axis_label(odds, len(order)))
        hide_spines(ax)
        if self.blocks:
            legend_above(ax)
        return self

    def _drawn(self, number: int, order: Array, odds: bool) -> tuple[Array, Array | None]:
        """Positions of the dots, and lengths of their lines on both sides."""
        turn = np.exp if odds else np.asarray
        middle = turn(self.coef[number, order])
        if self.low is None or self.high is None:
            return middle, None
        ends = np.stack([middle - turn(self.low[number, order]), turn(self.high[number, order]) - middle])
        return middle, np.nan_to_num(ends)

    def _axis_label(self, odds: bool, drawn: int) -> str:
        what = "odds ratio" if odds else "coefficient"
        per = " per standard deviation of the column" if self.scaled else ""
        left_out = len(self.names) - drawn
        remarks = [f"with {100 * self.level:g}% intervals"] if self.low is not None else []
        remarks += [self.note] if self.note else []
        remarks += [f"{left_out} smaller ones not drawn"] if left_out else []
        return f"{what}{per}" + (f"\n({'; '.join(remarks)})" if remarks else "")


def _format_log_axis(ax: Any) -> None:
    """A logarithmic axis with labels such as 0.5, 1, 2."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    steps = (1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 7.0) if high < 8 * low else (1.0, 2.0, 5.0) if high < 500 * low else (1.0,)
    ax.xaxis.set_major_locator(LogLocator(subs=steps))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())


def _with_intervals(model: Any, level: float) -> dict[str, Any]:
    """Coefficients and intervals of a model's summary; without one, only its coefficients."""
    found, note = None, ""
    if hasattr(model, "summary"):
        try:
            found = model.summary(level=level)
        except NotAvailable:
            note = "no intervals: see summary()"
    if isinstance(found, Summary):
        first = int(found.names[:1] == ["intercept"])
        coef, low, high = (np.atleast_2d(part)[:, first:] for part in (found.coef, found.low, found.high))
        if np.isfinite(low).any():
            return {"coef": coef, "low": low, "high": high, "blocks": list(found.blocks), "note": ""}
        note = "no intervals: see summary()"
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    classes = getattr(model, "classes_", None)
    named = classes is not None and len(classes) == len(coef)
    blocks = [str(one) for one in classes] if named else [f"target {k}" for k in range(len(coef))]  # type: ignore[union-attr]
    return {"coef": coef, "low": None, "high": None, "blocks": blocks if len(coef) > 1 else [], "note": note}


def _names(model: Any, given: Any, count: int) -> list[str]:
    names = given if given is not None else getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(count)]
    if len(names) != count:
        raise InvalidParameter(
            "CoefficientDisplay: feature_names holds {n_names} names for {count} coefficients; each needs one. "
            "Pass the names of the model's columns in their order.",
            n_names=len(names),
            count=count,
        )
    return [str(name) for name in names]


def _names_out(steps: Any) -> Any:
    """The names of the columns that reach the last step; None if a previous step does not provide them."""
    try:
        return steps.get_feature_names_out()
    except (AttributeError, ValueError):
        return None


def _spread(rows: Any, count: int) -> Array:
    """The standard deviations of the columns."""
    dense = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
    if dense.ndim != 2 or dense.shape[1] != count:
        raise InvalidData(
            "CoefficientDisplay: X has shape {shape} and the model {count} coefficients; X must have the columns "
            "of the fit. Pass rows of the fit, or leave X out.",
            shape=dense.shape,
            count=count,
        )
    return np.asarray(dense.std(axis=0))
