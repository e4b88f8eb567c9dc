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
    print(type(model), model.__name__, kin, names, clone(made), made.get_params(), made.__sklearn_tags__())
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


@pytest.mark.parametrize(
    "program",
    [
        """
class Mine(hiperplano.Ridge):
    def __init__(self, more=1, alpha=1.0):
        super().__init__(alpha=alpha)
        self.more = more
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight)
    def __repr__(self):
        return f"<{super().__repr__()}>"
assert repr(Mine(more=3)) == "<Mine(more=3)>"
assert 'sample_weight' in Mine().set_fit_request.__doc__
""",
        """
class Mine(hiperplano.Ridge):
    def score(self, X, y):
        return 2 * super().score(X, y)
assert round(Mine(alpha=0.0).fit(np.array([[0.0], [1.0]]), np.array([0.0, 1.0])).score([[0.0], [1.0]], [0.0, 1.0])) == 2
""",
        """
class Mine(hiperplano.Ridge):
    def __getattr__(self, name):
        raise AttributeError(name)
assert Mine(alpha=2.0).get_params()['alpha'] == 2.0
""",
        """
class Mine(hiperplano.LinearDiscriminantAnalysis):
    def transform(self, X):
        return np.zeros((len(X), 1))
X = np.vstack([np.eye(3), np.eye(3) + 0.5, -np.eye(3), -np.eye(3) - 0.5])
made = Mine().set_output(transform='pandas').fit(X, np.repeat([0, 1], 6))
assert list(made.transform(X).columns) == ['mine0']
""",
        """
seen = []
class Plugin:
    def __init_subclass__(cls, *, key, **rest):
        super().__init_subclass__(**rest)
        seen.append(key)
class Before(Plugin, hiperplano.Ridge, key='before'): pass
class After(hiperplano.Ridge, Plugin, key='after'): pass
import sklearn.base
assert seen == ['before', 'after'] and issubclass(After, sklearn.base.BaseEstimator)
""",
        """
from typing import Protocol
class Named(Protocol):
    def name(self): ...
class Mine(hiperplano.Ridge, Named):
    def name(self):
        return 'mine'
assert Mine().name() == 'mine'
""",
    ],
    ids=["methods", "super", "getattr", "transform", "plugin", "protocol"],
)
def test_a_class_of_the_users_is_born_as_if_scikit_learn_had_been_there(program):
    run("import sys, hiperplano, numpy as np\nhiperplano.Ridge\n" + NOT_YET + program)


@pytest.mark.parametrize(
    "question",
    [
        "hiperplano.Ridge().__sklearn_tags__().estimator_type == 'regressor'",
        "issubclass(hiperplano.Ridge, HasParams) and isinstance(hiperplano.Ridge(), HasParams)",
        "(lambda page: 'score(self' in page and 'set_fit_request' in page)"
        "(pydoc.render_doc(hiperplano.Ridge, renderer=pydoc.plaintext))",
    ],
    ids=["tags", "protocol", "help"],
)
def test_a_class_seems_to_have_what_it_will_have(question):
    run(
        "import pydoc, sys, typing, hiperplano\nhiperplano.Ridge\n"
        "@typing.runtime_checkable\n"
        "class HasParams(typing.Protocol):\n    def get_params(self, deep=True): ...\n" + NOT_YET + f"assert {question}"
    )


def test_a_method_put_over_a_borrowed_one_reaches_it_once():
    run(
        "import sys, hiperplano, numpy as np\n"
        "Ridge = hiperplano.Ridge\n"
        "Ridge.score = lambda self, X, y: 2 * super(Ridge, self).score(X, y)\n"
        "X, y = np.array([[0.0], [1.0]]), np.array([0.0, 1.0])\n"
        "made = Ridge(alpha=0.0).fit(X, y)\n" + NOT_YET + "assert round(made.score(X, y), 9) == 2.0\n"
    )


@pytest.mark.parametrize("slots", ["", "__slots__ = ('real',)"])
def test_scikit_learn_may_come_from_any_loader(slots):
    """One for all modules, as of a zip archive, or one whose methods cannot be replaced."""
    run(
        START
        + NOT_YET
        + f"""
from importlib.machinery import PathFinder, SourceFileLoader
class Archive:
    {slots}
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        self.real[module.__name__].exec_module(module)
archive = Archive()
archive.real = {{}}
class Finder:
    def find_spec(self, name, path, target=None):
        spec = PathFinder.find_spec(name, path, target) if name.startswith('sklearn.') else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            archive.real[name], spec.loader = spec.loader, archive
        return spec
sys.meta_path.insert(1, Finder())
import sklearn.base
assert all(issubclass(model, sklearn.base.BaseEstimator) for model in models)
assert sklearn.base.__loader__ is sklearn.base.__spec__.loader is archive
assert not any(type(finder).__module__.startswith('hiperplano') for finder in sys.meta_path)
"""
    )


def test_a_library_imported_twice_joins_twice():
    run(
        "import sys, hiperplano\nfirst = hiperplano.Ridge\n"
        "for name in [name for name in sys.modules if name.startswith('hiperplano')]:\n    del sys.modules[name]\n"
        "import hiperplano\nsecond = hiperplano.Ridge\n" + NOT_YET + "from sklearn.base import BaseEstimator\n"
        "assert first is not second and issubclass(first, BaseEstimator) and issubclass(second, BaseEstimator)\n"
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
