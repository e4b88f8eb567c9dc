"""Shared code of logistic models: coded classes, scikit-learn's parameters and its callbacks."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Design
from hiperplano.data.design import Array
from hiperplano.data.labels import encode_labels, label_weight
from hiperplano.data.parameters import FLAG, JOBS, REAL, SEED, VERBOSITY, accept, check_number, refuse_l1
from hiperplano.errors import NotAvailable
from hiperplano.models.base import ClassProbabilities, LinearClassifier
from hiperplano.solvers.likelihood.likelihood import with_class_targets
from hiperplano.stats.logistic.odds import OddsSummary
from hiperplano.stats.logistic.summary import summarise

try:
    from sklearn import callback
except ImportError:  # scikit-learn 1.8
    callback = None

CallbackSupport: Any = object if callback is None else callback.CallbackSupportMixin
with_callbacks: Any = (lambda method: method) if callback is None else callback.with_callbacks

SCIKIT_LEARN_SOLVERS = {
    "newton-cholesky": "newton",
    "newton-cg": "auto",
    "liblinear": "auto",
    "sag": "auto",
    "saga": "auto",
}


class LogisticClassifier(ClassProbabilities, LinearClassifier):
    """Shared code of logistic models: probabilities, and the table of coefficients."""

    fit_intercept: bool

    def summary(self, level: float = 0.95) -> OddsSummary:
        """Coefficients with their standard errors, odds ratios, and how good the fit is.

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals.

        Returns
        -------
        OddsSummary
            For more than two classes, one block for each class but the first, compared with that one.
        """
        check_is_fitted(self)
        if not hasattr(self, "solution_"):
            raise NotAvailable(
                "the coefficients were read from a document, not fitted: they have no standard errors. Fit the model, "
                "or load one that save wrote."
            )
        return summarise(self, level)


class FitProgress:
    """Informs the callbacks of a model (`set_callbacks`) about a fit and every step of it.

    A step ends where the next one begins, so the last one begins an empty task, which `close` ends, as in
    scikit-learn's own model.

    Parameters
    ----------
    X, y, sample_weight
        As given to `fit`.
    most : int
        Largest number of steps.
    """

    def __init__(self, model: Any, X: Any, y: Any, sample_weight: Any, most: int) -> None:
        self._model = model
        self._data = {
            "X": X,
            "y": y,
            "metadata": None if sample_weight is None else {"sample_weight": sample_weight},
        }
        self._fit = model._init_callback_context(max_subtasks=max(most, 1) + 1)
        self._fit.call_on_fit_task_begin(estimator=model, **self._data)
        self._step: Any = None

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any, most: int) -> FitProgress | None:
        """The progress of a model; None if it has no callbacks."""
        listening = "_skl_callbacks" in vars(model) or "_parent_callback_ctx" in vars(model)
        return cls(model, X, y, sample_weight, most) if listening else None

    def __call__(self, coef: Array, intercept: Array) -> None:
        """Report the coefficients after a step, or those before the first one."""
        here = {**self._data, "reconstruction_attributes": {"coef_": coef, "intercept_": intercept}}
        if self._step is not None:
            self._step.call_on_fit_task_end(estimator=self._model, **here)
        self._step = self._fit.subcontext(task_name="iter")
        self._step.call_on_fit_task_begin(estimator=self._model, **here)

    def close(self) -> None:
        """Report the end of the fit."""
        if self._step is not None:
            self._step.call_on_fit_task_end(estimator=self._model)
        self._fit.call_on_fit_task_end(estimator=self._model, **self._data, reconstruction_attributes={})


def accept_scikit_learns(model: Any) -> None:
    """Validate parameters that exist for compatibility with scikit-learn, and have no effect."""
    accept(model, dual=FLAG, intercept_scaling=REAL, random_state=SEED, verbose=VERBOSITY, n_jobs=JOBS)


def refuse_l1_share(model: Any, share: Any) -> None:
    """Raise an error for penalties with an L1 part."""
    refuse_l1(model, share)
    if share is not None and share != 0:
        check_number(type(model).__name__, "l1_ratio", share, 0.0, 1.0)
        raise NotAvailable(
            "{model}: l1_ratio={share!r}; penalties with an L1 part are not available. Set l1_ratio=0, or fit this "
            "model with scikit-learn.",
            model=type(model).__name__,
            share=share,
        )


def code_classes(design: Design, class_weight: Any, others: Array | None = None) -> tuple[Array, Design]:
    """The classes, and the rows of nonzero weight with targets coded for the likelihood.

    Parameters
    ----------
    design : Design
        With labels of any kind for its target.
    others : ndarray, optional
        Labels of rows that have no weight.

    Returns
    -------
    classes : ndarray
    coded : Design
        Its target is −1 and +1 for two classes, otherwise the numbers of the classes; every weight is above 0.
    """
    classes, codes = encode_labels(design, others)
    weight = label_weight(design, class_weight, classes)
    return classes, with_class_targets(design, codes, len(classes), weight)
