"""Encoding of columns of all kinds as the numbers a model learns from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.features.columns import Column, kind_label, pack_columns, unpack_columns
from hiperplano.features.dependence import dependent_columns
from hiperplano.features.encoders import CategoricalEncoder, NumericEncoder, numbers, pack_encoders, unpack_encoders
from hiperplano.features.terms import parse_terms, with_terms
from hiperplano.messages import Message, translate


class Coding(TransformerMixin, BaseEstimator):
    """Encode a frame's columns as numbers, by their kinds.

    Numbers stay numbers, dates become days, and ordered categories 0, 1, 2, …. A missing value becomes the median of
    the column (or the prediction of a model of the other columns); if missing values are not rare, an additional column
    indicates them. Nominal categories become one column each, with zeros in all of them for a missing value.

    The numbers are those of scikit-learn's `SimpleImputer` and `OneHotEncoder` in a `ColumnTransformer`, but each
    column is written directly to its place, in threads, which avoids copies.

    Parameters
    ----------
    columns : sequence of Column
        Columns of the frame; those that are not `used` are left out.
    fill : {"median", "model"}, default="median"
        Imputation of missing numbers: by the median of the column, or by scikit-learn's `IterativeImputer`.
    independent : bool, default=False
        Whether to leave out output columns that depend linearly on others: copies of a column, equal indicators, sums
        of columns. They add no information, and their coefficients are not determined.
    terms : sequence of str, default=()
        Terms computed from the columns: `a*b`, `log(x)`, `x^2`, `spline(x, 4)`, `month(d)`, `weekday(d)`, `age(d)`.

    Attributes
    ----------
    coders_ : list of NumericEncoder and CategoricalEncoder
        The fitted encoder of each column.
    terms_ : list of Term
        The fitted terms.
    left_out_ : dict of str to list of str
        Output columns left out because they depend on others, with the names of those others.
    """

    def __init__(
        self, columns: Sequence[Column], fill: str = "median", independent: bool = False, terms: Sequence[str] = ()
    ) -> None:
        self.columns = columns
        self.fill = fill
        self.independent = independent
        self.terms = terms

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state["columns"] and all(isinstance(each, Column) for each in state["columns"]):
            state["columns"] = pack_columns(state["columns"])
        if "coders_" in state:
            state["coders_"] = pack_encoders(state["coders_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if isinstance(state["columns"], str):
            state["columns"] = unpack_columns(state["columns"])
        if isinstance(state.get("coders_"), str):
            state["coders_"] = unpack_encoders(state["coders_"])
        super().__setstate__(state)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians and categories."""
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_parameters: Any) -> Any:
        """Learn medians and categories, and encode the rows."""
        made = self._learn(X)
        return self._frame(X, self._write(X) if made is None else made)

    def transform(self, X: Any) -> Any:
        """Encode rows as a frame of shape (n, output columns); columns may come in any order."""
        check_is_fitted(self)
        return self._frame(X, self._write(X))

    def rows(self, X: Any) -> Array:
        """Encode rows as an array of shape (n, output columns)."""
        check_is_fitted(self)
        return self._passed_on(self._write(X))

    @classmethod
    def learned(cls, coders: Sequence[NumericEncoder | CategoricalEncoder]) -> Coding:
        """A fitted coding, from encoders that were learned elsewhere."""
        columns = [coder.column for coder in coders]
        coding = cls(columns)
        coding.coders_ = sorted(coders, key=lambda coder: coder.column.kind == "nominal")
        coding.feature_names_in_ = np.array([coder.column.name for coder in coding.coders_], dtype=object)
        coding.n_features_in_ = len(columns)
        coding.terms_, coding.imputer_, coding.left_out_ = [], None, {}
        coding._refuse_nothing()
        return coding

    def _frame(self, X: Any, made: Array) -> Any:
        """The output with names, without dependent columns."""
        import pandas as pd

        made = self._passed_on(made)
        return pd.DataFrame(made, index=X.index, columns=self.get_feature_names_out(), copy=False)

    def _passed_on(self, made: Array) -> Array:
        """The output without dependent columns."""
        if not self.left_out_:
            return made
        return made[:, [str(name) not in self.left_out_ for name in self._all_names()]]

    def _learn(self, X: Any) -> Array | None:
        """Fit; return the encoded rows if they were computed on the way."""
        used = [column for column in self.columns if column.used]
        if not used:
            raise InvalidData(
                "no column is left to learn from: each is {kinds}. Choose kinds with --kind.",
                kinds=self._unused_kinds(),
            )
        if self.fill not in ("median", "model"):
            raise InvalidParameter("fill is {fill!r}; it must be median or model. Choose one of them.", fill=self.fill)
        in_order = [each for each in used if each.kind != "nominal"] + [each for each in used if each.kind == "nominal"]
        self.feature_names_in_ = np.array([column.name for column in in_order], dtype=object)
        self.n_features_in_ = len(used)
        self._refuse_missing(X)
        self.terms_ = [term.fitted(X) for term in parse_terms(self.terms, used)]
        X = self.with_terms(X)
        made_columns = [column for term in self.terms_ for column in term.made()]
        in_order = sorted([*in_order, *made_columns], key=lambda column: column.kind == "nominal")

        def learn(column: Column) -> NumericEncoder | CategoricalEncoder:
            return (CategoricalEncoder if column.kind == "nominal" else NumericEncoder).of(column, X[column.name])

        self.coders_ = in_threads(learn, in_order, len(X) * len(used))
        self._refuse_nothing()
        self.imputer_ = self._fit_imputer(X) if self.fill == "model" else None
        self.left_out_: dict[str, list[str]] = {}
        if not self.independent:
            return None
        made, names = self._write_all(X), self._all_names()
        follows = dependent_columns(made)
        self.left_out_ = {str(names[j]): [str(names[k]) for k in others] for j, others in follows.items()}
        return made

    def _refuse_nothing(self) -> None:
        if not any(coder.names for coder in self.coders_):
            raise InvalidData(
                "no column is left to learn from: the categories of {names} are each in too few rows. Give more "
                "rows, or columns of numbers.",
                names=", ".join(map(repr, self.feature_names_in_[:6].tolist())),
            )

    def with_terms(self, X: Any) -> Any:
        """The frame with the columns of its terms."""
        return with_terms(X, self.terms_)

    def _write(self, X: Any) -> Array:
        """All output columns of a frame."""
        self._refuse_missing(X)
        return self._write_all(self.with_terms(X))

    def _write_all(self, X: Any) -> Array:
        ends = np.cumsum([len(coder.names) for coder in self.coders_]).tolist()
        made = np.empty((len(X), ends[-1]), order="F")

        def write(task: tuple[NumericEncoder | CategoricalEncoder, int]) -> None:
            coder, end = task
            coder.write(X[coder.column.name], made[:, end - len(coder.names) : end])

        in_threads(write, zip(self.coders_, ends, strict=True), made.size)
        if self.imputer_ is not None:
            filled = self.imputer_.transform(self._with_missing(X))
            for j, (end, coder) in enumerate(zip(ends, self._numeric(), strict=False)):
                made[:, end - len(coder.names)] = filled[:, j]
        return made

    def _numeric(self) -> list[NumericEncoder]:
        return [coder for coder in self.coders_ if isinstance(coder, NumericEncoder)]

    def _with_missing(self, X: Any) -> Array:
        """The numeric columns with missing values."""
        return np.column_stack([numbers(X[coder.column.name], coder.column) for coder in self._numeric()])

    def _fit_imputer(self, X: Any) -> Any:
        if not self._numeric():
            return None
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer

        return IterativeImputer(keep_empty_features=True, random_state=0).fit(self._with_missing(X))

    def _unused_kinds(self) -> Message:
        return Message.concatenate(", ", sorted({kind_label(column.kind) for column in self.columns}))

    def _refuse_missing(self, X: Any) -> None:
        missing = [name for name in self.feature_names_in_.tolist() if name not in X.columns]
        if missing:
            raise InvalidData(
                "{n} of {all} columns that the model needs are not there: {names}. Give a table with them; their "
                "order does not matter.",
                n=len(missing),
                all=self.n_features_in_,
                names=", ".join(map(repr, missing[:6])),
            )

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Readable names: `income`, `income missing`, `purpose = car`."""
        check_is_fitted(self)
        names = [str(name) for name in self._all_names()]
        return np.array([name for name in names if name not in self.left_out_], dtype=object)

    def display_names(self) -> list[str]:
        """The same names in the current language, for display; files keep the English names."""
        check_is_fitted(self)
        return [translate(name) for name in self._all_names() if str(name) not in self.left_out_]

    def _all_names(self) -> list[str]:
        """Names of all output columns, made unique: a table may itself have a column called `income missing`."""
        names: dict[str, str] = {}
        for name in (name for coder in self.coders_ for name in coder.names):
            while str(name) in names:
                name = Message("{name} (again)", name=name)
            names[str(name)] = name
        return list(names.values())

    def without_codes(self, X: Any) -> Any:
        """The columns that the model uses, with codes for missing values removed."""
        check_is_fitted(self)
        coded = [column for column in self.columns if column.used and column.codes]
        emptied = {each.name: X[each.name].where(~X[each.name].isin(each.codes)) for each in coded}
        return X[self.feature_names_in_.tolist()].assign(**emptied)

    def references(self) -> dict[str, str | None]:
        """For each nominal column, its reference category; None for a missing value."""
        check_is_fitted(self)
        return {
            each.column.name: each.reference
            for each in self.coders_
            if isinstance(each, CategoricalEncoder) and each.kept
        }

    def too_rare(self) -> list[str]:
        """The nominal columns that a model does not use, since none of their categories is frequent enough."""
        check_is_fitted(self)
        return [each.column.name for each in self.coders_ if not each.names]
