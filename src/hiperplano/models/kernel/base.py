"""Shared code of kernel machines: the kernel of their parameters, and scores of rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Design
from hiperplano.data.design import Array
from hiperplano.data.in_memory import InMemory, require_memory
from hiperplano.data.validate import validate_rows
from hiperplano.errors import InvalidData
from hiperplano.kernels import Function, Kernel, KernelMatrix, Precomputed, resolve_kernel
from hiperplano.kernels.validity import refuse_invalid_gram
from hiperplano.messages import Message


class KernelModel(BaseEstimator):
    """An estimator whose function is f(x) = Σᵢ dual_coefᵢ·k(x, xᵢ) + intercept."""

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    kernel_params: Any
    kernel_: Kernel
    X_fit_: Any
    dual_coef_: Array
    solution_: Any
    _columns_: Array | None  # columns of a precomputed matrix that predictions need; None for all

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        return tags

    def _is_precomputed(self) -> bool:
        return (isinstance(self.kernel, str) and self.kernel == "precomputed") or isinstance(self.kernel, Precomputed)

    def _in_memory(self, design: Design) -> InMemory:
        return require_memory(
            design,
            Message(
                "{model} compares every row with others, so it takes rows in memory; KernelFeatures with a linear "
                "model does without.",
                model=type(self).__name__,
            ),
        )

    def _settled_kernel(self, X: Any, weight: Array | None = None) -> Kernel:
        """The kernel given by the parameters, with numbers for these rows."""
        kernel = self.kernel
        if callable(kernel) and not isinstance(kernel, Kernel) and self.kernel_params:
            kernel = partial(kernel, **self.kernel_params)
        found = resolve_kernel(
            kernel,
            X,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            owner=type(self).__name__,
            weight=weight,
        )
        if isinstance(found, Precomputed):
            refuse_invalid_gram(X, type(self).__name__)
        elif not isinstance(found, Function):  # its values are checked when they are computed
            with np.errstate(over="ignore", invalid="ignore"):
                refuse_infinite(self, found, found.diagonal(X))
        return found

    def _rows_of(self, design: InMemory) -> Any:
        """The rows of a fit; of a precomputed matrix, only the columns of rows with nonzero weight."""
        rows = design.as_held()
        self._columns_ = None
        if self._is_precomputed() and rows.shape[0] < rows.shape[1]:  # rows of weight 0 were dropped
            self._columns_ = design.row_numbers()
            rows = rows[:, self._columns_]
        return rows

    def _keep_rows(self, rows: Any, centres: Array | None) -> None:
        """Store what predictions need: the rows, or the centres among them."""
        self.X_fit_ = rows if centres is None else rows[centres]
        if centres is not None and self._is_precomputed():
            self._columns_ = centres if self._columns_ is None else self._columns_[centres]

    def _kernel_sums(self, X: Any) -> Array:
        """Σᵢ dual_coefᵢ·k(x, xᵢ) of every row."""
        check_is_fitted(self)
        rows = self._in_memory(validate_rows(self, X)).as_held()
        if isinstance(self.kernel_, Precomputed):
            return np.asarray((rows if self._columns_ is None else rows[:, self._columns_]) @ self.dual_coef_)
        return KernelMatrix(self.kernel_, rows, self.X_fit_, dtype=np.float64).dot(self.dual_coef_)


def seed_of(random_state: Any) -> int:
    """A seed from a random state of scikit-learn."""
    if isinstance(random_state, int) and random_state >= 0:
        return random_state
    return int(check_random_state(random_state).randint(2**31 - 1))


def refuse_infinite(model: Any, kernel: Kernel, numbers: Array) -> None:
    """Raise an error if kernel values of rows with themselves, or coefficients, are not finite."""
    if not np.isfinite(numbers).all():
        raise InvalidData(
            "{model}: the kernel {kernel} has values beyond the range of float64 on these rows, or its equations have "
            "no finite solution. Standardise the columns, or take a smaller gamma or degree.",
            model=type(model).__name__,
            kernel=str(kernel),
        )
