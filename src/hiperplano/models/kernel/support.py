"""Shared code of kernel support vector machines: parameters, scores, and fitted attributes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import _num_samples, check_is_fitted

from hiperplano.data.design import Array, Design
from hiperplano.data.error_messages import data_error
from hiperplano.data.in_memory import InMemory
from hiperplano.data.parameters import flag, number
from hiperplano.data.validate import validate_rows
from hiperplano.errors import AccuracyWarning, InvalidParameter, NotAvailable
from hiperplano.kernels import KernelMatrix, Linear, Precomputed
from hiperplano.kernels.matrix import dense_if_small
from hiperplano.messages import Message
from hiperplano.models.base import users_level, warn_of_the_end
from hiperplano.models.kernel.base import KernelModel, refuse_infinite
from hiperplano.solvers.kernel.svm.fit import Control
from hiperplano.solvers.kernel.svm.solution import Machines, SupportVectorSolution, verdict

_MOST_DENSE = 2**24  # most entries of sparse support vectors that are made dense for predictions


class SupportVectorModel(KernelModel):
    """A machine f(x) = Σ dual_coef·k(x, support vector) + intercept; support vectors are rows of the fit."""

    kernel_params = None  # scikit-learn's support vector machines do not have it
    support_: Array
    support_vectors_: Any
    dual_coef_: Any
    intercept_: Array
    solution_: SupportVectorSolution
    n_iter_: Any
    _n_given_: int
    _weights_: Array  # of shape (support vectors, machines): factors of the kernel values

    @property
    def coef_(self) -> Any:
        """Coefficients of the columns, of shape (machines, d), for a linear kernel; sparse if the rows are."""
        if isinstance(vars(self).get("kernel_"), Linear):
            coef = self._as_rows_are(self._weights_.T) @ self.support_vectors_
            # Read-only, since scores are not computed from it.
            (coef.data if issparse(coef) else coef).flags.writeable = False
            return coef
        raise NotAvailable(
            "coef_ is only available for a linear kernel: with another one, no column has a single coefficient. "
            "Use dual_coef_ and support_vectors_."
        )

    def _as_rows_are(self, coef: Array) -> Any:
        """Coefficients of support vectors, as a CSR array if these are one."""
        if not issparse(self.support_vectors_):
            return coef
        there = coef != 0
        ends = np.append(0, np.cumsum(there.sum(axis=1))).astype(np.int32)
        return csr_array((coef[there], np.nonzero(there)[1].astype(np.int32), ends), shape=coef.shape)

    def _control(self) -> Control:
        """The validated parameters of the solver."""
        flag(self, "shrinking")
        limit = self.max_iter
        if not isinstance(limit, int | np.integer) or isinstance(limit, bool) or limit < -1 or limit == 0:
            raise InvalidParameter(
                "{model}: max_iter={limit!r}; max_iter must be a whole number of 1 or more, or -1 for no limit. Set "
                "one of them.",
                model=type(self).__name__,
                limit=limit,
            )
        return Control(
            tol=number(self, "tol", low=0.0, open_low=True),
            max_steps=sys.maxsize if limit == -1 else int(limit),
            n_bytes=int(1e6 * number(self, "cache_size", low=0.0, open_low=True)),
            progress=self._progress() if self.verbose else None,
        )

    def _square(self, design: InMemory, n_given: int, order: Array | slice = slice(None)) -> Any:
        """The rows of a fit in some order; of a precomputed matrix also its columns, without rows of weight 0."""
        rows = design.as_held()
        # Several times as fast as for sparse rows.
        rows = rows if isinstance(order, slice) else dense_if_small(rows)[order]
        if self._is_precomputed() and rows.shape[1] == n_given:
            return rows[:, design.row_numbers()[order]]
        return rows

    def _last_weights(self, n_given: int, n_machines: int) -> Array | None:
        """Dual coefficients of the last fit, one row for each given row, for a warm start."""
        if not flag(self, "warm_start") or "solution_" not in vars(self):
            return None
        if self._n_given_ != n_given or self._weights_.shape[1] != n_machines:
            return None
        weights = np.zeros((n_given, n_machines))
        weights[self.support_] = self._weights_
        return weights

    def _progress(self) -> Callable[[int, int, float], None]:
        name = type(self).__name__

        def show(rounds: int, steps: int, violation: float) -> None:
            print(f"{name}: working set {rounds}, {steps} steps, violation {violation:.2e}")

        return show

    def _publish_machines(
        self, design: InMemory, n_given: int, machines: Machines, control: Control, order: Array | None = None
    ) -> None:
        """Set the fitted attributes from solved machines, and warn once if one of them did not converge.

        Parameters
        ----------
        n_given : int
            Number of rows of the input table.
        order : ndarray of int of shape (n,), optional
            Order of the design's rows in the machines.
        """
        weights = machines.beta
        refuse_infinite(self, self.kernel_, weights)
        chosen = np.flatnonzero(weights.any(axis=1))
        places = chosen if order is None else order[chosen]
        self.support_ = design.row_numbers()[places].astype(np.int32)
        self._weights_ = np.ascontiguousarray(weights[chosen])
        self.support_vectors_ = np.empty((0, 0)) if isinstance(self.kernel_, Precomputed) else design.as_held()[places]
        self.dual_coef_ = self._as_rows_are(self._weights_.T)
        self.solution_ = verdict(machines, self._weights_.T, str(self.kernel_), control.tol, control.max_steps)
        self.intercept_ = self.solution_.intercept
        self.n_iter_ = int(machines.steps.max())
        self.fit_status_ = 0 if self.solution_.converged else 1
        self.shape_fit_, self._n_given_ = design.as_held().shape, n_given
        if not self.solution_.converged:
            warn_of_the_end(self, self.solution_)
        elif self.solution_.rounding > control.tol:
            self._warn_of_rounding(control.tol)

    def _warn_of_rounding(self, tol: float) -> None:
        warnings.warn(
            Message(
                "{model}: kernel values and dual coefficients are so large that rounding leaves scores uncertain by "
                "about {rounding:.0e}, more than tol={tol:g}. Standardise the columns "
                "(sklearn.preprocessing.StandardScaler), or take a smaller C.",
                model=type(self).__name__,
                rounding=self.solution_.rounding,
                tol=tol,
            ),
            AccuracyWarning,
            stacklevel=users_level(),
        )

    def _scores(self, X: Any) -> Array:
        """Scores of every machine, of shape (n, machines)."""
        check_is_fitted(self)
        rows = self._in_memory(validate_rows(self, X)).as_held()
        if isinstance(self.kernel_, Precomputed):
            return np.asarray(rows[:, self.support_] @ self._weights_) + self.solution_.intercept
        vectors = self.support_vectors_
        if issparse(vectors) and vectors.shape[0] * vectors.shape[1] <= _MOST_DENSE:
            vectors = vectors.toarray()
        if not len(self._weights_):
            return np.tile(self.solution_.intercept, (rows.shape[0], 1))
        return (
            KernelMatrix(self.kernel_, rows, vectors, dtype=np.float64).dot(self._weights_) + self.solution_.intercept
        )


def row_count(X: Any) -> int:
    """Number of rows of the input table, including those of weight 0."""
    try:
        return int(X.n_rows if isinstance(X, Design) else _num_samples(X))
    except TypeError as problem:  # not a table
        raise data_error(problem, X) from None


def weights_of(design: InMemory) -> Array:
    """One weight for each row."""
    weight = design.arrays()[2]
    return np.ones(design.n_rows) if weight is None else weight
