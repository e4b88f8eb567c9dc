"""Systems that share a factorisation, and machines that share a Gram matrix, against each by itself."""

import numpy as np
import pytest

from hiperplano import SVC
from hiperplano.kernels import RBF
from hiperplano.linalg.tiles.symmetric import SymmetricTiles
from hiperplano.solvers.kernel.ridge.folds.factors import factored

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))


@pytest.mark.parametrize("start", [0.0, 0.9, None])
@pytest.mark.parametrize(
    "alphas", [[1e-2, 1e-1, 3e-1], [1e-4, 3.0, 1e2, 2e-4], [1e-12, 1e-11]], ids=["near", "far", "tiny"]
)
def test_penalties_that_share_a_factor_have_the_solutions_of_their_own(start, alphas):
    gram, right = RBF(0.3)(X), np.random.default_rng(1).normal(size=(300, 2))
    exact = np.stack([np.linalg.solve(gram + alpha * np.eye(300), right) for alpha in alphas], axis=1)
    found = factored(gram, right, np.array(alphas), None if start is None else start * exact)
    for place, alpha in enumerate(alphas):
        left = gram @ found[:, place] + alpha * found[:, place] - right
        assert np.linalg.norm(left) <= (1e-6 if alpha > 1e-6 else 1e-3) * np.linalg.norm(right)
    matrix = -gram  # no kernel: solved all the same
    left = (matrix + np.eye(300)) @ factored(matrix, right, np.ones(1), None)[:, 0] - right
    assert np.linalg.norm(left) <= 1e-7 * np.linalg.norm(right)


def test_parts_of_tiles():
    n = 1100
    matrix = RBF(0.1)(RNG.normal(size=(n, 2)))
    tiles = SymmetricTiles(n, np.float64, lambda rows, columns, out: np.copyto(out, matrix[rows, columns]))
    for rows in (np.arange(300, 1050), np.flatnonzero(RNG.random(n) < 0.4), np.arange(5), np.arange(1030, 1090)):
        np.testing.assert_array_equal(tiles.part(rows), matrix[np.ix_(rows, rows)])


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3])
@pytest.mark.parametrize("n_classes", [3, 7])
def test_every_pair_is_the_machine_of_its_two_classes(C, n_classes):
    labels = (np.argsort(np.argsort(X[:, 0] + 0.3 * RNG.normal(size=300))) * n_classes) // 300
    weight = RNG.uniform(0.5, 2.0, 300)
    given = {"C": C, "kernel": RBF(0.5), "tol": 1e-8}
    whole = SVC(decision_function_shape="ovo", **given).fit(X, labels, weight)
    scores = whole.decision_function(X)
    assert whole.solution_.converged
    pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    for column, (i, j) in enumerate(pairs):
        rows = (labels == i) | (labels == j)
        alone = SVC(**given).fit(X[rows], labels[rows], weight[rows])
        np.testing.assert_allclose(-scores[:, column], alone.decision_function(X), atol=1e-5 * max(1.0, C**0.5))
    again = SVC(warm_start=True, **given).fit(X, labels, weight)
    assert again.fit(X, labels, weight).n_iter_.max() <= 10
    stopped = SVC(max_iter=3, **given)
    with pytest.warns(UserWarning, match="max_iter=3"):
        stopped.fit(X, labels, weight)
    assert stopped.n_iter_.max() <= 3
