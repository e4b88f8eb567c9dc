"""Sparse rows with far fewer rows than columns are fitted in the span of the rows, where that pays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.svm import LinearSVC as Liblinear

from hiperplano import LinearSVC, LinearSVR
from hiperplano.linalg.products import row_products
from hiperplano.solvers.svm.compiled.problem import LoopRows
from hiperplano.solvers.svm.compiled.search import Search


def wide_rows(n: int = 120, d: int = 30_000, density: float = 0.05) -> csr_array:
    return csr_array(random_array((n, d), density=density, rng=np.random.default_rng(0), format="csr"))


def labels(n: int, classes: int = 2) -> np.ndarray:
    return np.random.default_rng(1).permutation(np.arange(n) % classes)


@pytest.fixture
def dense_ascents(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each ascent visits coordinates, rather than stored numbers."""
    seen: list[bool] = []
    ascend = Search.ascend

    def noted(self: Search, *limits: object) -> None:
        seen.append(self.rows.is_dense)
        ascend(self, *limits)  # type: ignore[arg-type]

    monkeypatch.setattr(Search, "ascend", noted)
    return seen


def test_large_bounds_lead_to_the_span_at_once(dense_ascents: list[bool]) -> None:
    x = wide_rows()
    LinearSVR(C=100.0).fit(x, x @ np.ones(x.shape[1]))
    assert dense_ascents
    assert all(dense_ascents)


def test_small_bounds_need_only_passes_over_stored_numbers(dense_ascents: list[bool]) -> None:
    x = wide_rows()
    LinearSVC(loss="hinge", C=1e-6).fit(x, labels(x.shape[0]))
    assert dense_ascents == [False]


def test_classes_share_the_span(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    dense = LoopRows.dense
    monkeypatch.setattr(LoopRows, "dense", lambda *given: made.append(1) or dense(*given))
    x = wide_rows()
    LinearSVC(C=10.0).fit(x, labels(x.shape[0], 5))
    assert len(made) == 1


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_span_gives_the_optimum(loss: str) -> None:
    x = wide_rows()
    y = labels(x.shape[0])
    ours = LinearSVC(loss=loss, C=30.0, fit_intercept=False).fit(x, y)
    theirs = Liblinear(loss=loss, C=30.0, fit_intercept=False, tol=1e-10, max_iter=1_000_000).fit(x, y)
    coef, sign = theirs.coef_[0], 2.0 * y - 1.0
    rest = np.maximum(0.0, 1.0 - sign * (x @ coef))
    best = 0.5 * coef @ coef + 30.0 * (rest.sum() if loss == "hinge" else rest @ rest)
    assert ours.solution_.gap <= 1e-4
    assert best * (1 - 1e-9) <= ours.solution_.objective <= best * (1 + 1e-4)


@pytest.mark.parametrize("density", [0.0, 0.002, 0.3])
def test_products_of_sparse_rows_in_any_order_of_columns(density: float) -> None:
    x = wide_rows(40, 500, density)
    x.indices, x.data = x.indices.copy(), x.data.copy()
    for start, end in zip(x.indptr, x.indptr[1:], strict=False):
        x.indices[start:end], x.data[start:end] = x.indices[start:end][::-1].copy(), x.data[start:end][::-1].copy()
    np.testing.assert_allclose(row_products(x), (x @ x.T).toarray(), rtol=1e-13, atol=1e-13)
