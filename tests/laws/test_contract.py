"""The contract of rows: `fold` is the only way to see them, so a model is the same wherever its rows are."""

import ast
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier

from hiperplano import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    Ridge,
    RidgeCV,
    diagnose,
    inference,
    separability,
)
from hiperplano.data.stream.arrays import stream_of_arrays
from hiperplano.errors import NotAvailable
from tests.registry import ESTIMATORS, ONLINE, WITHOUT_COEFFICIENTS, Entry
from tests.shipped import Shipped

BATCH = [
    *ESTIMATORS,
    Entry(LogisticRegression(C=np.inf)),
    Entry(LogisticRegression(C=np.inf, fit_intercept=False, class_weight="balanced")),
    Entry(LogisticRegression(firth=True)),
    *[entry for entry in WITHOUT_COEFFICIENTS if hasattr(entry.estimator, "priors")],
]
IN_MEMORY = [entry for entry in BATCH if getattr(entry.estimator, "solver", "") == "dual"] + ONLINE
ANYWHERE = [entry for entry in BATCH if entry not in IN_MEMORY]


def table(estimator, n=173, seed=0):
    """Rows of different scales and offsets, weights, and a target that fits the estimator."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * np.logspace(-1, 2, 4) + np.linspace(0, 5, 4)
    score = X @ (rng.normal(size=4) / np.logspace(-1, 2, 4)) + rng.normal(size=n) + 3.0
    levels = [0.5] if getattr(estimator, "firth", False) else [0.3, 0.7]
    y = np.digitize(score, np.quantile(score, levels)) if is_classifier(estimator) else score
    return X, y, rng.uniform(0.5, 2.0, size=n)


def assert_same_model(model, other, X):
    # In memory other loops find the machine; a gap of 1e-11 leaves up to 3e-6 of it where the loss has corners.
    digits = 1e-7 if getattr(model, "loss", "") in ("hinge", "epsilon_insensitive") else 1e-9
    for name in ("coef_", "intercept_", "means_", "covariance_", "scalings_", "alpha_", "C_"):
        mine, theirs = (getattr(one, name, None) for one in (model, other))
        if name == "coef_" and mine is not None:
            size = np.abs(X - X[:1]).max(axis=0)
            mine, theirs = np.atleast_2d(mine) * size, np.atleast_2d(theirs) * size
        if mine is None:
            assert theirs is None
            continue
        scale = float(np.abs(np.asarray(theirs, dtype=float)).max(initial=0.0)) or 1.0
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=digits * scale, err_msg=name)
    apart = ~tied(model, X)
    np.testing.assert_allclose(model.predict(X)[apart].astype(float), other.predict(X)[apart].astype(float), rtol=1e-7)


def tied(model, X):
    """Rows whose two largest scores differ by rounding alone: planes of the hinge often meet at both margins."""
    scores = model.decision_function(X) if hasattr(model, "decision_function") else np.zeros(len(X))
    if scores.ndim == 1:
        return np.zeros(len(X), dtype=bool)
    second, first = np.sort(scores, axis=1)[:, -2:].T
    return first - second <= 1e-9 * np.abs(scores).max(axis=1)


def streamed(x, y, weight=None, seed=2):
    """Rows of a function that yields them in blocks of any size, one of them empty."""
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(y), size=5))
    cuts = [0, *cuts, cuts[-1], len(y)]
    given = (x, y) if weight is None else (x, y, weight)

    def blocks():
        return (tuple(part[a:b] for part in given) for a, b in pairwise(cuts))

    return stream_of_arrays(blocks)


@pytest.mark.parametrize("entry", ANYWHERE, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_model_is_the_same_wherever_its_rows_are(entry, weighted, kind):
    """Through a serialiser, in blocks of random sizes that differ from case to case; read again in every pass."""
    X, y, weight = table(entry.estimator)
    if kind == "sparse":
        X = X * (np.random.default_rng(1).uniform(size=X.shape) < 0.6)
    weight = weight if weighted else None
    rows = sparse.csr_array(X) if kind == "sparse" else X
    plain = clone(entry.estimator).fit(rows, y, sample_weight=weight)
    for elsewhere in (Shipped(rows, y, weight, seed=2 * weighted + (kind == "sparse")), streamed(rows, y, weight)):
        assert_same_model(clone(entry.estimator).fit(elsewhere), plain, X)


SHAPES = {
    "sampled first": (13_000, 6),  # enough rows for a first solution from a sample
    "uneven rows": (13_000, 6),
    "nearly dependent": (1_000, 6),
    "dependent": (1_000, 6),
    "wide": (40, 80),
}
FAMILIES = [
    LinearRegression(),
    Ridge(),
    RidgeCV(),
    RidgeCV(cv=3),
    LeastSquaresClassifier(),
    LogisticRegression(),
    LogisticRegression(C=1e4),
    LinearSVC(loss="hinge", tol=1e-11),
    LinearSVC(tol=1e-11),
    LinearSVR(tol=1e-11),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(shrinkage="auto"),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("model", FAMILIES, ids=str)
@pytest.mark.filterwarnings("ignore::UserWarning")  # of separated classes and dependent columns, which are meant here
def test_the_paths_of_other_shapes_keep_the_contract_too(model, shape):
    n, d = SHAPES[shape]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * np.logspace(-1, 1, d) + 1.0
    if "dependent" in shape:
        X[:, -1] = X[:, 0] + X[:, 1] + 1e-7 * rng.normal(size=n) * (shape == "nearly dependent")
    if shape == "uneven rows":
        X[:5] *= 1000
    score = X @ (rng.normal(size=d) / np.logspace(-1, 1, d)) + rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, [0.3, 0.7])) if is_classifier(model) else score
    here, size = clone(model).fit(X, y), X.std(axis=0)
    coef = np.atleast_2d(here.coef_)
    # Support vector machines in memory are solved by compiled loops: another way to the same minimum.
    looped = isinstance(model, LinearSVC | LinearSVR)
    # Another order of the rows in memory changes discriminants of nearly dependent columns (condition 1e7) by 1e-7.
    loose = looped or (shape == "nearly dependent" and isinstance(model, LinearDiscriminantAnalysis))
    atol = (1e-6 if loose else 1e-9) * np.abs(coef * size).max()
    for elsewhere in (Shipped(X, y, seed=1), streamed(X, y)):
        there = clone(model).fit(elsewhere)
        assert looped or here.solution_.method == there.solution_.method
        np.testing.assert_allclose(np.atleast_2d(there.coef_) * size, coef * size, rtol=0, atol=atol)


@pytest.mark.parametrize("entry", IN_MEMORY, ids=str)
def test_a_model_that_needs_rows_in_memory_says_so(entry):
    X, y, _ = table(entry.estimator)
    with pytest.raises(NotAvailable, match=r"memory.*Pass arrays"):
        clone(entry.estimator).fit(Shipped(X, y))


def test_the_widest_margin_is_the_same_wherever_rows_are():
    X, _, _ = table(HardMarginSVC())
    y = X[:, 0] / 0.1 + X[:, 3] / 100 > 1.0
    X[:, 0] += np.where(y, 0.1, -0.1)
    plain = HardMarginSVC().fit(X, y)
    assert_same_model(HardMarginSVC().fit(Shipped(X, y)), plain, X)


@pytest.mark.parametrize("cov", ["classical", "HC1", "HC3"])
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_standard_errors_are_the_same_wherever_rows_are(cov, alpha):
    X, y, weight = table(Ridge())
    model = Ridge(alpha=alpha).fit(X, y, sample_weight=weight)
    here, there = (
        inference(model, X, y, cov=cov, sample_weight=weight),
        inference(model, Shipped(X, y, weight), cov=cov),
    )
    np.testing.assert_allclose(there.se, here.se, rtol=1e-9)


@pytest.mark.parametrize("cov", ["classical", "HC0", "HC1"])
def test_standard_errors_of_logistic_models_too(cov):
    X, y, weight = table(LogisticRegression())
    model = LogisticRegression(C=np.inf).fit(X, y, sample_weight=weight)
    here, there = (
        inference(model, X, y, cov=cov, sample_weight=weight),
        inference(model, Shipped(X, y, weight), cov=cov),
    )
    np.testing.assert_allclose(there.se, here.se, rtol=1e-9)


def test_a_diagnosis_is_the_same_wherever_rows_are():
    X, y, _ = table(LinearRegression())
    model = LinearRegression().fit(X, y)
    here, there = diagnose(model, X, y), diagnose(model, Shipped(X, y))
    assert str(here) == str(there)
    np.testing.assert_allclose(there.leverage, here.leverage, rtol=1e-9)
    np.testing.assert_allclose(there.cooks, here.cooks, rtol=1e-7)


@pytest.mark.parametrize("gap", [-1.0, 0.0, 0.5])
def test_separability_is_the_same_wherever_rows_are(gap):
    X, _, _ = table(LogisticRegression())
    y = X[:, 0] > 0
    X[:, 0] += np.where(y, gap, -gap)
    if gap == 0.0:
        X[0] = X[1] = X[~y][0]
    here, there = separability(X, y), separability(Shipped(X, y))
    assert type(here) is type(there)
    assert str(here) == str(there)
    assert there.verify(X, y)


SOURCES = Path(__file__).parents[2] / "src" / "hiperplano"
FORBIDDEN = {"x", "y", "weight", "vectors", "take", "subset", "slices", "block", "block_rows"}
DESIGNS = {"design", "coded", "sample", "problem.design", "self.design", "self._design"}


def _violations(path):
    """Attributes of designs that only `data/` may touch, the kind of its array, and closures given to `fold`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in DESIGNS and node.attr in FORBIDDEN:
            yield f"{path.relative_to(SOURCES)}:{node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("fold", "fold_and_map", "map") and node.args and isinstance(node.args[0], ast.Lambda):
                yield f"{path.relative_to(SOURCES)}:{node.lineno}: a closure as a statistic"
            if node.func.attr in ("map_rows", "with_target", "counted"):
                yield f"{path.relative_to(SOURCES)}:{node.lineno}: {node.func.attr}"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance" and "np.ndarray" in ast.unparse(node):
            yield f"{path.relative_to(SOURCES)}:{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("folder", ["solvers", "stats", "models", "selection", "linalg"])
def test_only_data_touches_a_designs_arrays(folder):
    assert not [found for path in sorted((SOURCES / folder).rglob("*.py")) for found in _violations(path)]
