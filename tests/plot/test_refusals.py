"""Displays refuse with rule, evidence and remedy, load matplotlib late, and document what they take."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

import hiperplano.plot
from hiperplano import (
    CoefficientDisplay,
    DivergenceDisplay,
    GainsDisplay,
    KSDisplay,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    MarginDisplay,
    PathDisplay,
    Perceptron,
    RegionsDisplay,
    ReplayDisplay,
    ResidualDisplay,
    Ridge,
    RidgeCV,
)
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget, NotAvailable, NotInstalled
from tests.architecture.test_public_names import documented, parameters, sections
from tests.plot.samples import regression, scored, three_groups, two_groups

DISPLAYS = [getattr(hiperplano.plot, name) for name in hiperplano.plot.__all__]
X, Y = two_groups()
IRIS, KINDS = load_iris(return_X_y=True)
RX, RY = regression()


def three_classes():
    return LinearSVC().fit(*three_groups())


REFUSED = {
    "three columns": (
        lambda: MarginDisplay.from_estimator(LinearSVC().fit(IRIS[:100, :3], KINDS[:100]), IRIS[:100, :3], KINDS[:100]),
        NotAvailable,
        r"1 plane\(s\) in 3 columns; the plot shows one plane in two\. Fit two classes on two columns",
    ),
    "three classes": (
        lambda: MarginDisplay.from_estimator(three_classes(), *three_groups()),
        NotAvailable,
        r"3 plane\(s\) in 2 columns",
    ),
    "no plane": (
        lambda: MarginDisplay.from_estimator(KNeighborsClassifier().fit(X, Y), X, Y),
        NotAvailable,
        "KNeighborsClassifier is not a linear classifier",
    ),
    "not fitted": (lambda: MarginDisplay.from_estimator(LinearSVC(), X, Y), NotFittedError, "not fitted"),
    "unknown label": (
        lambda: MarginDisplay.from_estimator(LinearSVC().fit(X, Y), X, Y + 1),
        InvalidTarget,
        r"y holds 2 \(row \d+\), which is not one of the model's classes \[0, 1\]",
    ),
    "labels of another length": (
        lambda: MarginDisplay.from_estimator(LinearSVC().fit(X, Y), X, Y[:5]),
        InvalidTarget,
        r"y has shape \(5,\) and X 40 rows",
    ),
    "missing number": (
        lambda: RegionsDisplay.from_estimator(three_classes(), [[1.0, np.nan]]),
        InvalidData,
        "row 0 of X holds NaN or infinity",
    ),
    "regions of three columns": (
        lambda: RegionsDisplay.from_estimator(LinearSVC().fit(IRIS[:, :3], KINDS), IRIS[:, :3]),
        InvalidData,
        r"X has shape \(150, 3\).*rows of two numbers\. Choose two columns",
    ),
    "regions of a regressor": (
        lambda: RegionsDisplay.from_estimator(Ridge().fit(X, Y), X),
        NotAvailable,
        "Ridge is not a classifier",
    ),
    "resolution": (
        lambda: RegionsDisplay.from_estimator(three_classes(), X, resolution=1),
        InvalidParameter,
        "resolution=1; it must be a whole number of 2 or more",
    ),
    "replay of many classes": (
        lambda: ReplayDisplay.from_estimator(Perceptron(), *three_groups()),
        InvalidTarget,
        "y holds 3 classes; the plot follows one plane",
    ),
    "replay of a batch model": (
        lambda: ReplayDisplay.from_estimator(LinearSVC(), X, Y),
        InvalidParameter,
        "LinearSVC does not learn step by step",
    ),
    "panels": (
        lambda: ReplayDisplay.from_estimator(Perceptron(), X, Y, panels=0),
        InvalidParameter,
        "panels=0; panels must be a whole number of 1 or more",
    ),
    "too few axes": (
        lambda: ResidualDisplay.from_estimator(LinearRegression().fit(RX, RY), RX, RY, ax=plt.subplots(1, 2)[1]),
        InvalidParameter,
        "ax holds 2 axes, and there are 3 panels to draw",
    ),
    "one class": (
        lambda: KSDisplay.from_predictions([1, 1, 1], [1.0, 2.0, 3.0]),
        InvalidTarget,
        "y holds one class \\(1 in all 3 rows\\); two are compared",
    ),
    "many classes": (
        lambda: GainsDisplay.from_predictions([0, 1, 2], [1.0, 2.0, 3.0]),
        InvalidTarget,
        "y holds 3 classes; two are compared. Pass pos_label",
    ),
    "many classes of a model": (
        lambda: KSDisplay.from_estimator(three_classes(), *three_groups()),
        NotAvailable,
        "LinearSVC has 3 classes",
    ),
    "no classifier": (
        lambda: GainsDisplay.from_estimator(Ridge().fit(X, Y), X, Y),
        NotAvailable,
        "Ridge is not a classifier",
    ),
    "label that is none": (
        lambda: KSDisplay.from_estimator(LinearSVC().fit(X, Y), X, Y, pos_label="yes"),
        InvalidParameter,
        r"pos_label='yes' is not one of the model's classes \[0, 1\]",
    ),
    "no probabilities": (
        lambda: KSDisplay.from_estimator(LinearSVC().fit(X, Y), X, Y, response_method="predict_proba"),
        NotAvailable,
        "LinearSVC has no predict_proba",
    ),
    "response": (
        lambda: KSDisplay.from_estimator(LinearSVC().fit(X, Y), X, Y, response_method="predict"),
        InvalidParameter,
        "response_method='predict'; it must be one of 'auto'",
    ),
    "kind": (
        lambda: GainsDisplay.from_predictions(*scored(), kind="roc"),
        InvalidParameter,
        "kind='roc'; kind must be 'gains' or 'lift'",
    ),
    "no coefficients": (
        lambda: CoefficientDisplay.from_estimator(DecisionTreeRegressor().fit(X, Y)),
        NotAvailable,
        "DecisionTreeRegressor has no coef_",
    ),
    "names": (
        lambda: CoefficientDisplay.from_estimator(Ridge().fit(X, Y), feature_names=["one"]),
        InvalidParameter,
        "feature_names holds 1 names for 2 coefficients",
    ),
    "other columns": (
        lambda: CoefficientDisplay.from_estimator(Ridge().fit(X, Y), RX),
        InvalidData,
        r"X has shape \(60, 4\) and the model 2 coefficients",
    ),
    "most": (
        lambda: CoefficientDisplay.from_estimator(Ridge().fit(X, Y), most=0),
        InvalidParameter,
        "most=0; most must be a whole number of 1 or more",
    ),
    "no path": (
        lambda: PathDisplay.from_estimator(LinearRegression().fit(RX, RY), RX, RY),
        NotAvailable,
        "LinearRegression has no path",
    ),
    "path of a search that was not made": (
        lambda: PathDisplay.from_estimator(RidgeCV(), RX, RY),
        NotFittedError,
        "not fitted",
    ),
    "strengths beside a search": (
        lambda: PathDisplay.from_estimator(RidgeCV().fit(RX, RY), RX, RY, strengths=[1.0]),
        InvalidParameter,
        "RidgeCV brings its own penalties",
    ),
    "strengths": (
        lambda: PathDisplay.from_estimator(Ridge(), RX, RY, strengths=[0.0, 1.0]),
        InvalidParameter,
        "finite numbers above 0",
    ),
    "path of two targets": (
        lambda: PathDisplay.from_estimator(Ridge(), RX, np.column_stack([RY, RY]), strengths=[1.0]),
        InvalidParameter,
        "y has 2 targets; a path belongs to one",
    ),
    "residuals of a classifier": (
        lambda: ResidualDisplay.from_estimator(LogisticRegression().fit(X, Y), X, Y),
        NotAvailable,
        "no residual analysis for hiperplano's LogisticRegression",
    ),
    "an exact fit": (
        lambda: ResidualDisplay.from_estimator(LinearRegression().fit(RX, RX[:, 0]), RX, RX[:, 0]),
        NotAvailable,
        "fits all 60 rows exactly",
    ),
    "leverage of predictions": (
        lambda: ResidualDisplay.from_predictions([1.0, 2.0, 4.0], [1.0, 2.5, 3.0], panels="leverage"),
        InvalidParameter,
        "predictions alone have no leverage",
    ),
    "predictions of another length": (
        lambda: ResidualDisplay.from_predictions([1.0, 2.0], [1.0]),
        InvalidData,
        r"y has shape \(2,\) and predicted \(1,\)",
    ),
    "residuals that do not vary": (
        lambda: ResidualDisplay.from_predictions([1.0, 2.0], [0.0, 1.0]),
        InvalidData,
        "the residuals do not vary",
    ),
    "smoothing": (
        lambda: DivergenceDisplay.from_predictions([1.0, 2.0], [1.0, 3.0], smoothing=-1),
        InvalidParameter,
        "smoothing=-1; smoothing must be a finite number, 0 or more",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_refuses_and_leaves_no_figure(case):
    call, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words):
        call()
    if case != "too few axes":  # whose axes are the caller's
        assert not plt.get_fignums()


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display.__name__)
def test_methods_document_their_parameters(display):
    for name, method in inspect.getmembers(display, callable):
        if name.startswith("_"):
            continue
        found = documented(sections(method.__doc__).get("Parameters", "").replace("**kwargs", "kwargs"))
        assert not set(parameters(method)) - found, name


def test_pictures_are_importable_without_matplotlib_and_say_how_to_install_it():
    """And matplotlib and compiled code are loaded when they are needed."""
    code = """
import sys
from hiperplano.plot import KSDisplay, MarginDisplay, RegionsDisplay, ReplayDisplay
print(*[name for name in ("matplotlib", "numba") if name in sys.modules])
sys.modules["matplotlib"] = None  # importing it now raises ImportError
from hiperplano.errors import NotInstalled
try:
    KSDisplay.from_predictions([0, 1], [0.0, 1.0])
except NotInstalled as problem:
    print(problem)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    loaded, said = ran.stdout.splitlines()
    assert not loaded
    assert "pip install hiperplano[app]" in said
    assert issubclass(NotInstalled, ImportError)
