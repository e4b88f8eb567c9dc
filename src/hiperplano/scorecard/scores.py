"""Predictions of a fitted scorecard: bins, points, probabilities, classes, reasons, cut-offs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, log_expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.models.base import class_chances, decided_classes
from hiperplano.scorecard.points import VariablePoints, bin_points
from hiperplano.scorecard.reasons import REFERENCES, Explanation, Reasons, explain_row, find_reasons
from hiperplano.scorecard.rounding import RoundingEffect, rounding_effect
from hiperplano.scorecard.rows import first_values, look_up, one_row
from hiperplano.scorecard.scaling import PointScale
from hiperplano.scorecard.strategy import Strategy


class ScorecardScores(ClassifierMixin, BaseEstimator):
    """Mixin with the methods of a fitted scorecard that evaluate rows."""

    encoder_: Any
    model_: Any
    classes_: Array
    variables_: list[str]
    base_points_: float
    event_: Any
    nonevent_: Any
    round_points: bool
    intercept_points: str

    @by_rows
    def decision_function(self, X: Any) -> Array:
        """Log-odds of the second class of `classes_`, from exact coefficients.

        Parameters
        ----------
        X : table or array of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,)
            Positive if the second class is more likely.
        """
        return self.event_log_odds(X) * (1.0 if self.event_ == self.classes_[1] else -1.0)

    def event_log_odds(self, X: Any) -> Array:
        """Log-odds of the event.

        Parameters
        ----------
        X : table or array of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,)
            intercept + Σ coefficient·WoE.
        """
        check_is_fitted(self)
        coef, intercept = self.model_.coef_[0], float(self.model_.intercept_[0])
        return np.asarray(look_up(self.encoder_, X, [self._woe(name) for name in self.variables_]) @ coef + intercept)

    def event_probability(self, X: Any) -> Array:
        """Probability of the event.

        Parameters
        ----------
        X : table or array of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,)
            Probabilities from exact coefficients, even if points are rounded.
        """
        return np.asarray(expit(self.event_log_odds(X)))

    @by_rows
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes.

        Parameters
        ----------
        X : table or array of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n, 2)
            Probabilities, in the order of `classes_`.
        """
        return class_chances(self.decision_function(X))

    @by_rows
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities.

        Parameters
        ----------
        X : table or array of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n, 2)
            Logarithms of probabilities, in the order of `classes_`.
        """
        scores = self.decision_function(X)
        return np.stack([log_expit(-scores), log_expit(scores)], axis=1)

    @by_rows
    def predict(self, X: Any) -> Array:
        """The more likely class; for a cut-off on the score see `strategy`.

        Parameters
        ----------
        X : table or array of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        which = decided_classes(self.decision_function(X))
        return np.asarray(self.classes_[which])

    def score_points(self, X: Any) -> Array:
        """The score: the sum of the points of each row's bins.

        Parameters
        ----------
        X : table or array of shape (n, d)
            Rows to score.

        Returns
        -------
        ndarray of shape (n,)
            Scores; larger if the event is less likely.
        """
        points = [each.points for each in self.variable_points()]
        return np.asarray(look_up(self.encoder_, X, points).sum(axis=1) + self.base_points_)

    def bin_codes(self, X: Any) -> Array:
        """The number of each row's bin, for each variable with points.

        Parameters
        ----------
        X : table or array of shape (n, d)
            Rows to look up.

        Returns
        -------
        ndarray of int of shape (n, variables)
            Bins are numbered as in `points`.
        """
        check_is_fitted(self)
        sizes = [self.encoder_.binnings_[name].bins_.n_bins for name in self.variables_]
        return look_up(self.encoder_, X, [np.arange(size, dtype=np.float64) for size in sizes]).astype(np.intp)

    def variable_points(self) -> tuple[VariablePoints, ...]:
        """The bins and points of each variable, as arrays.

        Returns
        -------
        tuple of VariablePoints
            In the order of `variables_`.
        """
        check_is_fitted(self)
        scale, spread = PointScale.of(self), self.intercept_points == "spread"
        intercept, found = float(self.model_.intercept_[0]), []
        for name, coef in zip(self.variables_, self.model_.coef_[0].tolist(), strict=True):
            binning = self.encoder_.binnings_[name]
            table, woe = binning.table(), self._woe(name)
            exact, points = bin_points(
                woe, coef, intercept, len(self.variables_), scale, spread, bool(self.round_points)
            )
            labels = tuple(table.labels)
            found.append(
                VariablePoints(
                    name, labels, binning.bins_.n_regular, table["count"], table["events"], woe, coef, exact, points
                )
            )
        return tuple(found)

    def is_event(self, y: Any) -> Array:
        """Whether labels are the event.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels of the two classes.

        Returns
        -------
        ndarray of bool of shape (n,)
            True for the event.
        """
        check_is_fitted(self)
        labels = np.asarray(y).ravel()
        event = labels == self.event_
        other = np.flatnonzero(~(event | (labels == self.nonevent_)))
        if len(other):
            raise InvalidTarget(
                "y holds {label!r} (row {row}); the scorecard knows {event!r} and {nonevent!r}. Leave such rows out.",
                label=labels.tolist()[other[0]],
                row=int(other[0]),
                event=self.event_,
                nonevent=self.nonevent_,
            )
        return np.asarray(event)

    def reasons(self, X: Any, k: int = 3, *, against: str = "best") -> Reasons:
        """The variables in which each applicant lost the most points.

        Parameters
        ----------
        X : table or array of shape (n, d)
            Applicants.
        k : int, default=3
            Number of reasons.
        against : {"best", "average"}, default="best"
            Points are lost against the best bin of a variable, or against its mean over the training rows.

        Returns
        -------
        Reasons
            Arrays of shape (n, k); fewer columns if there are fewer variables.
        """
        count = int(check_number("reasons", "k", k, 1, np.inf))
        if against not in REFERENCES:
            raise InvalidParameter(
                "reasons: against={against!r}; against must be 'best' or 'average'. Choose one of them.",
                against=against,
            )
        return find_reasons(self.variable_points(), self.bin_codes(X), count, against)

    def explain(self, row: Any) -> Explanation:
        """The score of one applicant as a sum over the variables, the largest loss of points first.

        Parameters
        ----------
        row : table of one row, mapping from names to values, or array of shape (d,)
            The applicant.

        Returns
        -------
        Explanation
            A table with `score` and `probability`.
        """
        check_is_fitted(self)
        X = one_row(self, row)
        values = first_values(self.encoder_, X, self.variables_)
        probability = float(self.event_probability(X)[0])
        return explain_row(self.variable_points(), self.bin_codes(X)[0], values, self.base_points_, probability)

    def strategy(
        self, X: Any, y: Any, sample_weight: Any = None, *, gain: float | None = None, loss: float | None = None
    ) -> Strategy:
        """The effect of every cut-off of the score, on rows with known outcomes.

        Parameters
        ----------
        X : table or array of shape (n, d)
            Applicants, preferably not those of the fit.
        y : array-like of shape (n,)
            Their outcomes.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        gain, loss : float, optional
            Gain of an approved non-event, and loss of an approved event.

        Returns
        -------
        Strategy
            Cut-offs by profit, approval rate or event rate, and a band to refer.
        """
        return Strategy.of(self.is_event(y), self.score_points(X), sample_weight, gain, loss)

    def rounding_effect(self, X: Any, y: Any = None) -> RoundingEffect:
        """The effect of rounded points on the ranking of rows.

        Parameters
        ----------
        X : table or array of shape (n, d)
            Applicants.
        y : array-like of shape (n,), optional
            Their outcomes, for KS and AUC.

        Returns
        -------
        RoundingEffect
            Pairs that change order, KS and AUC before and after.
        """
        exact, rounded = PointScale.of(self).points(self.event_log_odds(X)), self.score_points(X)
        return rounding_effect(exact, rounded, None if y is None else self.is_event(y))

    def _woe(self, name: str) -> Array:
        """WoE of the bins of a variable."""
        return np.asarray(self.encoder_.binnings_[name].woe_)
