"""Products with a few vectors agree with NumPy's, whatever the shape, and in any memory order."""

from __future__ import annotations

import numpy as np
import pytest

from hiperplano.data.block import _rows_of_tile, row_scores, row_sums

SHAPES = [(1, 64, 2), (3, 5, 2), (500, 64, 2), (501, 64, 2), (2_000, 63, 3), (777, 200, 5), (400, 1_500, 12)]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("left", "right"), [("float64", "float64"), ("float32", "float32"), ("float32", "float64")])
@pytest.mark.parametrize(("m", "d", "k"), SHAPES)
def test_products_agree_with_one_product_of_all_rows(m: int, d: int, k: int, left: str, right: str, order: str) -> None:
    rng = np.random.default_rng(m + d + k)
    rows = np.asarray(rng.standard_normal((m, d)), dtype=left, order=order)
    coef, factors = rng.standard_normal((k, d)).astype(right), rng.standard_normal((m, k)).astype(right)
    tol = 1e-12 if left == right == "float64" else 1e-4
    scores, sums = row_scores(rows, coef), row_sums(factors, rows)
    assert scores.dtype == sums.dtype == np.result_type(left, right)
    assert scores.T.flags.c_contiguous  # later operations run along the rows
    wide = rows.astype(np.float64)
    np.testing.assert_allclose(scores, np.einsum("ij,kj->ik", wide, coef), rtol=tol, atol=tol * d)
    np.testing.assert_allclose(sums, np.einsum("ik,ij->kj", factors, wide), rtol=tol, atol=tol * m)


def test_these_shapes_include_tiles_and_plain_products() -> None:
    tiled = [_rows_of_tile(np.empty((m, d)), k, 16) is not None for m, d, k in SHAPES]
    assert any(tiled)
    assert not all(tiled)
