"""Columns of all kinds → the numbers a model learns from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.features.columns import Column, kind_word
from hiperplano.features.encoders import RARE, Categories, Gaps, Numbers
from hiperplano.language.catalogue import words

_ = words("terminal")


class Coding(TransformerMixin, BaseEstimator):
    """A frame's columns as numbers, by their kinds.

    Numbers stay numbers, dates become days, ordered categories 0, 1, 2, …; where a value is missing stands the median
    of the column (or what a model of the other columns says), and where that is not rare a further column tells that it
    was missing. Nominal
    categories become one column each, with zeros in all of them for no value.

    Parameters
    ----------
    columns : sequence of Column
        Those that are not `used` are left out.
    fill : {"median", "model"}, default="median"
        Where missing numbers come from: the middle of the column's histogram, or scikit-learn's `IterativeImputer`.

    Attributes
    ----------
    transformer_ : ColumnTransformer
    feature_names_in_ : ndarray of str
    n_features_in_ : int
    """

    def __init__(self, columns: Sequence[Column], fill: str = "median") -> None:
        self.columns = columns
        self.fill = fill

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians and categories.

        Parameters
        ----------
        X : pandas frame
        y : ignored
        """
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Learn medians and categories, and code the same rows, in one pass.

        Parameters
        ----------
        X : pandas frame
        y : ignored
        """
        return self._learn(X)

    def _learn(self, X: Any) -> Array:
        used = [column for column in self.columns if column.used]
        if not used:
            raise InvalidData(
                _("no column is left to learn from: each is {kinds}. Choose kinds with --kind.", kinds=self._left_out())
            )
        self.feature_names_in_ = np.array([column.name for column in used], dtype=object)
        self.n_features_in_ = len(used)
        nominal = [column for column in used if column.kind == "nominal"]
        numeric = [column for column in used if column.kind != "nominal"]
        steps = []
        if numeric:
            imputed = Pipeline([("numbers", Numbers(numeric)), ("fill", self._imputer())])
            names = [column.name for column in numeric]
            steps += [("numbers", imputed, names), ("gaps", Gaps(numeric), names)]
        if nominal:
            categories = Categories(nominal).fit(X)
            one_hot = OneHotEncoder(
                categories=[np.arange(len(kept), dtype=np.int8) for kept in categories.categories_],
                handle_unknown="ignore",
                sparse_output=False,
                dtype=bool,
            )
            coded = Pipeline([("categories", categories), ("one_hot", one_hot)])
            steps.append(("categories", coded, [column.name for column in nominal]))
        transformer = ColumnTransformer(steps, verbose_feature_names_out=False)
        made = np.asarray(transformer.fit_transform(self._chosen(X)))
        self.transformer_ = transformer
        return made

    def _imputer(self) -> Any:
        if self.fill == "median":
            # A function: scikit-learn's own "median" sorts masked arrays, several times slower.
            return SimpleImputer(strategy=np.median, keep_empty_features=True)
        if self.fill != "model":
            raise InvalidParameter(
                _("fill is {fill!r}; it must be median or model. Choose one of them.", fill=self.fill)
            )
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer

        return IterativeImputer(keep_empty_features=True, random_state=0)

    def _left_out(self) -> str:
        return ", ".join(sorted({kind_word(column.kind) for column in self.columns}))

    def _chosen(self, X: Any) -> Any:
        missing = [name for name in self.feature_names_in_.tolist() if name not in X.columns]
        if missing:
            raise InvalidData(
                _(
                    "{n} of {all} columns that the model needs are not there: {names}. Give a table with them; their "
                    "order does not matter.",
                    n=len(missing),
                    all=self.n_features_in_,
                    names=", ".join(map(repr, missing[:6])),
                )
            )
        return X[self.feature_names_in_.tolist()]

    def transform(self, X: Any) -> Array:
        """The numbers of further rows; columns may come in any order.

        Parameters
        ----------
        X : pandas frame
        """
        check_is_fitted(self)
        return np.asarray(self.transformer_.transform(self._chosen(X)), dtype=np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names a person can read: `income`, `income missing`, `purpose = car`.

        Parameters
        ----------
        input_features : ignored
        """
        check_is_fitted(self)
        names: list[str] = []
        for part, pipeline, _columns in self.transformer_.transformers_:
            if part == "numbers":
                names += pipeline[0].get_feature_names_out().tolist()
            elif part == "gaps":
                names += pipeline.get_feature_names_out().tolist()
            else:
                names += [name.replace(f"= {RARE}", "= (other)") for name in pipeline[0].names()]
        return np.array(names, dtype=object)

    def references(self) -> dict[str, str | None]:
        """For each nominal column the category that its others are compared with; None for no value."""
        check_is_fitted(self)
        found: dict[str, str | None] = {}
        for part, pipeline, _columns in self.transformer_.transformers_:
            if part == "categories":
                pairs = zip(pipeline[0].columns, pipeline[0].references_, strict=True)
                found |= {column.name: reference for column, reference in pairs}
        return found
