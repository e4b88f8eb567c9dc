"""Optimal binning of one column."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.cluster import is_dask
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array, Design
from hiperplano.data.parameters import number, one_of, whole
from hiperplano.errors import InvalidData, InvalidParameter, NotAvailable
from hiperplano.features.binning.bins import CategoryBins
from hiperplano.features.binning.columns import check_kind, read_column
from hiperplano.features.binning.editing import merged, split
from hiperplano.features.binning.evidence import information, weight_of_evidence
from hiperplano.features.binning.learning import Learned, learn_columns, learn_design
from hiperplano.features.binning.prebinning.target import TARGETS, Target, target_rows, target_vectors
from hiperplano.features.binning.reading import as_array, one_column
from hiperplano.features.binning.search.partition import CRITERIA, TRENDS
from hiperplano.features.binning.table import BinTable, binary_table, class_table, mean_table
from hiperplano.features.scanning.scan import as_they_are
from hiperplano.messages import Message


class OptimalBinning(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Bin one column optimally for a target, subject to limits on the bins.

    The column is first cut into pre-bins (quantiles, or the leaves of a tree). Then dynamic programming finds, exactly,
    the best way to join neighbouring pre-bins: no partition of them that satisfies the limits has a larger information
    value (or KS, or a smaller impurity). Categories are ordered by event rate and joined in the same way. Special codes
    and missing values have their own bins.

    WoE = ln(share of non-events / share of events); IV = Σ (share of non-events − share of events)·WoE. The second of
    two classes in sorted order is the event.

    Parameters
    ----------
    criterion : {"auto", "iv", "ks", "gini", "log_loss", "squared_error"}, default="auto"
        Criterion to maximise (information value or KS) or to minimise (Gini impurity and log loss for classes, squared
        error for numbers). "auto" is "iv" for classes and "squared_error" for numbers.
    kind : {"auto", "numeric", "date", "categorical"}, default="auto"
        Kind of the column; "auto" uses its type.
    target : {"auto", "binary", "multiclass", "continuous"}, default="auto"
        Kind of y. "auto" treats non-integers, or more than 20 distinct numbers, as continuous.
    max_bins : int, default=10
        Largest number of intervals, or of groups of categories.
    min_bin_size : float or int, default=0.05
        Least weight of a bin: a share of all rows if it is below 1, otherwise a number of rows.
    min_events, min_nonevents : float, default=0
        Least weight of events and of non-events in a bin.
    min_difference : float, default=0.0
        Least difference of the event rates (or means) of neighbouring bins.
    max_p_value : float, optional
        Largest p-value between neighbouring bins: of the χ² test that their rates are equal, or of Welch's test (with
        the normal distribution) that their means are equal.
    trend : {"auto", "ascending", "descending", "peak", "valley", None}, default="auto"
        Constraint on event rates (or means) along the intervals: monotone, with one turn, or none (None). "auto" uses
        the better monotone trend, and a peak or a valley only if that gains a tenth more and improves BIC. Categories
        and more than two classes have no trend.
    prebins : {"quantile", "tree"} or array-like, default="quantile"
        Method for the pre-bins, or the cut-offs between them.
    max_prebins : int, default=50
        Largest number of pre-bins.
    cuts : array-like or list of lists, optional
        Manual cut-offs or groups of categories, without a search. Categories outside the groups belong to the last bin,
        "unseen".
    special_codes : value, list or dict, optional
        Values that are not quantities, such as −1 or 999. Those of a list share one bin; in a dict, each name has a
        bin: ``{"no answer": -1, "refused": [998, 999]}``.
    rare : "auto", float or int, default="auto"
        Categories with less weight are pooled: a share of all rows if it is below 1, otherwise a number of rows. "auto"
        pools those with fewer than 1% of the rows; but where a test finds that these differ (χ², or F for a number, at
        1%), only those in which fewer than five events or non-events (or rows) are expected.
    handle_unknown : {"ignore", "error"}, default="ignore"
        Treatment of categories that the fit did not see: WoE 0 (or the overall mean), or an error.
    smoothing : float, default=0.5
        Count used instead of zero in a bin without events, or without non-events.

    Attributes
    ----------
    bins_ : NumericBins or CategoryBins
        The bins: `bins_.assign(column)`, `bins_.labels()`.
    sums_ : ndarray of shape (bins, m)
        Weights of the classes in each bin, of two classes non-events and events; or Σw, Σw·z, Σw·z² of a number, where
        z is its distance from the mean of all rows.
    encoding_ : ndarray of shape (bins,) or (bins, classes)
        Output of `transform` for each bin: WoE or mean.
    woe_ : ndarray of shape (bins,)
        WoE of each bin, for two classes.
    iv_ : float
        Information value; of more than two classes the sum of those of each against the others.
    classes_ : ndarray
        Sorted classes; empty for numbers.
    target_kind_ : str
        "binary", "multiclass" or "continuous".
    trend_ : str or None
        The given or chosen trend.
    status_ : str
        How the search ended.
    pieces_ : Pieces
        The pre-bins or categories with their sums, from which `bins_` and `split` are computed.
    center_ : float
        Mean of a numeric target.
    name_ : str
        Name of the column; "x" by default.

    See Also
    --------
    hiperplano.WoEEncoder : All columns of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import OptimalBinning
    >>> rng = np.random.default_rng(0)
    >>> age = rng.integers(18, 75, size=2000)
    >>> default = rng.uniform(size=2000) < 0.5 / (1 + np.exp((age - 30) / 6))
    >>> binning = OptimalBinning(max_bins=3).fit(age, default)
    >>> binning.bins_.labels()
    ['(-inf, 34)', '[34, 59)', '[59, inf)', 'missing']
    >>> binning.transform([20, 50, None]).round(2)
    array([-1.46,  0.95,  0.  ])
    """

    def __init__(
        self,
        criterion: str = "auto",
        *,
        kind: str = "auto",
        target: str = "auto",
        max_bins: int = 10,
        min_bin_size: float = 0.05,
        min_events: float = 0,
        min_nonevents: float = 0,
        min_difference: float = 0.0,
        max_p_value: float | None = None,
        trend: str | None = "auto",
        prebins: Any = "quantile",
        max_prebins: int = 50,
        cuts: Any = None,
        special_codes: Any = None,
        rare: float | str = "auto",
        handle_unknown: str = "ignore",
        smoothing: float = 0.5,
    ) -> None:
        self.criterion = criterion
        self.kind = kind
        self.target = target
        self.max_bins = max_bins
        self.min_bin_size = min_bin_size
        self.min_events = min_events
        self.min_nonevents = min_nonevents
        self.min_difference = min_difference
        self.max_p_value = max_p_value
        self.trend = trend
        self.prebins = prebins
        self.max_prebins = max_prebins
        self.cuts = cuts
        self.special_codes = special_codes
        self.rare = rare
        self.handle_unknown = handle_unknown
        self.smoothing = smoothing

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the bins.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1), or Design of one column
            The column: numbers, dates, or values of any kind as categories; None, NaN, NaT and pandas's NA are missing.
        y : array-like of shape (n,)
            Two classes, more, or numbers. Not with a design, which contains its own.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows; a weight of 2 counts a row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        if is_dask(X):
            from hiperplano.features.scanning.dask_columns import cluster_of_columns

            table = X.to_frame() if hasattr(X, "to_frame") else X[:, None] if X.ndim == 1 else X
            X, y, sample_weight = cluster_of_columns(table, y, sample_weight), None, None
        if isinstance(X, Design):
            return self._fit_design(X, y, sample_weight)
        X = one_column(X)
        name = getattr(X, "name", None)
        values, plan = read_column(X, self.kind, self.special_codes, name)
        if not len(values):
            raise InvalidData(
                "Found array with 0 sample(s): the column is empty; a minimum of 1 is required. Add rows."
            )
        rows, kept = target_rows(y, sample_weight, len(values))
        target, vectors = target_vectors(rows, self.target)
        rows = rows.with_vectors(column=values if kept is None else values[kept], **vectors)
        (learned,) = learn_columns([self], rows, [plan], target, "column")
        return self._keep(learned, target, "x" if name is None else str(name))

    def _fit_design(self, design: Design, y: Any, sample_weight: Any) -> Self:
        """Fit a design."""
        refuse_second_target(y, sample_weight)
        design = as_they_are(design)
        if design.n_columns != 1:
            raise InvalidData(
                "a column is needed, and the design has {n}. Use WoEEncoder for all of them.", n=design.n_columns
            )
        (learned,), target = learn_design([self], design, self.target)
        return self._keep(learned, target, "x" if design.names is None else str(design.names[0]))

    def _keep(self, learned: Learned, target: Target, name: str) -> Self:
        """Set the fitted attributes."""
        self.bins_, self.pieces_, self.trend_, self.status_ = (
            learned.bins,
            learned.pieces,
            learned.trend,
            learned.status,
        )
        self.target_kind_, self.classes_, self.center_, self.name_ = target.kind, target.classes, target.center, name
        return self

    @by_rows
    def transform(self, X: Any) -> Array:
        """WoE of each value's bin (or the mean, for a numeric target).

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1)
            The column, of the kind that the fit saw.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            One column for each class if there are more than two.
        """
        check_is_fitted(self)
        X = one_column(X)
        codes = self.bins_.assign(X, self.name_)
        refuse_unseen(self, X, codes)
        return np.asarray(self.encoding_[codes])

    @property
    def sums_(self) -> Array:
        """Sums of the target over the bins."""
        check_is_fitted(self)
        return self.pieces_.count(self.bins_)

    @property
    def encoding_(self) -> Array:
        """Output of `transform` for each bin."""
        sums = self.sums_
        if self.target_kind_ == "binary":
            return weight_of_evidence(sums[:, 0], sums[:, 1], self.smoothing)
        if self.target_kind_ == "multiclass":
            return weight_of_evidence(sums.sum(axis=1, keepdims=True) - sums, sums, self.smoothing)
        full = sums[:, 0] > 0
        return np.asarray(np.divide(sums[:, 1], sums[:, 0], out=np.zeros(len(sums)), where=full) + self.center_)

    @property
    def woe_(self) -> Array:
        """WoE of each bin, for two classes."""
        self._require_classes("WoE", "encoding_", n_classes=2)
        return self.encoding_

    @property
    def iv_(self) -> float:
        """Information value."""
        self._require_classes("Information value", "table()")
        sums = self.sums_
        if self.target_kind_ == "binary":
            return float(information(sums[:, 0], sums[:, 1], self.smoothing).sum())
        return float(information(sums.sum(axis=1, keepdims=True) - sums, sums, self.smoothing).sum())

    def _require_classes(self, what: str, instead: str, n_classes: int = 0) -> None:
        check_is_fitted(self)
        if len(self.classes_) < 2 or (n_classes and len(self.classes_) != n_classes):
            raise NotAvailable(
                "{what} compares classes; this target is {kind}. See {instead}.",
                what=what,
                kind=self.target_kind_,
                instead=instead,
            )

    def table(self) -> BinTable:
        """Counts, rates, WoE, IV and KS of each bin, with intervals.

        Returns
        -------
        BinTable
            With `to_pandas` and `to_polars`; columns by name, as `table()["woe"]`.
        """
        check_is_fitted(self)
        labels, sums = self.bins_.labels(), self.sums_
        if self.target_kind_ == "binary":
            event = self.classes_.tolist()[1]
            return binary_table(
                Message("{name}: event {event!r}", name=self.name_, event=event), labels, sums, self.smoothing
            )
        title = Message("{name}: {kind} target", name=self.name_, kind=self.target_kind_)
        if self.target_kind_ == "multiclass":
            return class_table(title, labels, sums, self.smoothing, self.classes_.tolist())
        return mean_table(title, labels, sums, self.center_)

    def merge(self, *bins: int) -> Self:
        """Merge several bins in place; counts, WoE and all other results are updated.

        Parameters
        ----------
        *bins : int
            Numbers of neighbouring intervals, or of any groups of categories.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.bins_ = merged(self.bins_, bins)
        self.status_ = Message("The bins were changed by hand.")
        return self

    def split(self, at: Any) -> Self:
        """Split one bin in place; counts, WoE and all other results are updated.

        Parameters
        ----------
        at : number, date or list of categories
            The new cut-off, which must be between two pre-bins, since nothing finer was counted; or the categories to
            move to a new group.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.bins_ = split(self.bins_, self.pieces_, at)
        self.status_ = Message("The bins were changed by hand.")
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _check_parameters(self) -> None:
        one_of(self, "criterion", ("auto", *CRITERIA, "squared_error"))
        check_kind(self.kind)
        one_of(self, "target", TARGETS)
        whole(self, "max_bins", low=1)
        whole(self, "max_prebins", low=2)
        for name in ("min_bin_size", "min_events", "min_nonevents", "min_difference"):
            number(self, name, low=0.0)
        if self.rare != "auto":
            number(self, "rare", low=0.0)
        number(self, "smoothing", low=0.0, open_low=True)
        if self.max_p_value is not None:
            number(self, "max_p_value", low=0.0, high=1.0, open_low=True)
        if self.trend is not None:
            one_of(self, "trend", ("auto", *TRENDS))
        if isinstance(self.prebins, str):
            one_of(self, "prebins", ("quantile", "tree"))
        one_of(self, "handle_unknown", ("ignore", "error"))


def refuse_second_target(y: Any, sample_weight: Any) -> None:
    """Raise an error if a target or weights are given in addition to those of a design."""
    if y is not None or sample_weight is not None:
        raise InvalidParameter("y and sample_weight come with a design. Leave them out.")


def refuse_unseen(binning: OptimalBinning, column: Any, codes: Array) -> None:
    """Raise an error for categories that the fit did not see, if `handle_unknown` says so.

    Parameters
    ----------
    codes : ndarray of int
        The bins of the column's values.
    """
    bins = binning.bins_
    if binning.handle_unknown == "ignore" or not isinstance(bins, CategoryBins):
        return
    unseen = np.flatnonzero(codes == bins.unseen)
    if len(unseen):
        raise InvalidData(
            "column {name!r} holds {value!r} (row {row}), and {n} values in all, that the fit did not see. Set "
            "handle_unknown='ignore' to give them WoE 0, or fit again.",
            name=binning.name_,
            value=as_array(column).tolist()[unseen[0]],
            row=int(unseen[0]),
            n=len(unseen),
        )
