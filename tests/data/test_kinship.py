"""Models are scikit-learn's estimators, whenever it is imported.

Every test runs a program of its own: what counts is what was imported first.
"""

import subprocess
import sys

import pytest

MODELS = (
    "HardMarginSVC",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Pegasos",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
    "Ridge",
    "RidgeCV",
    "SGDClassifier",
    "SGDRegressor",
)
START = f"import sys, hiperplano\nmodels = [getattr(hiperplano, name) for name in {MODELS}]\n"
NOT_YET = "assert 'sklearn' not in sys.modules\n"


def run(program):
    ran = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_fit_to_arrays_does_without_scikit_learn():
    run(
        START
        + """
import numpy as np
X = np.vstack([np.eye(3), np.eye(3) + 0.5, -np.eye(3), -np.eye(3) - 0.5])
y = np.repeat([1, 0], 6)
for model in models:
    made = model().fit(X, y)
    assert made.predict(X).shape == (12,)
    assert made.n_features_in_ == 3 and not hasattr(made, "feature_names_in_")
for name in ("Perceptron", "LogisticRegression"):
    for labels in (y.astype(float), np.where(y, "yes", "no")):
        assert (getattr(hiperplano, name)().fit(X, labels).classes_ == np.unique(labels)).all()
"""
        + NOT_YET
    )


LOOK = """
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier, is_regressor
import sklearn.utils.metadata_routing
for model in models:
    made = model()
    kin = [cls.__name__ for cls in model.__mro__ if not cls.__module__.endswith("kinship")]
    assert isinstance(made, BaseEstimator) and issubclass(model, BaseEstimator)
    assert isinstance(made, ClassifierMixin) == is_classifier(made) != is_regressor(made)
    names = [name for name in dir(made) if not name.startswith("_")]
    print(model.__name__, kin, names, clone(made), made.get_params(), made.__sklearn_tags__())
    print(len(made._repr_html_()) > 1000)
"""


def test_a_model_has_the_same_of_scikit_learn_whichever_is_imported_first():
    born_first, born_later = run(START + NOT_YET + LOOK), run("import sklearn.base\n" + START + LOOK)
    assert born_first == born_later
    assert "set_fit_request" in born_first


@pytest.mark.parametrize(
    "question",
    [
        "assert model.get_params()['eta0'] == 2.0",
        "assert model.set_params(eta0=3.0).eta0 == 3.0",
        "assert repr(model) == 'Perceptron(eta0=2.0)'",
        "assert 'score' in dir(model)",
        "assert 'score' in dir(hiperplano.Perceptron)",
        "assert hiperplano.Perceptron.score.__name__ == 'score'",
        "assert '<style>' in model._repr_html_()",
        "assert model.fit([[0.0], [1.0]], ['no', 'yes']).score([[0.0], [1.0]], ['no', 'yes']) == 1.0",
    ],
)
def test_who_asks_for_what_is_scikit_learns_imports_it(question):
    run("import sys, hiperplano\nmodel = hiperplano.Perceptron(eta0=2.0)\n" + NOT_YET + question)


def test_what_nobody_has_is_refused_in_the_same_words():
    program = """
def refusal(question):
    try:
        question()
    except AttributeError as problem:
        return str(problem)
model = hiperplano.SGDClassifier()
for question in (
    lambda: model.coef_,
    lambda: hiperplano.SGDClassifier.coefs_,
    lambda: hiperplano.LinearRegression().coef_,
    lambda: model.__array__,
    lambda: model.predict_proba,
    lambda: model.predict_prob,
    lambda: hiperplano.SGDClassifier.predict_prob,
):
    print(refusal(question))
"""
    before = run("import sys, hiperplano\n" + NOT_YET + program)
    assert before == run("import sklearn.base, hiperplano\n" + program)
    assert "probabilities need loss='log_loss'" in before


def test_what_was_learnt_is_asked_for_and_copied_without_scikit_learn():
    run(
        "import sys, copy, pickle, hiperplano, numpy as np\n"
        "model = hiperplano.Perceptron().fit(np.array([[0.0], [1.0]]), np.array([0, 1]))\n"
        "for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):\n"
        "    assert (twin.coef_ == model.coef_).all() and not hasattr(twin, 'loss_')\n" + NOT_YET
    )


def test_a_class_of_the_users_joins_too():
    run(
        "import sys, hiperplano\n"
        "class Mine(hiperplano.Ridge):\n"
        "    def __init__(self, more=1, alpha=1.0):\n"
        "        super().__init__(alpha=alpha)\n"
        "        self.more = more\n"
        "    def fit(self, X, y, sample_weight=None):\n"
        "        return super().fit(X, y, sample_weight)\n" + NOT_YET + "from sklearn.base import clone\n"
        "assert repr(clone(Mine(more=3))) == 'Mine(more=3)'\n"
        "assert 'sample_weight' in Mine().set_fit_request.__doc__\n"
    )


def test_threads_that_ask_at_once_all_get_an_answer():
    run(
        "import sys, hiperplano\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "models = [hiperplano.Ridge(alpha=float(k)) for k in range(8)]\n"
        + NOT_YET
        + "with ThreadPoolExecutor(8) as pool:\n"
        "    found = list(pool.map(lambda model: model.get_params()['alpha'], models))\n"
        "assert found == [float(k) for k in range(8)]\n"
    )


def test_an_import_of_scikit_learn_that_fails_can_be_made_again():
    run(
        "import sys, hiperplano\nmodel = hiperplano.Ridge(alpha=2.0)\n"
        "sys.modules['joblib'] = None\n"
        "try:\n    model.get_params()\n    raise SystemExit('no error')\nexcept ImportError:\n    pass\n"
        "del sys.modules['joblib']\n"
        "for name in [name for name in sys.modules if name.startswith('sklearn')]:\n    del sys.modules[name]\n"
        "assert model.get_params()['alpha'] == 2.0\n"
    )
