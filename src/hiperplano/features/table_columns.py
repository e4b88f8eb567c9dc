"""Selection of a model's columns from a table by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData


class TableColumns(TransformerMixin, BaseEstimator):
    """Select columns of a table by name: the first step of a pipeline whose model accepts columns of any kind.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing."""
        self.n_features_in_ = len(X.columns)
        return self

    def transform(self, X: Any) -> Any:
        """The columns, in their order."""
        there = {str(name) for name in X.columns}
        absent = [name for name in self.names if name not in there]
        if absent:
            raise InvalidData(
                "the table has no column {names}; the model needs it. Add it, or give the table that it was in.",
                names=", ".join(map(repr, absent[:6])),
            )
        return X[list(self.names)]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns."""
        return np.array(self.names, dtype=object)
