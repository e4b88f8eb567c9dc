"""The scorecard: bins, weights of evidence, logistic regression, points."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array, Design
from hiperplano.data.labels import encode_labels
from hiperplano.data.parameters import check_number, flag, number, one_of
from hiperplano.data.validate import check_weight, wrap
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget, SeparationWarning
from hiperplano.features.binning.encoder import WoEEncoder
from hiperplano.features.binning.optimal import refuse_second_target
from hiperplano.features.scanning.scan import as_they_are
from hiperplano.messages import Message
from hiperplano.models.base import all_or_nothing
from hiperplano.models.logistic import LogisticRegression
from hiperplano.scorecard.bootstrap import Bootstrap, bootstrap
from hiperplano.scorecard.fitting.encoded_rows import IsEvent, Scored, checked_labels, developed, encoded_rows, signs
from hiperplano.scorecard.fitting.warnings import strongest, warn_of_no_choice, warn_of_separation
from hiperplano.scorecard.monitoring.development import Development
from hiperplano.scorecard.points import points_table
from hiperplano.scorecard.scaling import PointScale
from hiperplano.scorecard.scores import ScorecardScores
from hiperplano.scorecard.stepwise import CRITERIA, DIRECTIONS, Selection, SelectionStep, steps_table
from hiperplano.scorecard.table import Table
from hiperplano.stats.logistic.odds import OddsSummary
from hiperplano.stats.summary import fact

_BASE = ("spread", "separate")
_SIGN = -1  # sign of a coefficient that agrees with the WoE: more evidence of non-events lowers the odds of the event


class Scorecard(ScorecardScores):
    """Points for the bins of each variable, whose sum ranks applicants by the odds of an event.

    Columns are cut into bins, bins become their weights of evidence, ln(share of non-events / share of events), and
    logistic regression on these gives the log-odds of the event, a + Σ bⱼ·WoEⱼ. The score is offset − factor·log-odds
    with factor = pdo/ln 2 and offset = base_score − factor·ln base_odds, so a bin has −factor·bⱼ·WoE points, and
    all variables share the base points offset − factor·a.

    Parameters
    ----------
    pdo : float, default=20
        Points that double the odds of a non-event.
    base_score, base_odds : float, default=600 and 50
        The score at which there are `base_odds` non-events for one event.
    event : label, optional
        The class to avoid, such as a default on a loan; by default the second class in sorted order.
    encoder : WoEEncoder, optional
        Encoder that bins the columns; it is cloned and refitted.
    C : float, default=inf
        Inverse strength of the penalty of the logistic regression; `np.inf` for plain maximum likelihood.
    positive : bool, default=False
        Whether points must follow the weight of evidence: a variable whose coefficient would have the opposite sign
        gets no points. If False, such variables are listed in `against_woe_`.
    selection : {"forward", "backward", "stepwise"}, optional
        Choice of variables step by step, recorded in `steps_`; all of them by default.
    criterion : {"aic", "bic", "p_value"}, default="aic"
        Criterion for each step.
    p_enter, p_remove : float, default=0.05
        For criterion="p_value": a variable enters below the first and is removed above the second.
    round_points : bool, default=True
        Whether points are whole numbers. Probabilities are never rounded.
    intercept_points : {"spread", "separate"}, default="spread"
        Whether the base points are distributed equally over the variables, or kept separate in `base_points_`.

    Attributes
    ----------
    encoder_ : WoEEncoder
        The fitted encoder.
    model_ : LogisticRegression
        Model fitted to the WoE of `variables_`; its second class is the event.
    variables_ : list of str
        Variables with points.
    base_points_ : float
        Points that every row gets; 0 if they are spread over the variables.
    against_woe_ : list of str
        Variables whose coefficient contradicts their WoE, so that bins with more events earn more points. They usually
        duplicate the information of other variables.
    steps_ : list of SelectionStep
        The steps of the selection.
    development_ : Development
        The score on the rows of the fit, for `monitor`.
    event_, nonevent_ : label
        The two classes.
    classes_ : ndarray of shape (2,)
        Labels of the classes, sorted.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the rows have them.

    References
    ----------
    N. Siddiqi (2006), Credit Risk Scorecards, Wiley.

    Examples
    --------
    >>> from hiperplano import Scorecard, load_credit_default
    >>> X, y = load_credit_default(return_X_y=True)
    >>> card = Scorecard(event="yes").fit(X[["age", "debt", "housing", "late_payments"]], y)
    >>> card.variables_
    ['age', 'debt', 'housing', 'late_payments']
    """

    steps_: list[SelectionStep]
    development_: Development
    against_woe_: list[str]
    feature_names_in_: Array

    def __init__(
        self,
        *,
        pdo: float = 20,
        base_score: float = 600,
        base_odds: float = 50,
        event: Any = None,
        encoder: Any = None,
        C: float = np.inf,
        positive: bool = False,
        selection: str | None = None,
        criterion: str = "aic",
        p_enter: float = 0.05,
        p_remove: float = 0.05,
        round_points: bool = True,
        intercept_points: str = "spread",
    ) -> None:
        self.pdo = pdo
        self.base_score = base_score
        self.base_odds = base_odds
        self.event = event
        self.encoder = encoder
        self.C = C
        self.positive = positive
        self.selection = selection
        self.criterion = criterion
        self.p_enter = p_enter
        self.p_remove = p_remove
        self.round_points = round_points
        self.intercept_points = intercept_points

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Bin the columns, choose variables, and fit their coefficients.

        Parameters
        ----------
        X : table or array of shape (n, d), or Design
            Numbers, dates or categories; values may be missing. A design has columns of numbers.
        y : array-like of shape (n,)
            Two classes. Not with a design, which contains its own.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice.

        Returns
        -------
        self : Scorecard
            The fitted scorecard.
        """
        scale = PointScale.of(self)
        base = one_of(self, "intercept_points", _BASE)
        rounded = flag(self, "round_points")
        X, event, weight = self._events(X, y, sample_weight)
        encoder = WoEEncoder() if self.encoder is None else clone(self.encoder)
        self.encoder_ = encoder.set_params(dtype=np.float64).fit(X, event, sample_weight=weight)
        self._take_columns_of(self.encoder_)
        rows = encoded_rows(self.encoder_, X, event, weight)
        names = self.encoder_.get_feature_names_out().tolist()
        chosen = self._choose(rows, names)
        nothing = not chosen.any()
        if nothing:
            chosen[names.index(strongest(self.encoder_, names))] = True
        self.variables_ = [name for name, kept in zip(names, chosen.tolist(), strict=True) if kept]
        if nothing:
            warn_of_no_choice(self, len(names))
        self._restrict_encoder()
        if nothing or not chosen.all():
            rows = encoded_rows(self.encoder_, X, event, weight, flat=nothing)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeparationWarning)  # its message would name x0 and x1
            self.model_ = LogisticRegression(C=self.C).fit(rows)
        if self.model_.solution_.unbounded:
            warn_of_separation(self)
        coef, intercept = self.model_.coef_[0], float(self.model_.intercept_[0])
        self.against_woe_ = [name for name, b in zip(self.variables_, coef.tolist(), strict=True) if b * _SIGN < 0]
        self.base_points_ = 0.0
        if base == "separate":
            alone = float(scale.points(intercept))
            self.base_points_ = float(np.rint(alone)) if rounded else alone
        self.development_ = developed(
            rows, Scored(coef, intercept, self.base_points_, scale, base == "spread", rounded)
        )
        return self

    _cluster_of = staticmethod(WoEEncoder._cluster_of)

    def _events(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array | None, Array | None]:
        """Record the classes. Return the rows, which of them are events, and their weights; a design holds both."""
        if isinstance(X, Design):
            refuse_second_target(y, sample_weight)
            X = as_they_are(X)
            self._code_classes(X.weighted_rows())
            return X.with_vectors(y=X.map(IsEvent(self.event_))), None, None
        y = checked_labels(self, y)
        if not len(y):
            raise InvalidData("Found array with 0 sample(s): y is empty; a scorecard needs rows. Check the table.")
        weight = check_weight(sample_weight, len(y))
        self._code_classes(wrap(np.zeros((len(y), 1)), y, weight).weighted_rows())
        return X, np.asarray(y == self.event_, dtype=np.int64), weight

    def _restrict_encoder(self) -> None:
        """Restrict the encoder to the selected variables, and record why others are left out."""
        encoder, chosen = self.encoder_, set(self.variables_)
        for name in encoder.get_feature_names_out().tolist():
            if name not in chosen:
                binning = encoder.binnings_[name]
                not_chosen = Message("not chosen as a variable of the scorecard")
                encoder.reasons_[name] = not_chosen if _varies(binning) else binning.status_
        encoder.support_ = np.array([name in chosen for name in encoder.binnings_])

    @property
    def estimator_(self) -> Pipeline:
        """Pipeline for the log-odds of the event: WoE of the selected variables, then logistic regression."""
        check_is_fitted(self, "model_")
        return Pipeline([("woe", self.encoder_), ("model", self.model_)])

    def _code_classes(self, rows: Design) -> None:
        """Record the classes, and which one is the event."""
        classes, _ = encode_labels(rows)
        if len(classes) > 2:
            raise InvalidTarget(
                "Only binary classification is supported. The type of the target is multiclass: y holds {n} classes, "
                "and a scorecard weighs an event against all else. Pass y == the event.",
                n=len(classes),
            )
        labels = classes.tolist()
        if self.event is not None and self.event not in labels:
            raise InvalidParameter(
                "Scorecard: event={event!r}; event must be one of the classes {first!r} and {second!r}. Set one of "
                "them.",
                event=self.event,
                first=labels[0],
                second=labels[1],
            )
        self.classes_ = classes
        at = 1 if self.event is None else labels.index(self.event)
        self.event_, self.nonevent_ = classes[at], classes[1 - at]

    def _take_columns_of(self, encoder: Any) -> None:
        """Take over the input columns of the encoder."""
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_features_in_ = encoder.n_features_in_
        if hasattr(encoder, "feature_names_in_"):
            self.feature_names_in_ = encoder.feature_names_in_

    def _choose(self, rows: Design, names: list[str]) -> Array:
        """Mask of the variables that get points, of shape (d,)."""
        one_of(self, "criterion", CRITERIA)
        entry, exit_ = (number(self, name, low=0.0, high=1.0) for name in ("p_enter", "p_remove"))
        positive, self.steps_ = flag(self, "positive"), []
        varies = np.array([_varies(self.encoder_.binnings_[name]) for name in names])
        if not varies.any():
            return np.ones(len(names), dtype=bool)  # all coefficients are 0
        if self.selection is None and not positive:
            return varies
        signed = rows.with_vectors(y=rows.map(signs))
        selection = Selection(signed, names, self.criterion, entry, exit_, _SIGN if positive else None)
        chosen = varies if self.selection is None else selection.run(one_of(self, "selection", DIRECTIONS), varies)
        if positive:
            chosen = selection.keep_one_sign(chosen, _SIGN)
        self.steps_ = selection.steps
        return chosen

    def points(self) -> Table:
        """The scorecard: points of each bin of each variable.

        Returns
        -------
        Table
            Columns variable, bin, count, share, event_rate, woe, coef and points; the first row holds the base points
            if they are separate.
        """
        variables = self.variable_points()
        event, other = (np.asarray(label).tolist() for label in (self.event_, self.nonevent_))
        labels = (event, other) if self.event is None else (event,)
        table = points_table(variables, self.base_points_, bool(self.round_points), *labels)
        return replace(table, notes=(*table.notes, *self._sign_notes()))

    def selection_table(self) -> Table:
        """The steps of the selection of variables.

        Returns
        -------
        Table
            Empty if there was no selection.
        """
        check_is_fitted(self)
        return steps_table(self.steps_)

    def summary(self, level: float = 0.95) -> OddsSummary:
        """Coefficients of the WoE with standard errors that treat bins and variables as given.

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals.

        Returns
        -------
        OddsSummary
            The summary, with a note on this limitation; the intervals of `bootstrap` do not have it.
        """
        check_is_fitted(self)
        found = self.model_.summary(level)
        chosen = Message("bins and variables") if self.steps_ else Message("bins")
        note = Message(
            "{what} were chosen on the same rows; standard errors and p-values do not take that into account, and are "
            "too small. bootstrap(X, y) repeats the choice.",
            what=chosen,
        )
        return replace(
            found,
            title=Message("Scorecard: {n} rows, coefficients of the WoE", n=fact(self.model_.solution_.total)),
            names=["intercept", *self.variables_],
            notes=(*found.notes, note, *self._sign_notes()),
        )

    def bootstrap(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        n_resamples: int = 200,
        level: float = 0.95,
        random_state: Any = None,
    ) -> Bootstrap:
        """Repeat binning, selection and fit on resampled rows: intervals that include all three, and the optimism.

        Parameters
        ----------
        X : table or array of shape (n, d)
            The rows of the fit.
        y : array-like of shape (n,)
            Their outcomes.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        n_resamples : int, default=200
            Number of resamples.
        level : float, default=0.95
            Level of the intervals.
        random_state : int, RandomState or None
            Seed of the resampling.

        Returns
        -------
        Bootstrap
            Tables of coefficients, points and measures.
        """
        event = self.is_event(y)
        weight = check_weight(sample_weight, len(event))
        count = int(check_number("bootstrap", "n_resamples", n_resamples, 2, np.inf))
        return bootstrap(self, X, event, weight, count, level, random_state)

    def _sign_notes(self) -> list[Message]:
        if not self.against_woe_:
            return []
        return [
            Message(
                "against their WoE: {names}. In these, bins with more events earn more points, mostly because other "
                "variables say the same. Leave them out, or set positive=True.",
                names=", ".join(self.against_woe_),
            )
        ]


def _varies(binning: Any) -> bool:
    """Whether rows differ in the WoE of a variable."""
    woe = binning.woe_[binning.sums_.sum(axis=1) > 0]
    return bool(woe.min() < woe.max())
