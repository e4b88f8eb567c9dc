"""The models of the command, from the simplest to the most complex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hiperplano.errors import InvalidParameter
from hiperplano.messages.catalogue import translator

_ = translator("terminal")

CLASSIFICATION, REGRESSION = "classification", "regression"
TASKS = (CLASSIFICATION, REGRESSION)


@dataclass(frozen=True)
class ModelChoice:
    """A model that can be selected by name.

    Attributes
    ----------
    make : callable
        Function from a seed to an unfitted estimator.
    scaled : bool
        Whether columns must be standardised, because the result depends on their scales.
    most_cells : float
        Number of rows times columns above which a comparison omits it, as too slow.
    separable_only : bool
        Whether it rejects overlapping classes.
    scaled_target : bool
        Whether the target of a regression must be standardised.
    strength : str
        Name of its penalty parameter: "C", "alpha" or empty.
    baseline : bool
        Whether it is only a baseline for comparisons.
    """

    name: str
    task: str
    make: Callable[[int], Any]
    scaled: bool = False
    many_classes: bool = True
    most_cells: float = float("inf")
    separable_only: bool = False
    scaled_target: bool = False
    strength: str = ""
    baseline: bool = False


def _model(name: str, seeded: bool = False, **parameters: Any) -> Callable[[int], Any]:
    """A factory that imports a public name on its first call."""

    def make(seed: int) -> Any:
        import hiperplano

        own = parameters | ({"random_state": seed} if seeded else {})
        return getattr(hiperplano, name)(**own)

    return make


def _shuffled(name: str) -> Callable[[int], Any]:
    """A factory of a model whose folds do not depend on the order of the rows in the file."""

    def make(seed: int) -> Any:
        from sklearn.model_selection import StratifiedKFold

        import hiperplano

        return getattr(hiperplano, name)(cv=StratifiedKFold(5, shuffle=True, random_state=seed))

    return make


def _constant(task: str) -> Callable[[int], Any]:
    def make(seed: int) -> Any:
        from sklearn.dummy import DummyClassifier, DummyRegressor

        return DummyClassifier(strategy="prior") if task == CLASSIFICATION else DummyRegressor()

    return make


_ENDLESS = float("inf")
_PENALTIES = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)

BASELINES = {task: ModelChoice("constant", task, _constant(task), baseline=True) for task in TASKS}
"""The baseline of every model: the shares of the classes, or the mean."""

MODELS = (
    ModelChoice("least-squares", CLASSIFICATION, _model("LeastSquaresClassifier")),
    ModelChoice("ridge", CLASSIFICATION, _model("RidgeClassifier"), scaled=True, strength="alpha"),
    ModelChoice("ridge-cv", CLASSIFICATION, _model("RidgeClassifierCV"), scaled=True),
    ModelChoice("lda", CLASSIFICATION, _model("LinearDiscriminantAnalysis")),
    ModelChoice("logistic", CLASSIFICATION, _model("LogisticRegression", C=_ENDLESS), strength="C"),
    ModelChoice("logistic-l2", CLASSIFICATION, _model("LogisticRegression"), scaled=True, strength="C"),
    ModelChoice("logistic-cv", CLASSIFICATION, _shuffled("LogisticRegressionCV"), scaled=True),
    ModelChoice("firth", CLASSIFICATION, _model("LogisticRegression", firth=True), many_classes=False, most_cells=3e6),
    ModelChoice("svm", CLASSIFICATION, _model("LinearSVC"), scaled=True, strength="C"),
    ModelChoice(
        "svm-hinge", CLASSIFICATION, _model("LinearSVC", loss="hinge"), scaled=True, most_cells=3e7, strength="C"
    ),
    ModelChoice(
        "hard-margin", CLASSIFICATION, _model("HardMarginSVC"), scaled=True, many_classes=False, separable_only=True
    ),
    ModelChoice("perceptron", CLASSIFICATION, _model("Perceptron", seeded=True), scaled=True),
    ModelChoice("averaged-perceptron", CLASSIFICATION, _model("Perceptron", seeded=True, average=True), scaled=True),
    ModelChoice("pocket", CLASSIFICATION, _model("Perceptron", seeded=True, pocket=True), scaled=True, most_cells=3e7),
    ModelChoice(
        "passive-aggressive",
        CLASSIFICATION,
        _model("PassiveAggressiveClassifier", seeded=True, average=True),
        scaled=True,
    ),
    ModelChoice("pegasos", CLASSIFICATION, _model("Pegasos", seeded=True), scaled=True),
    ModelChoice("sgd", CLASSIFICATION, _model("SGDClassifier", seeded=True, loss="log_loss"), scaled=True),
    ModelChoice("qda", CLASSIFICATION, _model("QuadraticDiscriminantAnalysis", shrinkage="auto")),
    ModelChoice(
        "kernel-perceptron",
        CLASSIFICATION,
        _model("KernelPerceptron", seeded=True, average=True),
        scaled=True,
        most_cells=1e6,
    ),
    ModelChoice("svm-rbf", CLASSIFICATION, _model("SVC"), scaled=True, most_cells=1e6, strength="C"),
    ModelChoice(
        "kernel-logistic",
        CLASSIFICATION,
        _model("KernelLogisticRegression", seeded=True),
        scaled=True,
        most_cells=3e5,
        strength="C",
    ),
    ModelChoice("least-squares", REGRESSION, _model("LinearRegression")),
    ModelChoice("ridge", REGRESSION, _model("Ridge"), scaled=True, strength="alpha"),
    ModelChoice("ridge-cv", REGRESSION, _model("RidgeCV"), scaled=True),
    ModelChoice("svm", REGRESSION, _model("LinearSVR"), scaled=True, most_cells=3e7, scaled_target=True, strength="C"),
    ModelChoice(
        "passive-aggressive",
        REGRESSION,
        _model("PassiveAggressiveRegressor", seeded=True, average=True),
        scaled=True,
        scaled_target=True,
    ),
    ModelChoice("sgd", REGRESSION, _model("SGDRegressor", seeded=True), scaled=True, scaled_target=True),
    ModelChoice("svm-rbf", REGRESSION, _model("SVR"), scaled=True, most_cells=1e6, scaled_target=True, strength="C"),
    ModelChoice(
        "kernel-ridge",
        REGRESSION,
        _model("KernelRidge", seeded=True, kernel="rbf", gamma="scale", fit_intercept=True),
        scaled=True,
        most_cells=3e5,
        strength="alpha",
    ),
    ModelChoice(
        "kernel-ridge-cv",
        REGRESSION,
        _model("KernelRidgeCV", seeded=True, kernel="rbf", gamma="scale", fit_intercept=True, alphas=_PENALTIES),
        scaled=True,
        most_cells=3e5,
    ),
)
"""Models in order of complexity: closed-form solutions, convex problems, models with a tuned penalty, learners whose
result depends on the order of visits, models with more coefficients, and models with one coefficient for each row.
"""


def suitable_models(task: str, n_classes: int) -> list[ModelChoice]:
    """The models that suit a target."""
    return [each for each in MODELS if each.task == task and (each.many_classes or n_classes == 2)]


def find_model(name: str, task: str, n_classes: int) -> ModelChoice:
    """A model by its name."""
    for each in suitable_models(task, n_classes):
        if each.name == name:
            return each
    names = ", ".join(["auto", *(each.name for each in suitable_models(task, n_classes))])
    what = _("a regression") if task == REGRESSION else _("{n} classes", n=n_classes)
    raise InvalidParameter(
        _(
            "there is no model {name!r} for {what}; there are {names}. Choose one of them with --model.",
            name=name,
            what=what,
            names=names,
        )
    )
