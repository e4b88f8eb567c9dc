"""Names and one-sentence descriptions of the models."""

from __future__ import annotations

from typing import Any, NamedTuple

from hiperplano.messages.catalogue import translator

_ = translator("report")


class ModelDescription(NamedTuple):
    """Name and description of a model."""

    name: str
    sentence: str


def describe_model(model: Any) -> ModelDescription:
    """The description of a model; an unknown model is called by its class name."""
    name = type(model).__name__
    known = _kinds().get(name)
    return ModelDescription(*(known or (name, _("A model of the class {name}.", name=name))))


def _kinds() -> dict[str, tuple[str, str]]:
    return _regressions() | _probabilities() | _planes() | _kernels()


def _regressions() -> dict[str, tuple[str, str]]:
    ridge = _("Least squares with a penalty on large coefficients.")
    return {
        "LinearRegression": (
            _("Linear regression"),
            _("The prediction is a weighted sum of the columns, with the least sum of squared residuals."),
        ),
        "Ridge": (_("Ridge regression"), ridge),
        "RidgeCV": (_("Ridge regression"), f"{ridge} {_chosen()}"),
        "LinearSVR": (
            _("Support vector regression"),
            _("The prediction is a weighted sum of the columns; residuals inside a tube around it cost nothing."),
        ),
        "PassiveAggressiveRegressor": (
            _("Passive-aggressive regression"),
            _("Every row moves the prediction just as far as it needs to be close enough.") + _online(),
        ),
        "SGDRegressor": (
            _("Linear regression by stochastic gradient"),
            _("The prediction is a weighted sum of the columns, improved by small steps.") + _online(),
        ),
    }


def _kernels() -> dict[str, tuple[str, str]]:
    ridge = _(
        "The prediction is a weighted sum of similarities, given by the kernel, to rows of the fit, with a penalty on "
        "functions that vary much."
    )
    machine = _(
        "The score is a weighted sum of similarities, given by the kernel, to support vectors: rows on their margin or "
        "on its wrong side. The margin is wide, and rows inside it are penalised."
    )
    tube = _(
        "The prediction is a weighted sum of similarities, given by the kernel, to support vectors: rows on a tube "
        "around it or outside; residuals inside the tube cost nothing."
    )
    shares = _("The parameter nu bounds the share of rows that are penalised.")
    return {
        "KernelRidge": (_("Kernel ridge regression"), ridge),
        "SVC": (_("Kernel support vector machine"), machine),
        "NuSVC": (_("Kernel support vector machine"), f"{machine} {shares}"),
        "SVCCV": (_("Kernel support vector machine"), f"{machine} {_chosen()}"),
        "KernelPerceptron": (
            _("Kernel perceptron"),
            _(
                "The score is a weighted sum of similarities, given by the kernel, to rows that were on the wrong side "
                "during training. Each time a row is on the wrong side, its weight grows by one step."
            ),
        ),
        "SVR": (_("Kernel support vector regression"), tube),
        "NuSVR": (_("Kernel support vector regression"), f"{tube} {shares}"),
        "KernelRidgeCV": (_("Kernel ridge regression"), f"{ridge} {_chosen()}"),
        "KernelLogisticRegression": (
            _("Kernel logistic regression"),
            _(
                "The log-odds are a weighted sum of similarities, given by the kernel, to rows of the fit, under which "
                "the observed classes are most likely, with a penalty on functions that vary much."
            ),
        ),
    }


def _probabilities() -> dict[str, tuple[str, str]]:
    logistic = _(
        "The log-odds are a weighted sum of the columns, with the coefficients under which the observed classes are "
        "most likely."
    )
    return {
        "LogisticRegression": (_("Logistic regression"), logistic),
        "Scorecard": (
            _("Scorecard"),
            _("Columns are cut into bins, and every bin has points; the sum of the points ranks by the odds."),
        ),
        "LogisticRegressionCV": (_("Logistic regression"), f"{logistic} {_chosen()}"),
        "LinearDiscriminantAnalysis": (
            _("Linear discriminant analysis"),
            _("Classes are taken as Gaussian clouds of one shape, so that boundaries between them are planes."),
        ),
        "QuadraticDiscriminantAnalysis": (
            _("Quadratic discriminant analysis"),
            _(
                "Classes are taken as Gaussian clouds, each of a shape of its own, so that boundaries are curved and "
                "no column has a single coefficient."
            ),
        ),
    }


def _planes() -> dict[str, tuple[str, str]]:
    machine = _(
        "A plane with a wide margin between the classes, where every row inside the margin or beyond it is penalised."
    )
    return {
        "LeastSquaresClassifier": (
            _("Least-squares classifier"),
            _("Least squares on classes coded as 0 and 1; the class with the largest sum is decided."),
        ),
        "LinearSVC": (_("Support vector machine"), machine),
        "HardMarginSVC": (
            _("Maximum-margin plane"),
            _("The plane between two separable classes that is furthest from both."),
        ),
        "Pegasos": (_("Support vector machine"), machine + _online()),
        "Perceptron": (_("Perceptron"), _("A plane that is moved by every row on its wrong side.") + _online()),
        "PassiveAggressiveClassifier": (
            _("Passive-aggressive classifier"),
            _("Every row moves the plane just as far as it needs to be on the right side.") + _online(),
        ),
        "SGDClassifier": (
            _("Linear classifier by stochastic gradient"),
            _("A plane that is improved by small steps against its mean loss.") + _online(),
        ),
    }


def _chosen() -> str:
    return _("The penalty is chosen by cross-validation.")


def _online() -> str:
    return " " + _("It learns from few rows at a time.")
