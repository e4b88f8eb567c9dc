"""What logistic models share: probabilities, coded classes, and scikit-learn's parameters."""

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

SCIKIT_LEARN_SOLVERS = {
    "newton-cholesky": "newton",
    "newton-cg": "auto",
    "liblinear": "auto",
    "sag": "auto",
    "saga": "auto",
}


class LogisticClassifier(ClassProbabilities, LinearClassifier):
    """What logistic models share: probabilities, and the table of coefficients."""

    fit_intercept: bool

    def summary(self, level: float = 0.95) -> OddsSummary:
        """Coefficients with their standard errors, odds ratios, and how good the fit is.

        Parameters
        ----------
        level : float, default=0.95
            Of the confidence intervals.

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


def accept_scikit_learns(model: Any) -> None:
    """Check the parameters of scikit-learn's classes that have no effect here."""
    accept(model, dual=FLAG, intercept_scaling=REAL, random_state=SEED, verbose=VERBOSITY, n_jobs=JOBS)


def refuse_l1_share(model: Any, share: Any) -> None:
    """An error for penalties with an L1 part."""
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
    """The classes, and the rows that count with targets as the likelihood takes them.

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
