"""Moments of classes in one pass: of few rows and many, near each other and far apart, together and one by one."""

import numpy as np
import pytest

from hiperplano import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from hiperplano.data.in_memory import InMemory
from hiperplano.data.validate import design
from hiperplano.errors import InvalidData
from hiperplano.solvers.discriminant.class_moments import class_moments
from hiperplano.solvers.statistics import NonFiniteRows


def table(n, d, apart, offset, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    rows = np.round(rng.normal(size=(n, d)) * 64) / 64 + apart * codes[:, None]
    return rows, rows + offset, codes


def scatter(rows, codes, weight, k):
    own, weight = rows[codes == k].astype(np.longdouble), weight[codes == k]
    own = own - np.average(own, axis=0, weights=weight)
    return (own * weight[:, None]).T @ own


@pytest.mark.parametrize(("n", "d"), [(30, 2), (250, 6), (700, 14), (4000, 9), (20_000, 3)])
@pytest.mark.parametrize(("apart", "offset"), [(0.0, 0.0), (1.0, 40.0), (1024.0, 0.0), (2.0, 2.0**24)])
@pytest.mark.parametrize("separate", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_scatter_inside_classes_keeps_its_digits(n, d, apart, offset, separate, weighted):
    rows, X, codes = table(n, d, apart, offset, seed=n + d)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, n) if weighted else np.ones(n)
    given = design(X, codes.astype(float), weight if weighted else None).with_vectors(code=codes)
    found = class_moments(given, 3, separate=separate)
    each = np.stack([scatter(rows, codes, weight, k) for k in range(3)]).astype(float)
    expected = each if separate else each.sum(axis=0)
    size = np.sqrt(np.einsum("...jj->...j", expected))
    np.testing.assert_allclose(
        found.scatter / size[..., :, None] / size[..., None, :],
        expected / size[..., :, None] / size[..., None, :],
        atol=1e-12,
    )


def test_few_rows_are_measured_from_their_means(monkeypatch):
    looks, look = [], InMemory.some_rows
    monkeypatch.setattr(InMemory, "some_rows", lambda rows, size: looks.append(size) or look(rows, size))
    for n in (700, 20_000):
        _, X, codes = table(n, 14, 1.0, 0.0)
        class_moments(design(X, codes.astype(float), None).with_vectors(code=codes), 3, separate=False)
    assert looks[0] == 700
    assert looks[1] < 20_000


def test_a_class_that_few_rows_do_not_show_is_measured_from_its_own():
    rows, X, codes = table(40_000, 3, 0.0, 2.0**20)
    codes[:], codes[5:9] = np.arange(len(codes)) % 2, 2
    X[codes == 2] += 2.0**30
    found = class_moments(design(X, codes.astype(float), None).with_vectors(code=codes), 3, separate=True)
    each = np.stack([scatter(rows, codes, np.ones(len(codes)), k) for k in range(3)]).astype(float)
    np.testing.assert_allclose(found.scatter, each, rtol=1e-9, atol=1e-9 * each[0, 0, 0])


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e150])
@pytest.mark.parametrize("separate", [True, False])
def test_sums_reveal_what_validation_would_refuse(value, separate):
    for n in (60, 5000):
        _, X, codes = table(n, 4, 1.0, 3.0)
        X[n - 7, 2] = value
        with pytest.raises(NonFiniteRows):
            class_moments(InMemory(X, codes[:, None].astype(float)).with_vectors(code=codes), 3, separate=separate)
        for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()):
            with pytest.raises(InvalidData, match=r"column 2|Column 2"):
                model.fit(X, codes)
            with pytest.raises(InvalidData, match=r"column 2|Column 2"):
                model.set_params(shrinkage="auto").fit(X, codes)
