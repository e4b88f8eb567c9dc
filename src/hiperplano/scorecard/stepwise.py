"""Stepwise selection of variables: forward, backward or both, by an information criterion or by p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from hiperplano.data.design import Array, Design
from hiperplano.errors import InvalidParameter
from hiperplano.messages import Message
from hiperplano.scorecard.table import Table
from hiperplano.solvers.likelihood.subsets import SubsetFit, Subsets

_EQUAL = 1e-9  # relative differences of statistics up to this are rounding errors

DIRECTIONS = ("forward", "backward", "stepwise")
CRITERIA = ("aic", "bic", "p_value")


@dataclass(frozen=True)
class SelectionStep:
    """One step of a selection.

    Attributes
    ----------
    action : str
        "start", "entered", "removed", or "wrong sign" for a variable removed because of its sign.
    variable : str
        Empty at the start.
    statistic, p : float
        Rao's score test of a variable that entered, Wald's of one that was removed, with one degree of freedom.
    deviance, aic, bic : float
        Fit measures of the model after the step.
    n_variables : int
        Number of variables after the step.
    """

    action: str
    variable: str
    statistic: float
    p: float
    deviance: float
    aic: float
    bic: float
    n_variables: int


def steps_table(steps: Sequence[SelectionStep]) -> Table:
    """The steps of a selection as a table."""
    actions = {
        "start": Message("start"),
        "entered": Message("entered"),
        "removed": Message("removed"),
        "wrong sign": Message("wrong sign"),
    }
    tests = {"entered": Message("score test"), "removed": Message("Wald")}
    columns: dict[str, list[object]] = {
        "step": list(range(len(steps))),
        "action": [actions[each.action] for each in steps],
        "variable": [each.variable for each in steps],
        "test": [tests.get(each.action, "") for each in steps],
        "statistic": [each.statistic for each in steps],
        "p": [each.p for each in steps],
        "aic": [each.aic for each in steps],
        "bic": [each.bic for each in steps],
        "variables": [each.n_variables for each in steps],
    }
    return Table(Message("Selection of variables"), columns)


class Selection:
    """A stepwise selection in progress.

    The candidate to enter is the variable with the largest score statistic, and the candidate to remove the one with
    the smallest Wald statistic. Whether the step is made depends on the criterion of the refitted model, or on the
    p-value of the test.

    Parameters
    ----------
    design : Design
        Columns of WoE; target −1 and +1.
    names : sequence of str
        Names of the columns.
    criterion : {"aic", "bic", "p_value"}
    p_enter, p_remove : float
        A variable enters with a p-value below the first, and is removed with one above the second.
    sign : {1, −1} or None
        If not None, no variable enters whose coefficient would have the opposite sign.
    """

    def __init__(
        self,
        design: Design,
        names: Sequence[str],
        criterion: str,
        p_enter: float,
        p_remove: float,
        sign: int | None = None,
    ) -> None:
        self.subsets = Subsets(design)
        self.total, self.names, self.criterion = design.total_weight, list(names), criterion
        self.p_enter, self.p_remove, self.sign = p_enter, p_remove, sign
        self.steps: list[SelectionStep] = []

    def run(self, direction: str, varies: Array) -> Array:
        """Run the selection; return a mask of the selected columns, of shape (d,).

        Parameters
        ----------
        direction : {"forward", "backward", "stepwise"}
            "stepwise" starts without variables, and tries to remove one after each that entered.
        varies : ndarray of bool of shape (d,)
            The columns to choose from.
        """
        if self.criterion == "p_value" and direction == "stepwise" and self.p_enter > self.p_remove:
            raise InvalidParameter(
                "Scorecard: p_enter={p_enter:g} lies above p_remove={p_remove:g}; a variable that enters would be "
                "removed again without end. Set p_remove to p_enter or more.",
                p_enter=self.p_enter,
                p_remove=self.p_remove,
            )
        backward = direction == "backward"
        fit = self.subsets.fit(varies & backward)
        self._record("start", None, fit, np.nan)
        while True:
            after = self._remove(fit) if backward else self._enter(fit)
            if after is None:
                return fit.columns
            fit = after
            while direction == "stepwise" and (after := self._remove(fit)) is not None:
                fit = after

    def keep_one_sign(self, columns: Array, sign: int) -> Array:
        """Mask of the columns that keep a coefficient if all must have one sign.

        Removed columns are recorded as steps.
        """
        kept = self.subsets.of_one_sign(columns, sign)
        fit = self.subsets.fit(kept)
        for j in np.flatnonzero(columns & ~kept).tolist():
            self._record("wrong sign", j, fit, np.nan)
        return kept

    def _enter(self, fit: SubsetFit) -> SubsetFit | None:
        """The fit with one more variable, or None if none improves it."""
        gain = np.nan_to_num(fit.score, nan=-1.0)
        if self.sign is not None:  # the loss must decrease as the coefficient grows in the required direction
            gain[np.sign(fit.slope) == self.sign] = -1.0
        largest = float(gain.max(initial=0.0))
        if largest <= 0.0:
            return None
        j = int((gain >= (1.0 - _EQUAL) * largest).argmax())  # the first of equivalent columns
        return self._tried(fit, j, "entered", float(gain[j]))

    def _remove(self, fit: SubsetFit) -> SubsetFit | None:
        """The fit with one variable fewer, or None if each is needed."""
        if not fit.columns.any():
            return None
        j = int(np.nanargmin(fit.wald))
        return self._tried(fit, j, "removed", float(fit.wald[j]))

    def _tried(self, fit: SubsetFit, j: int, action: str, statistic: float) -> SubsetFit | None:
        p = float(chdtrc(1, statistic))
        if self.criterion == "p_value" and (p >= self.p_enter if action == "entered" else p <= self.p_remove):
            return None
        columns = fit.columns.copy()
        columns[j] = action == "entered"
        after = self.subsets.fit(columns, fit)
        if self.criterion != "p_value" and self._value(after) >= self._value(fit):
            return None
        self._record(action, j, after, statistic)
        return after

    def _value(self, fit: SubsetFit) -> float:
        """The information criterion of a model."""
        price = 2.0 if self.criterion == "aic" else float(np.log(self.total))
        return fit.deviance + price * (1 + int(fit.columns.sum()))

    def _record(self, action: str, j: int | None, fit: SubsetFit, statistic: float) -> None:
        size = 1 + int(fit.columns.sum())
        self.steps.append(
            SelectionStep(
                action,
                "" if j is None else self.names[j],
                statistic,
                float(chdtrc(1, statistic)) if statistic >= 0 else np.nan,
                fit.deviance,
                fit.deviance + 2.0 * size,
                fit.deviance + float(np.log(self.total)) * size,
                size - 1,
            )
        )
