"""Weight of evidence of all columns of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from hiperplano.data.cluster.calls import by_rows, takes_dask
from hiperplano.data.design import Array, Design, add
from hiperplano.data.error_messages import data_error
from hiperplano.data.in_memory import InMemory
from hiperplano.data.parallel.threads import in_threads, one_worker, worker_count
from hiperplano.data.parameters import number
from hiperplano.errors import InvalidData, InvalidParameter, NotAvailable
from hiperplano.features.binning.columns import numbered, read_column
from hiperplano.features.binning.encoding import (
    ColumnCode,
    Encoded,
    EncodedMoments,
    column_of,
    correlations,
    float_rows,
    moments,
    uncorrelated,
)
from hiperplano.features.binning.learning import learn_columns, learn_design
from hiperplano.features.binning.optimal import OptimalBinning, refuse_second_target, refuse_unseen
from hiperplano.features.binning.prebinning.target import Target, target_rows, target_vectors
from hiperplano.features.scanning.scan import as_they_are, kinds_of
from hiperplano.messages import Message

_CHUNK_ROWS = 2**14
_MANY_COLUMNS = 4  # columns per thread that keep all threads busy, without threads inside a column
_LONG = 2**15  # rows from which a column takes longer in compiled loops, which run in threads, than in Python


class WoEEncoder(TransformerMixin, BaseEstimator):
    """Bin every column of a table optimally, and replace each value by the weight of evidence of its bin.

    WoE = ln(share of non-events / share of events), which is large if events are rare. Columns of numbers, dates and
    categories are binned in threads; missing values, special codes and unseen categories have their own bins. For a
    numeric target, a value becomes the mean of its bin; for more than two classes, a column becomes one column for each
    class.

    Parameters
    ----------
    binning : OptimalBinning, optional
        Binning of the columns; `OptimalBinning()` by default.
    per_column : dict, optional
        Parameters of single columns, by name (or number): ``{"age": {"cuts": [25, 40]}, "income": {"special_codes":
        [-1, 999]}}``.
    min_iv : float, default=0.0
        Columns with a smaller information value are left out.
    max_iv : float, optional
        Columns with a larger information value are left out, since they may hold information from after the event.
    max_correlation : float, optional
        Of two columns whose WoE has a larger correlation, the one with the smaller information value is left out.
    dtype : numpy dtype, default=numpy.float64
        dtype of the output of `transform`; float32 takes half the memory.

    Attributes
    ----------
    binnings_ : dict of str to OptimalBinning
        The fitted binning of every column, including those left out. Bins may be changed by `merge` and `split`;
        `transform` and `information_values` follow.
    support_ : ndarray of bool of shape (columns,)
        Which columns `transform` returns.
    reasons_ : dict of str to str
        Why columns were left out.
    classes_ : ndarray
        Sorted classes of the target, the second of two being the event; empty for numbers.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table has them.

    See Also
    --------
    hiperplano.OptimalBinning : One column.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import WoEEncoder
    >>> X = np.array([[1, "own"], [2, "own"], [3, "rent"], [4, "rent"], [5, "own"], [6, "rent"]], dtype=object)
    >>> y = [0, 0, 1, 0, 0, 1]
    >>> encoder = WoEEncoder().fit(X, y)
    >>> encoder.binnings_["x1"].bins_.groups
    (('own',), ('rent',))
    >>> encoder.transform(X)[:, 1].round(3).tolist()
    [1.099, 1.099, -1.386, -1.386, 1.099, -1.386]
    """

    def __init__(
        self,
        binning: OptimalBinning | None = None,
        *,
        per_column: Mapping[Any, Mapping[str, Any]] | None = None,
        min_iv: float = 0.0,
        max_iv: float | None = None,
        max_correlation: float | None = None,
        dtype: Any = np.float64,
    ) -> None:
        self.binning = binning
        self.per_column = per_column
        self.min_iv = min_iv
        self.max_iv = max_iv
        self.max_correlation = max_correlation
        self.dtype = dtype

    @takes_dask
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the bins of every column.

        Parameters
        ----------
        X : table or array of shape (n, d), or Design
            A pandas, polars or pyarrow table, or an array; None, NaN, NaT and pandas's NA are missing values.
        y : array-like of shape (n,)
            Two classes, more, or numbers. Not with a design, which contains its own.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows; a weight of 2 counts a row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        if isinstance(X, Design):
            return self._fit_design(X, y, sample_weight)
        table = self._table(X, reset=True)
        rows, kept = target_rows(y, sample_weight, len(table))
        target, vectors = target_vectors(rows, self._template().target)
        rows = rows.with_vectors(**vectors)
        names = self._names_in()
        rules = self._rules(names)
        many = len(names) >= _MANY_COLUMNS * worker_count()

        def learn(column: int) -> OptimalBinning:
            name, rule = names[column], rules[column]
            values, plan = read_column(column_of(table, column), rule.kind, rule.special_codes, name)
            held = rows.with_vectors(column=values if kept is None else values[kept])
            with one_worker() if many else nullcontext():
                (learned,) = learn_columns([rule], held, [plan], target, "column")
            return rule._keep(learned, target, name)

        found = in_threads(learn, range(len(names)), len(table) * len(names) if len(table) >= _LONG else 0)
        self.binnings_, self.classes_ = dict(zip(names, found, strict=True)), target.classes
        return self._select(target, table, rows, kept)

    @staticmethod
    def _cluster_of(X: Any, y: Any, sample_weight: Any) -> Any:
        from hiperplano.features.scanning.dask_columns import cluster_of_columns

        return cluster_of_columns(X, y, sample_weight)

    def _fit_design(self, design: Design, y: Any, sample_weight: Any) -> Self:
        """Fit a design, all columns in one pass."""
        refuse_second_target(y, sample_weight)
        design = as_they_are(design)
        self.n_features_in_ = design.n_columns
        self.__dict__.pop("feature_names_in_", None)
        if design.names is not None:
            self.feature_names_in_ = np.asarray(design.names, dtype=object)
        names = self._names_in()
        rules = self._rules(names)
        learned, target = learn_design(rules, design, self._template().target)
        self.binnings_ = {
            name: rule._keep(one, target, name) for name, rule, one in zip(names, rules, learned, strict=True)
        }
        self.classes_ = target.classes
        return self._select(target, design, None, None)

    def _table(self, X: Any, reset: bool) -> Any:
        """A table unchanged, or an array of any type."""
        if hasattr(X, "columns") or hasattr(X, "column_names"):
            names = list(getattr(X, "column_names", None) or X.columns)
            twice = sorted({str(name) for name in names if names.count(name) > 1})
            if twice:
                raise InvalidData(
                    "two columns have the name {name!r}; names must differ. Rename one of them.", name=twice[0]
                )
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not len(X):
                raise InvalidData("Found array with 0 sample(s): the table is empty; at least one row is needed.")
            return X
        try:
            return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        except ValueError as problem:
            raise data_error(problem, X) from problem

    def _template(self) -> OptimalBinning:
        return OptimalBinning() if self.binning is None else self.binning

    def _rules(self, names: list[str]) -> list[OptimalBinning]:
        """A binning for each column, with its own parameters."""
        own = dict(self.per_column or {})
        keys = {key: key if isinstance(key, str) else dict(enumerate(names)).get(key) for key in own}
        for key, name in keys.items():
            if name not in names:
                raise InvalidParameter(
                    "per_column names the column {key!r}; the columns are {names}. Check the name.",
                    key=key,
                    names=", ".join(map(repr, names[:8])),
                )
        settings = {keys[key]: value for key, value in own.items()}
        plain = clone(self._template())
        plain._check_parameters()
        known = plain.get_params(deep=False).keys()
        rules = [copy(plain) for _ in names]
        for rule, changed in (
            (rule, settings[name]) for rule, name in zip(rules, names, strict=True) if name in settings
        ):
            if not changed.keys() <= known:
                rule.set_params(**changed)  # raises an error for unknown parameters
            vars(rule).update(changed)
            rule._check_parameters()
        return rules

    def _names_in(self) -> list[str]:
        return [str(name) for name in _check_feature_names_in(self)]

    def _select(self, target: Target, X: Any, rows: InMemory | None, kept: Array | None) -> Self:
        """Leave out columns by information value, then by correlation."""
        self.reasons_: dict[str, Message] = {}
        names = list(self.binnings_)
        self.support_ = np.ones(len(names), dtype=bool)
        if target.n_classes:
            for name, binning in self.binnings_.items():
                reason = self._reason(binning.iv_)
                if reason is not None:
                    self.reasons_[name] = reason
            self.support_ = np.array([name not in self.reasons_ for name in names])
        self._require_some()
        if self.max_correlation is not None and self.support_.sum() > 1:
            chosen = [name for name in names if name not in self.reasons_]
            correlation = correlations(self._moments(X, rows, kept))
            strengths = [self.binnings_[name].iv_ for name in chosen]
            for column, rival in uncorrelated(strengths, correlation, self.max_correlation).items():
                self.reasons_[chosen[column]] = Message(
                    "correlation {r} with {rival!r}, which has more information",
                    r=f"{correlation[column, rival]:.3f}",
                    rival=chosen[rival],
                )
            self.support_ = np.array([name not in self.reasons_ for name in names])
        return self

    def _reason(self, iv: float) -> Message | None:
        if iv < self.min_iv:
            return Message("information value {iv} below {limit:g}", iv=f"{iv:.4f}", limit=self.min_iv)
        if self.max_iv is not None and iv > self.max_iv:
            return Message("information value {iv} above {limit:g}: a leak?", iv=f"{iv:.4f}", limit=self.max_iv)
        return None

    def _require_some(self) -> None:
        if not self.support_.any():
            raise InvalidData(
                "no column is left: {reasons}. Change min_iv or max_iv, or give other columns.",
                reasons=Message.concatenate("; ", [f"{name}: " + why for name, why in list(self.reasons_.items())[:3]]),
            )

    def _moments(self, X: Any, rows: InMemory | None, kept: Array | None) -> Any:
        if rows is None:
            return X.weighted_rows().fold(EncodedMoments(self._encoded(X)))
        total = None
        weight = rows.collect(rows.vector("weight")) if rows.has_weight else np.ones(rows.n_rows)
        numbers = np.arange(rows.n_rows) if kept is None else kept
        for start in range(0, len(numbers), _CHUNK_ROWS):
            part = slice(start, start + _CHUNK_ROWS)
            encoded = self._encode(_safe_indexing(X, numbers[part]))
            sums = moments(np.asarray(encoded, dtype=np.float64), weight[part])
            total = sums if total is None else add(total, sums)
        return total

    @by_rows
    def transform(self, X: Any) -> Array:
        """Replace the values of the kept columns by WoE.

        Parameters
        ----------
        X : table or array of shape (n, d), or Design
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n, columns kept)
            Or a pandas or polars table after `set_output`; several columns for each if there are more than two classes.
        """
        check_is_fitted(self)
        if isinstance(X, Design):
            rows = as_they_are(X)
            return np.asarray(rows.collect(rows.map(self._encoded(rows))), dtype=self.dtype)
        return self._encode(self._table(X, reset=False))

    def _encode(self, table: Any) -> Array:
        encoded = self._encoded()
        made = np.empty((len(table), encoded.width), dtype=self.dtype, order="F")
        rows = float_rows(table)
        if rows is not None and encoded.all_intervals:
            fill = encoded.writer(rows, made)
            in_threads(lambda start: fill(start, start + _CHUNK_ROWS), range(0, len(rows), _CHUNK_ROWS), made.size)
            return made
        binnings = list(self.binnings_.values())

        def write(place: int) -> None:
            column, code = encoded.columns[place], encoded.codes[place]
            values = column_of(table, column)
            codes = code.write(values, made[:, place * code.width : (place + 1) * code.width])
            if codes is not None:
                refuse_unseen(binnings[column], values, codes)

        in_threads(write, range(len(encoded.codes)), made.size)
        return made

    def _encoded(self, design: Design | None = None) -> Encoded:
        """The output of `transform` for a table, or for a design in which numbers stand for categories."""
        return self._looked_up([binning.encoding_ for _, _, binning in self._chosen()], design)

    def _looked_up(self, numbers: Sequence[Array], design: Design | None = None) -> Encoded:
        """Function of a block that writes given values of bins, for each kept column."""
        columns, names, binnings = zip(*self._chosen(), strict=True)
        categories = [None] * self.n_features_in_ if design is None else kinds_of(design)[1]
        codes = (
            ColumnCode(numbered(binning.bins_, categories[column]), one, name, binning.handle_unknown == "error")
            for column, name, binning, one in zip(columns, names, binnings, numbers, strict=True)
        )
        return Encoded(columns, tuple(codes))

    def _chosen(self) -> Iterator[tuple[int, str, OptimalBinning]]:
        """Number, name and binning of the kept columns."""
        for column, (name, binning) in enumerate(self.binnings_.items()):
            if self.support_[column]:
                yield column, name, binning

    def information_values(self) -> dict[str, float]:
        """The information value of every column, the largest first.

        Returns
        -------
        dict of str to float
            Information values, including those of columns left out; `reasons_` says why.
        """
        check_is_fitted(self)
        if not len(self.classes_):
            raise NotAvailable("information value compares classes; this target is a number. See binnings_.")
        found = {name: binning.iv_ for name, binning in self.binnings_.items()}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of the fit, if the table had none.

        Returns
        -------
        ndarray of str
            The names of the columns; for more than two classes with the class behind each.
        """
        check_is_fitted(self)
        kept = [str(name) for name in _check_feature_names_in(self, input_features)[self.support_]]
        if len(self.classes_) > 2:
            kept = [f"{name}_{label}" for name in kept for label in self.classes_.tolist()]
        return np.array(kept, dtype=object)

    def _check_parameters(self) -> None:
        number(self, "min_iv", low=0.0)
        if self.max_iv is not None:
            number(self, "max_iv", low=0.0, open_low=True)
        if self.max_correlation is not None:
            number(self, "max_correlation", low=0.0, high=1.0)
        if self.binning is not None and not isinstance(self.binning, OptimalBinning):
            raise InvalidParameter(
                "binning={binning!r}; it must be an OptimalBinning or None. Pass one with the limits of the bins.",
                binning=self.binning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags
