"""Every class that bears the name of one of scikit-learn's takes its parameters, and has its methods and attributes."""

import re
from inspect import getdoc, signature

import numpy as np
import pytest
from sklearn.utils import all_estimators

from benchmarks.peer_tests import mirrored

THEIRS = dict(all_estimators())
OURS = mirrored()
# Where the same word means something else here, or where scikit-learn's own default is about to change.
OTHER_DEFAULTS = {
    ("LinearRegression", "tol"): "only for solver='cg', which goes on to more digits",
    ("Ridge", "tol"): "only for solver='cg', which goes on to more digits",
    ("RidgeClassifier", "tol"): "only for solver='cg', which goes on to more digits",
    ("LogisticRegression", "penalty"): "'deprecated' means 'l2'",
    ("LogisticRegression", "tol"): "of the gradient of standardised columns",
    ("LogisticRegression", "solver"): "chosen by the shape of the rows",
    ("LogisticRegression", "max_iter"): "a limit that exact fits do not meet",
    ("LogisticRegressionCV", "penalty"): "'deprecated' means 'l2'",
    ("LogisticRegressionCV", "l1_ratios"): "'warn' means None",
    ("LogisticRegressionCV", "scoring"): "the negative log loss, as scikit-learn will have it from 1.11 on",
    ("LogisticRegressionCV", "solver"): "chosen by the shape of the rows",
    ("LogisticRegressionCV", "max_iter"): "a limit that exact fits do not meet",
    ("LogisticRegressionCV", "use_legacy_attributes"): "'warn' means True",
    ("LinearSVC", "max_iter"): "None is 1,000, and more on small tables",
    ("LinearSVR", "max_iter"): "None is 1,000, and more on small tables",
    ("NuSVC", "max_iter"): "a limit that fits do not meet: none goes on for ever",
    ("NuSVR", "max_iter"): "a limit that fits do not meet: none goes on for ever",
    ("OneClassSVM", "max_iter"): "a limit that fits do not meet: none goes on for ever",
    ("SVC", "max_iter"): "a limit that fits do not meet: none goes on for ever",
    ("SVR", "max_iter"): "a limit that fits do not meet: none goes on for ever",
}
OTHER_ATTRIBUTES = {"loss_function_", "sparse_coef_"}
OF_LINEAR_KERNELS = {"coef_"}
LEFT_OUT = {("NuSVC", "class_weight")}  # without effect in scikit-learn, whose own check of weights it fails
CASES = sorted({(name, each) for name in OURS for each in signature(THEIRS[name]).parameters} - LEFT_OUT)


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_every_parameter_is_taken_with_its_default(name, parameter):
    ours, theirs = signature(OURS[name]).parameters, signature(THEIRS[name]).parameters
    assert parameter in ours
    assert ours[parameter].kind == theirs[parameter].kind
    same = ours[parameter].default == theirs[parameter].default
    assert same != ((name, parameter) in OTHER_DEFAULTS)


@pytest.mark.parametrize("name", sorted(OURS))
def test_positional_parameters_come_in_the_same_order(name):
    def positional(kind):
        found = signature(kind).parameters.values()
        return [one.name for one in found if one.kind is one.POSITIONAL_OR_KEYWORD]

    assert positional(OURS[name]) == positional(THEIRS[name])


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_public_method_is_there(name):
    methods = {
        one for one in dir(THEIRS[name]) if not one.startswith("_") and callable(getattr(THEIRS[name], one, None))
    }
    if name == "LogisticRegressionCV":  # which inherits it, but calls nobody back
        methods.discard("set_callbacks")
    assert not methods - set(dir(OURS[name]))
    for method in methods & {"fit", "partial_fit", "predict", "score", "transform"}:
        theirs = [one for one in signature(getattr(THEIRS[name], method)).parameters if one != "params"]
        assert set(theirs) <= set(signature(getattr(OURS[name], method)).parameters)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(OURS))
def test_every_documented_attribute_is_there(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=60)
    if hasattr(OURS[name], "classes_") or "Classif" in name or hasattr(OURS[name], "decision_function"):
        y = np.digitize(y, [-0.7, 0.7])
    options = {"store_cv_results": True} if name.startswith("Ridge") and name.endswith("CV") else {}
    model = OURS[name](**options).fit(X, y)
    documented = re.search(r"Attributes\n\s*-+\n(.*?)(\n\s*See Also|\n\s*Notes|\Z)", getdoc(THEIRS[name]), re.S).group(
        1
    )
    names = {one for line in re.findall(r"^([\w, ]+_) :", documented, re.M) for one in line.split(", ")}
    assert len(names) > 2
    allowed = OTHER_ATTRIBUTES | {"feature_names_in_"}
    if hasattr(model, "kernel"):
        allowed = allowed | OF_LINEAR_KERNELS
    assert not {one for one in names - allowed if not hasattr(model, one)}
