"""Separability: known answers, the plain linear program as reference, and proofs that cannot be forged."""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from hiperplano import Overlapping, QuasiSeparable, Separable, separability
from hiperplano.data.validate import design
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget, NotAvailable
from hiperplano.solvers.separation.search import separate

# R package brglm2, data `endometrial` (79 patients): NV, PI, EH, HG. Every patient with NV = 1 has HG = 1.
NV = [21, 22, 23, 24, 25, 47, 48, 49, 50, 70, 74, 75, 77]
PI = [
    *[13, 16, 8, 34, 20, 5, 17, 10, 26, 17, 8, 7, 20, 10, 18, 16, 18, 8, 29, 12, 20, 38, 22, 7, 25, 15, 7, 28, 11, 19],
    *[10, 10, 18, 14, 21, 11, 17, 25, 16, 19, 15, 33, 24, 48, 12, 19, 2, 22, 40, 5, 0, 21, 15, 29, 15, 12, 3, 20, 23],
    *[12, 22, 42, 15, 13, 14, 19, 12, 13, 10, 12, 49, 6, 5, 17, 11, 21, 5, 19, 33],
]
EH = [
    *[1.64, 2.26, 3.14, 2.68, 1.28, 2.31, 1.8, 1.68, 1.56, 2.31, 2.01, 1.89, 3.15, 1.23, 1.27, 1.76, 2, 2.64, 0.88],
    *[1.27, 1.37, 0.97, 1.14, 0.88, 0.91, 0.58, 0.97, 1.5, 1.33, 2.37, 1.82, 3.13, 1.31, 1.92, 1.64, 2.01, 1.88],
    *[1.93, 2.11, 1.29, 1.72, 0.75, 1.92, 1.84, 1.11, 1.61, 1.18, 1.44, 1.18, 0.93, 1.17, 1.19, 1.06, 2.02, 2.29],
    *[2.33, 2.9, 1.7, 1.41, 2.25, 1.54, 1.97, 1.75, 2.16, 2.57, 1.37, 3.61, 2.04, 2.17, 1.69, 0.27, 1.84, 1.3],
    *[0.96, 1.01, 0.98, 0.35, 1.02, 0.85],
]
HG = [*range(17, 27), *range(43, 53), *range(69, 79)]


def endometrial():
    X = np.column_stack([np.isin(np.arange(79), NV), PI, EH]).astype(float)
    return X, np.isin(np.arange(79), HG).astype(int)


def reference(X, y, fit_intercept):
    """Konis' program: max Σ t, z·v ≥ t, 0 ≤ t ≤ 1, as it stands, on all rows and unscaled."""
    n = len(X)
    z = (np.column_stack([X, np.ones(n)]) if fit_intercept else X) * np.where(y == np.max(y), 1.0, -1.0)[:, None]
    p = z.shape[1]
    cost = np.concatenate([np.zeros(p), -np.ones(n)])
    bounds = [(None, None)] * p + [(0, 1)] * n
    answer = linprog(cost, A_ub=np.hstack([-z, np.eye(n)]), b_ub=np.zeros(n), bounds=bounds)
    separated = round(-answer.fun)
    return (Overlapping if separated == 0 else Separable if separated == n else QuasiSeparable), separated


@st.composite
def small_samples(draw, most_rows=14, most_columns=4, span=2):
    d = draw(st.integers(1, most_columns))
    n = draw(st.integers(2, most_rows))
    cell = st.integers(-span, span)
    X = np.array(draw(st.lists(st.lists(cell, min_size=d, max_size=d), min_size=n, max_size=n)), dtype=float)
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    y[0], y[1] = 0, 1
    return X, y


@settings(max_examples=300, deadline=None)
@given(small_samples(), st.booleans())
def test_equals_the_plain_program(sample, fit_intercept):
    X, y = sample
    found = separability(X, y, fit_intercept)
    kind, separated = reference(X, y, fit_intercept)
    assert type(found) is kind
    assert found.verify(X, y)
    if kind is QuasiSeparable:
        assert found.n_separated == separated


@settings(max_examples=100, deadline=None)
@given(small_samples(), st.booleans(), st.integers(-9, 9), st.integers(-3, 3))
# HiGHS 1.12 calls its program infeasible at the finest tolerance.
@example((np.eye(3)[[2, 1, 1, 1, 1]], np.array([0, 1, 0, 0, 0])), True, 0, 0)
def test_units_of_columns_do_not_matter(sample, fit_intercept, power, other):
    X, y = sample
    scale = np.resize([10.0**power, 10.0**other, 1.0], X.shape[1])
    moved = X * scale
    if fit_intercept:
        moved = moved + np.resize([1e6, -3.0], X.shape[1]) * scale
    found = separability(moved, y, fit_intercept)
    assert type(found) is type(separability(X, y, fit_intercept))
    assert found.verify(moved, y)


@settings(max_examples=100, deadline=None)
@given(small_samples(), st.booleans())
def test_sparse_rows_equal_dense_rows(sample, fit_intercept):
    X, y = sample
    dense, sparse = separability(X, y, fit_intercept), separability(csr_array(X), y, fit_intercept)
    assert type(dense) is type(sparse)
    assert dense.verify(csr_array(X), y)
    assert sparse.verify(X, y)


@settings(max_examples=50, deadline=None)
@given(small_samples(), st.booleans(), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_the_sign_of_classes_matters(sample, fit_intercept, random):
    X, y = sample
    order = list(range(len(y)))
    random.shuffle(order)
    kind = type(separability(X, y, fit_intercept))
    assert type(separability(X[order], y[order], fit_intercept)) is kind
    assert type(separability(X, 1 - y, fit_intercept)) is kind


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(40, 3), (3000, 8), (30, 60)])
def test_separable_by_construction(n, d, fit_intercept):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    w = rng.normal(size=d) / np.sqrt(d)
    score = X @ w + (0.3 if fit_intercept else 0.0)
    y = np.where(score > 0, "good", "bad")
    X += np.where(score > 0, 0.2, -0.2)[:, None] * w / (w @ w)
    found = separability(X, y, fit_intercept)
    assert isinstance(found, Separable)
    assert found.verify(X, y)
    distance = np.where(y == "good", 1, -1) * (X @ found.coef + found.intercept) / np.linalg.norm(found.coef)
    assert distance.min() == pytest.approx(found.margin, rel=1e-9)
    assert found.margin > 0


@pytest.mark.parametrize(("n", "d"), [(60, 3), (5000, 8)])
def test_overlapping_by_construction(n, d):
    """A simplex of either class around one common point: the hulls share a whole ball."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] > 0).astype(int)
    corners = 3 * np.vstack([np.eye(d), -np.ones(d)])
    X, y = np.vstack([X, corners, corners]), np.concatenate([y, np.zeros(d + 1, int), np.ones(d + 1, int)])
    found = separability(X, y)
    assert isinstance(found, Overlapping)
    assert found.verify(X, y)
    for label in (0, 1):
        side = y[found.rows] == label
        assert found.weights[side].sum() == pytest.approx(1.0)
        np.testing.assert_allclose(found.weights[side] @ X[found.rows[side]], found.point, atol=1e-10)


def test_a_pure_category_is_named():
    rng = np.random.default_rng(0)
    n = 20_000
    X = np.column_stack([rng.normal(size=(n, 6)) * 1e5, rng.integers(0, 8, n)[:, None] == np.arange(8)]).astype(float)
    y = rng.integers(0, 2, n)
    rare = rng.choice(n, 5, replace=False)
    X = np.column_stack([X, np.zeros(n)])
    X[rare, -1], y[rare] = 1.0, 1
    found = separability(X, y)
    assert isinstance(found, QuasiSeparable)
    assert found.columns == (14,)
    assert found.n_separated == 5
    assert found.intercept == 0.0
    assert found.verify(X, y)
    assert found.n_examined < n / 10
    y[rare[0]] = 0
    assert isinstance(separability(X, y), Overlapping)


def test_a_column_that_separates_alone_is_named_alone():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 10))
    y = rng.integers(0, 2, 2000)
    X[:, 3] = 5e4 + 1e4 * (y + rng.uniform(0.0, 0.9, 2000))
    found = separability(X, y)
    assert isinstance(found, Separable)
    assert found.columns == (3,)


def test_endometrial_data_are_quasi_separated_by_neovasculation():
    X, y = endometrial()
    found = separability(X, y)
    assert isinstance(found, QuasiSeparable)
    assert found.names == ("x0",)
    assert found.n_separated == 13
    assert found.verify(X, y)
    assert isinstance(separability(X[:, 1:], y), Overlapping)


def test_names_come_from_the_table():
    X, y = endometrial()
    found = separability(pandas.DataFrame(X, columns=["NV", "PI", "EH"]), pandas.Series(y))
    assert found.names == ("NV",)
    assert "'NV'" in str(found)


def test_hulls_that_touch_are_quasi_separable():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    found = separability(X, y)
    assert isinstance(found, QuasiSeparable)
    assert found.point == pytest.approx([1.0])
    assert found.n_separated == 2


def test_identical_rows_with_both_labels_overlap():
    X, y = np.ones((4, 2)), np.array([0, 1, 0, 1])
    for fit_intercept in (True, False):
        found = separability(X, y, fit_intercept)
        assert isinstance(found, Overlapping)
        assert found.verify(X, y)


def test_one_row_of_each_class():
    found = separability([[1.0, 2.0], [4.0, 6.0]], [0, 1])
    assert isinstance(found, Separable)
    assert found.margin <= 2.5 + 1e-12


def test_the_origin_decides():
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    assert isinstance(separability(X, y), Separable)
    found = separability(X, y, fit_intercept=False)
    assert isinstance(found, Overlapping)
    assert found.weights.sum() == pytest.approx(1.0)


def test_a_row_at_the_origin_lies_on_every_plane_through_it():
    X, y = np.array([[0.0], [1.0], [-1.0]]), np.array([1, 1, 0])
    found = separability(X, y, fit_intercept=False)
    assert isinstance(found, QuasiSeparable)
    assert found.n_separated == 2
    assert found.verify(X, y)


def test_dependent_columns_alone_are_no_separation():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 3))
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.full(4000, 7.0)])
    y = rng.integers(0, 2, 4000)
    found = separability(X, y)
    assert isinstance(found, Overlapping)
    assert found.verify(X, y)


def test_few_rows_are_examined_of_many():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100_000, 10))
    score = X @ rng.normal(size=10)
    noisy = separability(X, score + rng.logistic(size=100_000) > 0)
    assert isinstance(noisy, Overlapping)
    assert noisy.n_examined < 1000
    wide_apart = np.abs(score) > 0.3
    clean = separability(X[wide_apart], score[wide_apart] > 0)
    assert isinstance(clean, Separable)
    assert clean.n_examined < 2000


def test_one_wrong_label_among_many_is_found():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50_000, 5))
    y = (X.sum(axis=1) > 0).astype(int)
    X += np.where(y == 1, 0.1, -0.1)[:, None]
    assert isinstance(separability(X, y), Separable)
    wrong = np.abs(X.sum(axis=1)).argsort()[25_000]
    y[wrong] = 1 - y[wrong]
    found = separability(X, y)
    assert isinstance(found, Overlapping)
    assert found.verify(X, y)


def test_float32_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 4)).astype(np.float32)
    y = (X @ [1.0, -1.0, 0.5, 0.0] > 0).astype(int)
    found = separability(X, y)
    assert isinstance(found, Separable)
    assert found.verify(X, y)


def test_more_columns_than_programs_take_are_screened():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 1500))
    y = rng.integers(0, 2, 300)
    found = separability(X, y)
    assert isinstance(found, Separable)
    assert found.n_examined == 0
    assert found.verify(X, y)


def test_rows_of_weight_zero_do_not_count():
    X, y = endometrial()
    signs = np.where(y == 1, 1.0, -1.0)
    weight = np.where((X[:, 0] == 1) & (np.arange(79) != 21), 0.0, 2.0)
    found = separate(design(X, signs, weight))
    assert isinstance(found, QuasiSeparable)
    assert found.n_separated == 1
    assert (weight[found.rows] > 0).all()
    assert isinstance(separate(design(X, signs, (X[:, 0] == 0).astype(float))), Overlapping)


class TestForgery:
    def test_planes(self):
        X, y = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 2.0]]), np.array([0, 0, 1, 1])
        found = separability(X, y)
        assert found.verify(X, y)
        assert not replace(found, coef=-found.coef).verify(X, y)
        assert not replace(found, intercept=found.intercept + 10).verify(X, y)
        assert not replace(found, margin=2 * found.margin).verify(X, y)
        assert not replace(found, coef=np.array([np.nan, 1.0])).verify(X, y)
        assert not replace(found, fit_intercept=False).verify(X, y)
        assert not found.verify(X, 1 - y)
        assert not found.verify(X[:, :1], y)
        assert not found.verify(X, np.array([0, 0, 1, 2]))

    def test_meeting_points(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
        found = separability(X, y)
        assert isinstance(found, Overlapping)
        assert found.verify(X, y)
        weights = found.weights.copy()
        weights[0] *= 1.001
        assert not replace(found, weights=weights).verify(X, y)
        assert not replace(found, weights=2 * found.weights).verify(X, y)
        assert not replace(found, weights=-found.weights).verify(X, y)
        assert not replace(found, point=found.point + 1e-6).verify(X, y)
        assert not replace(found, rows=found.rows[::-1]).verify(X, y)
        assert not replace(found, rows=found.rows + len(y)).verify(X, y)
        assert not replace(found, rows=found.rows[:0], weights=weights[:0]).verify(X, y)
        assert not found.verify(X, 1 - y[::-1])

    def test_a_point_that_proves_touching_does_not_prove_overlap(self):
        X, y = endometrial()
        found = separability(X, y)
        forged = Overlapping(
            rows=found.rows, weights=found.weights, point=found.point, fit_intercept=True, classes=(0, 1), n_examined=79
        )
        assert not forged.verify(X, y)

    def test_quasi_separation(self):
        X, y = endometrial()
        found = separability(X, y)
        assert not replace(found, coef=-found.coef).verify(X, y)
        assert not replace(found, coef=0 * found.coef).verify(X, y)
        assert not replace(found, n_separated=12).verify(X, y)
        assert not replace(found, weights=found.weights[::-1]).verify(X, y)
        y[21] = 0
        assert not found.verify(X, y)


class TestRefusals:
    def test_one_class(self):
        with pytest.raises(InvalidTarget, match=r"one class .* 2 classes or more. Check"):
            separability([[1.0], [2.0]], [1, 1])

    def test_three_classes(self):
        with pytest.raises(InvalidTarget, match=r"3 classes \('a', 'b', 'c'\).* about 2. Compare"):
            separability([[1.0], [2.0], [3.0]], ["a", "b", "c"])

    def test_numbers_that_are_no_labels(self):
        with pytest.raises(InvalidTarget, match="regression target"):
            separability([[1.0], [2.0], [3.0]], [0.5, 1.7, 2.2])

    def test_missing_values(self):
        with pytest.raises(InvalidData, match=r"NaN \(first in row 1, column 0\)"):
            separability([[1.0], [np.nan]], [0, 1])

    def test_a_flag_that_is_none(self):
        with pytest.raises(InvalidParameter, match="fit_intercept='yes'"):
            separability([[1.0], [2.0]], [0, 1], fit_intercept="yes")

    def test_a_gap_below_the_rounding_of_the_numbers(self):
        X = 1e15 + np.array([[0.0, 0.5], [1.0, 0.125], [2.0, 0.25], [3.0, 0.375]])
        X[:, 1] = 1e15 + np.array([0.0, 1.0, 0.0, 1.0])
        with pytest.raises(NotAvailable, match="subtract their means"):
            separability(X, [0, 0, 1, 1])


@pytest.mark.parametrize("make", [np.array, csr_array])
@pytest.mark.parametrize("power", [-99, -50, 50, 99])
def test_columns_of_very_different_sizes(power, make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    rows = make(X * [10.0**power, 1.0, 1.0])
    for y, answer in ((X[:, 0] > 0, Separable), (X[:, 0] + rng.normal(size=200) > 0, Overlapping)):
        found = separability(rows, y)
        assert isinstance(found, answer)
        assert found.verify(rows, y)


def _huge(kind):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(600, 4))
    if kind == "separable":
        return X, (X[:, 0] > 0).astype(int)
    if kind == "of one sign":
        return -np.abs(X), rng.integers(0, 2, 600)
    if kind == "at both ends":
        return np.sign(X), rng.integers(0, 2, 600)
    X[:, 0] = np.arange(600) % 3 == 0
    return X, ((X[:, 0] > 0) | (rng.random(600) < 0.5)).astype(int)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["separable", "of one sign", "at both ends", "separable in part"])
@pytest.mark.parametrize("size", [1e-98, 1e99])
def test_units_do_not_change_the_answer(size, kind, fit_intercept, sparse):
    X, y = _huge(kind)
    expected = type(separability(X, y, fit_intercept))
    X = csr_array(X * size) if sparse else X * size
    found = separability(X, y, fit_intercept)
    assert type(found) is expected
    assert found.verify(X, y)
    assert not found.verify(X, 1 - y) or expected is Overlapping
