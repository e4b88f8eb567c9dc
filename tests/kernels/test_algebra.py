"""Laws of kernels: whatever the rules make is positive definite, and its features multiply to it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge as PlainRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from hiperplano import KernelRidge
from hiperplano.errors import InvalidData, InvalidParameter, NotAvailable
from hiperplano.kernels import (
    RBF,
    Constant,
    Exponential,
    FeatureMap,
    KernelMatrix,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    gram,
    is_valid_gram,
    resolve_kernel,
)

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))


def norm(rows):
    return (
        np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1) if sparse.issparse(rows) else (rows**2).sum(axis=1))) + 0.1
    )


def squares(rows):
    return rows.multiply(rows) if sparse.issparse(rows) else rows**2


width = st.floats(0.01, 2.0)
finite = st.one_of(
    st.builds(Constant, st.floats(0.1, 3.0)),
    st.just(Linear()),
    st.builds(Polynomial, st.integers(1, 3), width, st.floats(0.0, 2.0)),
    st.just(FeatureMap(squares)),
)
leaf = st.one_of(
    finite, st.builds(RBF, width), st.builds(Laplacian, width), st.builds(Exponential, st.floats(0.01, 0.3))
)


def expressions(leaves):
    """The four rules, again and again."""
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(lambda a, b: a + b, inner, inner),
            st.builds(lambda a, b: a * b, inner, inner),
            st.builds(lambda c, k: c * k, st.floats(0.1, 4.0), inner),
            st.builds(lambda k: k.scaled(norm), inner),
        ),
        max_leaves=4,
    )


@given(expressions(leaf), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_what_the_rules_make_is_a_kernel(kernel, seed):
    rows = np.random.default_rng(seed).normal(size=(12, 3))
    K = kernel(rows)
    assert kernel.positive_definite
    assert np.array_equal(K, K.T)
    assert is_valid_gram(K)
    np.testing.assert_allclose(kernel.diagonal(rows), K.diagonal(), rtol=1e-10)
    np.testing.assert_allclose(kernel(rows, rows[:4]), K[:, :4], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel(sparse.csr_array(rows)), K, rtol=1e-8, atol=1e-10)
    assert kernel(rows[0], rows[1]) == pytest.approx(K[0, 1], rel=1e-9, abs=1e-12)
    assert clone(kernel) == kernel
    assert hash(clone(kernel)) == hash(kernel)


@given(expressions(finite))
@settings(max_examples=30, deadline=None)
def test_features_multiply_to_the_kernel(kernel):
    phi = kernel.features(X)
    K = kernel(X)
    np.testing.assert_allclose(phi @ phi.T, K, rtol=1e-9, atol=1e-9 * np.abs(K).max())


def test_a_sum_has_the_features_of_both_and_a_product_every_pair():
    left, right = Polynomial(2), FeatureMap(squares)
    np.testing.assert_array_equal((left + right).features(X), np.hstack([left.features(X), right.features(X)]))
    crossed = np.einsum("ni,nj->nij", left.features(X), right.features(X)).reshape(len(X), -1)
    np.testing.assert_array_equal((left * right).features(X), crossed)


NAMED = {
    "linear": {},
    "poly": {"gamma": 0.3, "degree": 3, "coef0": 0.5},
    "rbf": {"gamma": 0.7},
    "laplacian": {"gamma": 0.4},
    "sigmoid": {"gamma": 0.2, "coef0": 0.1},
    "cosine": {},
    "chi2": {"gamma": 0.5},
    "additive_chi2": {},
}


FORMS = [(name, form) for name in NAMED for form in ("dense", "csr") if "chi2" not in name or form == "dense"]


@pytest.mark.parametrize(("name", "form"), FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_names_are_those_of_scikit_learn(name, dtype, form):
    rows, others = (np.abs(part) if "chi2" in name else part for part in (X, Z))
    given_rows = rows.astype(dtype) if form == "dense" else sparse.csr_array(rows.astype(dtype))
    kernel = resolve_kernel(name, given_rows, **NAMED[name])
    found = kernel(given_rows, others.astype(dtype))
    assert found.dtype == dtype
    expected = pairwise_kernels(rows, others, metric=name, **NAMED[name])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 if dtype == np.float64 else 2e-5)


def test_distances_keep_their_digits_far_from_the_origin():
    far = np.round(X * 1024) / 1024 + 2.0**20
    near = far - 2.0**20
    np.testing.assert_allclose(RBF(0.5)(far), RBF(0.5)(near), rtol=1e-9)


def test_rules_for_gamma_are_settled_by_the_rows_also_inside():
    kernel = resolve_kernel(RBF("scale") + 2.0 * Laplacian("auto"), X)
    assert kernel.left.gamma == pytest.approx(1 / (3 * X.var()))
    assert kernel.right.right.gamma == pytest.approx(1 / 3)
    assert resolve_kernel(RBF("scale"), sparse.csr_array(X)).gamma == pytest.approx(kernel.left.gamma)


def test_kernels_are_values():
    kernel = 2.0 * Linear() * (RBF(0.5) + 1.0) + Polynomial(2)
    assert str(kernel) == "2·x·x′·(exp(−0.5·‖x − x′‖²) + 1) + (x·x′ + 1)^2"
    assert eval(repr(kernel), {k.__name__: k for k in map(type, _parts(kernel))}) == kernel
    with pytest.raises(AttributeError):
        RBF(0.5).gamma = 1.0
    assert kernel.get_params()["left__right__left__gamma"] == 0.5
    with pytest.raises(InvalidParameter, match="RBF has no parameter 'width'; it has gamma"):
        (RBF() + Linear()).set_params(left__width=1)


def _parts(kernel):
    inner = [value for value in kernel.get_params(deep=False).values() if hasattr(value, "get_params")]
    return [kernel, *(part for each in inner for part in _parts(each))]


def test_a_search_reaches_the_parameters_inside():
    y = np.sin(2 * X[:, 0])
    search = GridSearchCV(KernelRidge(kernel=RBF(1.0) + Linear()), {"kernel__left__gamma": [0.01, 2.0]}, cv=3).fit(X, y)
    by_hand = [
        np.mean(
            GridSearchCV(PlainRidge(kernel=RBF(gamma) + Linear()), {"alpha": [1.0]}, cv=3)
            .fit(X, y)
            .cv_results_["mean_test_score"]
        )
        for gamma in (0.01, 2.0)
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand, rtol=1e-9)


def test_scikit_learn_takes_our_kernels_as_functions():
    y = X[:, 0] > 0
    ours, theirs = SVC(kernel=RBF(0.3), tol=1e-8).fit(X, y), SVC(kernel="rbf", gamma=0.3, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(Z), theirs.decision_function(Z), atol=1e-6)


def test_a_matrix_is_computed_by_parts_as_as_a_whole():
    rows = RNG.normal(size=(1500, 3))
    kernel = RBF(0.2) + Linear()
    K, matrix = gram(kernel, rows), KernelMatrix(kernel, rows)
    V = RNG.normal(size=(1500, 2))
    np.testing.assert_allclose(matrix.dot(V), K @ V, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(
        matrix.part([3, 1400], [7, 8, 1499]).dense(), K[np.ix_([3, 1400], [7, 8, 1499])], rtol=1e-12
    )
    out = np.empty((1500, 7), np.float32)
    assert gram(kernel, rows, rows[:7], out=out) is out
    np.testing.assert_allclose(out, K[:, :7], atol=1e-5)
    with pytest.raises(InvalidData, match=r"out has shape \(3, 3\)"):
        gram(kernel, rows, out=np.empty((3, 3)))


@pytest.mark.parametrize(
    ("act", "error", "said"),
    [
        (lambda: RBF(0.0), InvalidParameter, "gamma must be a finite number, more than 0"),
        (lambda: RBF("wide"), InvalidParameter, "gamma must be a positive number, 'scale' or 'auto'"),
        (lambda: RBF("scale")(X), InvalidParameter, "depends on the rows of a fit"),
        (lambda: Constant(-1.0), InvalidParameter, "value must be"),
        (lambda: -2.0 * Linear(), InvalidParameter, "value must be"),
        (lambda: Linear() + "x", TypeError, "unsupported operand"),
        (lambda: RBF().features(X), NotAvailable, "no finite list of features"),
        (lambda: Polynomial(2, coef0=-1.0).features(X), NotAvailable, "not positive definite"),
        (lambda: Polynomial(9).features(np.ones((2, 50))), NotAvailable, "at most 100000 are computed"),
        (lambda: Polynomial(1.5)(X), InvalidParameter, "whole degree"),
        (lambda: Precomputed().features(X), NotAvailable, "tells no features"),
        (lambda: FeatureMap(lambda rows: rows[0])(X), InvalidData, r"it must give \(40, features\)"),
        (lambda: FeatureMap(lambda rows: rows * np.nan)(X), InvalidData, "NaN or infinity"),
        (lambda: Linear().scaled(lambda rows: rows)(X), InvalidData, "one finite number for each of the 40 rows"),
        (lambda: Linear()(X[0]), InvalidData, "two-dimensional arrays"),
        (lambda: resolve_kernel("gauss", X), InvalidParameter, "kernel must be one of 'linear'"),
        (lambda: resolve_kernel(lambda a, b: a @ b.T * np.nan, X)(X), InvalidData, "gave nan for a pair"),
        (lambda: resolve_kernel(lambda a: 1.0, X), InvalidData, "failed for two rows"),
        (lambda: resolve_kernel(lambda a, b: np.ones((2, 2)), X), InvalidData, r"shape \(2, 2\) for 2 and 3 rows"),
        (lambda: gram(RBF(1.0), np.zeros((10**6, 1))), NotAvailable, "1000000 rows takes 8000.0 GB"),
        (lambda: is_valid_gram([[1.0, 2.0]]), InvalidData, "a Gram matrix is square"),
        (lambda: is_valid_gram([[np.nan]]), InvalidData, "NaN or infinity"),
    ],
)
def test_refusals(act, error, said):
    with pytest.raises(error, match=said):
        act()


def test_a_matrix_that_is_no_gram_matrix_brings_the_evidence():
    K = RBF(0.5)(X) - 0.5 * np.eye(len(X))
    found = is_valid_gram(K)
    assert not found
    v = found.eigenvector
    assert v @ K @ v == pytest.approx(found.smallest_eigenvalue)
    assert found.smallest_eigenvalue == pytest.approx(np.linalg.eigvalsh(K)[0])
    skew = RBF(0.5)(X)
    skew[3, 5] += 0.1
    assert set(is_valid_gram(skew).pair) == {3, 5}
    assert not Sigmoid(2.0, -1.0).positive_definite
    assert not is_valid_gram(Sigmoid(2.0, -1.0)(X))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_an_outlier_takes_no_digits_from_other_rows(kind):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(40, 3)), np.full((2, 3), 1e15), rng.normal(size=(40, 3)) + 1e6])
    for others in (rows, rows[:5], rows[38:44]):
        right = np.exp(-0.5 * cdist(rows, others, "sqeuclidean"))
        np.testing.assert_allclose(gram(RBF(0.5), kind(rows), kind(others.copy())), right, atol=1e-9)
