"""Second moments in one pass or two: of dense and sparse rows, in groups, at any offset and size."""

import numpy as np
import pytest
from scipy import sparse

from hiperplano.data.block import Block
from hiperplano.data.validate import design as make_design
from hiperplano.data.validate import wrap
from hiperplano.solvers import statistics
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.statistics import MomentSums, NonFiniteRows, moments


def table(n=3000, d=5, density=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < density)
    return X, rng.normal(size=(n, 2)) + 100.0, rng.uniform(0.5, 2.0, n)


def scatter(X, y, weight, centred):
    both = np.column_stack([X, y])
    both = both - (np.average(both, axis=0, weights=weight) if centred else 0.0)
    return (both * weight[:, None]).T @ both


@pytest.mark.parametrize("density", [0.01, 0.05, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_dense_and_sparse_moments_are_the_plain_ones(density, centred, weighted):
    X, y, weight = table(density=density)
    weight = weight if weighted else np.ones(len(y))
    expected = scatter(X, y, weight, centred)
    size = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    for rows in (X, sparse.csr_array(X), X.astype(np.float32)):
        sums = moments(make_design(rows, y, weight if weighted else None), centred=centred)
        tolerance = 1e-6 if rows.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(sums.scatter(centred) / size, expected / size, atol=tolerance)
        assert sums.total == pytest.approx(weight.sum(), rel=1e-13)


@pytest.mark.parametrize(
    ("d", "density", "taken"), [(30, 0.25, True), (30, 0.4, False), (300, 0.11, True), (300, 0.2, False)]
)
def test_few_stored_entries_take_the_sparse_products(monkeypatch, d, density, taken):
    used = []
    product = Block.weighted_products
    monkeypatch.setattr(Block, "weighted_products", lambda *args: used.append(1) or product(*args))
    X, y, _ = table(n=1_500, d=d, density=density)
    sums = moments(make_design(sparse.csr_array(X), y, None), centred=False)
    assert bool(used) == taken
    both = np.column_stack([X, y])
    np.testing.assert_allclose(sums.scatter(False), both.T @ both, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8, 1e12])
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
def test_offsets_cost_no_digits(offset, rows):
    X, y, _ = table()
    X = np.round(X * 64) / 64 if offset < 1e12 else np.round(X * 64)
    expected = scatter(X, y, np.ones(len(y)), True)
    sums = moments(make_design(rows(X + offset), y, None), centred=True)
    size = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    np.testing.assert_allclose(sums.scatter(True) / size, expected / size, atol=1e-12)


@pytest.mark.parametrize("weighted", [True, False])
def test_years_and_ones_beside_categories_leave_the_others_sparse(monkeypatch, weighted):
    X, y, weight = table(d=40, density=0.05)
    X[:, 3], X[:, 7] = 1.0, 1e8 + np.round(64.0 * X[:, 0]) / 64
    weight = weight if weighted else np.ones(len(y))
    expected = scatter(X, y, weight, True)
    design = make_design(sparse.csr_array(X), y, weight if weighted else None)
    monkeypatch.setattr(Block, "dense", None)
    sums = moments(design, centred=True)
    size = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    size[3], size[:, 3] = 1.0, 1.0
    np.testing.assert_allclose(sums.scatter(True) / size, expected / size, atol=1e-12)
    assert not sums.scatter(True)[3].any()


def test_a_sample_that_misleads_is_noticed():
    """Where sampled rows lie elsewhere than all others, a second pass measures from the mean."""
    X, y, _ = table(n=60_000)
    X = np.round(X * 64) + 1e9
    rows = make_design(X, y, None).with_vectors(row=np.arange(len(y))).some_rows(256)
    X[rows.collect(rows.vector("row"))] = 0.0
    sums = moments(make_design(X, y, None), centred=True)
    expected = scatter(X - 1e9, y, np.ones(len(y)), True)
    np.testing.assert_allclose(sums.scatter(True)[:5, :5], expected[:5, :5], rtol=1e-9)


@pytest.mark.parametrize("place", [0, 1, 77, 1234])
@pytest.mark.parametrize("value", [1e101, -1e200, 1e300, np.inf, np.nan])
@pytest.mark.parametrize("centred", [True, False])
def test_a_single_number_that_the_gate_would_refuse_is_noticed(place, value, centred):
    X, y, _ = table()
    X[place, 2] = value
    with pytest.raises(NonFiniteRows):
        moments(wrap(X, y, None), centred=centred)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-101, 1e101])
@pytest.mark.parametrize("density", [0.02, 1.0])
def test_a_column_that_the_gate_would_refuse_is_noticed(size, density):
    X, y, _ = table(density=density)
    X[:, 1] *= size / np.abs(X[:, 1]).max()
    for rows in (X, sparse.csr_array(X)):
        with pytest.raises(NonFiniteRows):
            moments(wrap(rows, y, None), centred=True)


def test_columns_of_zeros_are_no_trouble():
    X, y, _ = table()
    X[:, 3] = 0.0
    for rows in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(
            moments(wrap(rows, y, None), centred=True).scatter(True), scatter(X, y, np.ones(len(y)), True), atol=1e-9
        )


@pytest.mark.parametrize("size", [1e-98, 1e-50, 1e50, 1e98])
@pytest.mark.parametrize("density", [0.02, 1.0])
def test_columns_of_any_size(size, density):
    X, y, _ = table(density=density)
    rows = sparse.csr_array(X) if density < 1 else X
    plain = NormalEquations.of(moments(make_design(rows, y, None), centred=True), True)
    scaled = NormalEquations.of(moments(make_design(rows * size, y, None), centred=True), True)
    np.testing.assert_allclose(scaled.gram, plain.gram, atol=1e-11)
    np.testing.assert_allclose(scaled.scale * size, plain.scale, rtol=1e-11)
    np.testing.assert_allclose(scaled.cross, plain.cross, atol=1e-10 * np.abs(plain.cross).max())


def test_groups_add_up():
    X, y, weight = table()
    groups = np.arange(len(y)) % 4 - 1  # the first group, −1, is left out
    design = make_design(X, y, weight).with_vectors(fold=groups)
    parts = moments(design, centred=True, n_groups=3)
    together = parts.group(parts.raw.sum(axis=0))
    kept = groups >= 0
    np.testing.assert_allclose(
        together.scatter(True), scatter(X[kept], y[kept], weight[kept], True), rtol=1e-9, atol=1e-8
    )
    for number in range(3):
        own = groups == number
        mine = parts.group(parts.raw[number]).scatter(True)
        np.testing.assert_allclose(mine, scatter(X[own], y[own], weight[own], True), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("n", [20, 300, 1200, 20_000])
@pytest.mark.parametrize("d", [1, 3, 14])
@pytest.mark.parametrize("offset", [0.0, 0.9, 1.1, 50.0, 1e7])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_any_number_of_rows_at_any_offset(n, d, offset, weighted):
    X, y, weight = table(n, d, seed=n + d)
    X, weight = np.round(X * 64) / 64 + offset, weight if weighted else np.ones(n)
    exact = scatter((X - offset).astype(np.longdouble), y.astype(np.longdouble), weight, True).astype(float)
    sums = moments(make_design(X, y, weight if weighted else None), centred=True)
    size = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    np.testing.assert_allclose(sums.scatter(True) / size, exact / size, atol=1e-13)


@pytest.mark.parametrize(("n", "looked"), [(200, True), (1200, False), (20_000, True)])
def test_one_pass_over_columns_near_their_origin(n, looked, monkeypatch):
    X, y, _ = table(n)
    seen, looks, call, look = [], [], MomentSums.__call__, statistics.sampled_shift
    monkeypatch.setattr(MomentSums, "__call__", lambda *args: seen.append(args[1].x.shape[0]) or call(*args))
    monkeypatch.setattr(statistics, "sampled_shift", lambda *args: looks.append(1) or look(*args))
    moments(make_design(X, y, None), centred=True)
    assert sum(seen) == n
    assert bool(looks) == looked  # products of few rows tell themselves where columns lie


@pytest.mark.parametrize("period", [2, 7, 12, 100, 256])
def test_rows_of_repeating_kinds_need_no_second_pass(period, monkeypatch):
    """One of many kinds of rows that come in turn lies far from all others."""
    X, y, _ = table(51_200)
    X[::period] += 20.0
    seen, call = [], MomentSums.__call__
    monkeypatch.setattr(MomentSums, "__call__", lambda *args: seen.append(args[1].x.shape[0]) or call(*args))
    moments(make_design(X, y, None), centred=True)
    assert sum(seen) == len(y)
