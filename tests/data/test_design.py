"""Blocks and `fold`: every row once, in block order, with the same bits for any number of threads."""

import operator
import os
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from hiperplano import LinearRegression, Ridge
from hiperplano.data import in_memory as design_module
from hiperplano.data.block import Block
from hiperplano.data.in_memory import InMemory
from hiperplano.data.parallel import blas, threads
from hiperplano.data.validate import design as make_design


def table(n, d=5, density=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(-3, 3, d) + 1.0
    if density is not None:
        X *= rng.uniform(size=X.shape) < density
    return X, X @ rng.normal(size=d) + rng.normal(size=n), rng.uniform(0.5, 2.0, n)


DESIGNS = {
    "dense": lambda X, y, w: make_design(X, y, w),
    "fortran": lambda X, y, w: make_design(np.asfortranarray(X), y, w),
    "float32": lambda X, y, w: make_design(X.astype(np.float32), y, w),
    "sparse": lambda X, y, w: make_design(sparse.csr_array(X), y, w),
}


@pytest.fixture(params=DESIGNS, scope="module")
def design(request):
    X, y, w = table(70_000, density=0.05 if request.param == "sparse" else None)
    return DESIGNS[request.param](X, y, w)


def use_threads(monkeypatch, number):
    monkeypatch.setattr(design_module, "worker_count", lambda: number)


def test_blocks_cover_every_row_once(design):
    slices = design.slices
    assert len(slices) > 1
    assert [part.start for part in slices[1:]] == [part.stop for part in slices[:-1]]
    assert (slices[0].start, slices[-1].stop) == (0, design.n_rows)
    whole = np.vstack([design.block(part).dense() for part in slices])
    np.testing.assert_array_equal(whole, design.x.toarray() if design.is_sparse else design.x)
    np.testing.assert_array_equal(np.concatenate([design.block(part).weight for part in slices]), design.weight)
    np.testing.assert_array_equal(np.vstack([design.block(part).y for part in slices]), design.y)


@pytest.mark.parametrize("number", [2, 3, 8])
def test_sums_have_the_same_bits_with_any_number_of_threads(monkeypatch, design, number):
    def statistic(block):
        rows = block.dense().astype(np.float64)
        return rows.T @ rows, rows.sum(axis=0), block.weight @ block.y

    use_threads(monkeypatch, 1)
    alone = design.fold(statistic)
    use_threads(monkeypatch, number)
    for mine, theirs in zip(alone, design.fold(statistic), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def numbered(design):
    return design.with_vectors(number=np.arange(design.n_rows))


def test_fold_adds_in_block_order(monkeypatch, design):
    use_threads(monkeypatch, 4)

    def first(block):
        return ([int(block.vectors["number"][0])],)

    (order,) = numbered(design).fold(first, lambda left, right: (left[0] + right[0],))
    assert order == [part.start for part in design.slices]


def test_map_gives_a_number_for_every_row(monkeypatch, design):
    use_threads(monkeypatch, 3)
    found = design.collect(design.map(lambda block: block.y[:, 0] * 2))
    np.testing.assert_array_equal(found, 2 * design.y[:, 0])


def test_fold_and_map_do_both_in_one_pass(monkeypatch, design):
    use_threads(monkeypatch, 3)

    def both(block):
        return (np.array([float(len(block))]),), {"twice": block.y[:, 0] * 2, "score": block.dot(np.ones((5, 2)))}

    (count,), vectors = design.fold_and_map(both)
    assert count[0] == design.n_rows
    np.testing.assert_array_equal(design.collect(vectors["twice"]), 2 * design.y[:, 0])
    assert design.collect(vectors["score"]).shape == (design.n_rows, 2)


def test_vectors_travel_with_their_rows(design):
    more = numbered(design)
    assert "number" not in design.vectors
    (total,) = more.fold(lambda block: (np.atleast_1d(block.vectors["number"].sum()),))
    assert total[0] == design.n_rows * (design.n_rows - 1) // 2
    without = more.with_vectors(number=None, weight=None, y=np.zeros(design.n_rows))
    assert not without.has_weight
    assert without.vectors.keys() == {"y"}
    assert without.n_targets == 1
    few = more.gather(np.arange(design.n_rows) % 1000 == 7)
    np.testing.assert_array_equal(few.vector("number"), few.row_numbers())
    np.testing.assert_array_equal(few.dense(), design.subset(few.row_numbers()).dense())
    assert more.gather(np.arange(design.n_rows) == 5).gather(np.ones(1, bool)).row_numbers() == [5]


def test_samples_are_drawn_by_chance_without_replacement_and_in_order(design):
    one, other = numbered(design).sample(100), numbered(design).sample(100, seed=1)
    rows = one.vector("number")
    assert (np.diff(rows) > 0).all()
    assert len(rows) == 100
    assert not np.array_equal(rows, other.vector("number"))
    np.testing.assert_array_equal(rows, numbered(design).sample(100).vector("number"))
    assert design.sample(10**9) is design


def test_rows_without_weight_are_not_there(design):
    assert design.with_vectors(weight=None).weighted_rows().n_rows == design.n_rows
    weight = np.where(np.arange(design.n_rows) % 3 == 0, 0.0, 2.0)
    counted = design.with_vectors(weight=weight).weighted_rows()
    np.testing.assert_array_equal(counted.row_numbers(), np.flatnonzero(weight))
    assert counted.total_weight == weight.sum()


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch, design):
    use_threads(monkeypatch, 3)

    def fail(block):
        if block.vectors["number"][0] > 0:
            raise ZeroDivisionError("in a block")
        return (np.zeros(1),)

    with pytest.raises(ZeroDivisionError, match="in a block"):
        numbered(design).fold(fail)
    assert blas.guard._callers == 0


def test_threads_obey_the_callers_errstate(monkeypatch, design):
    use_threads(monkeypatch, 3)
    with np.errstate(over="ignore"):
        design.fold(lambda block: (np.exp(np.full(1, 1e4)),))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        design.fold(lambda block: (np.exp(np.full(1, 1e4)),))


def test_sparse_blocks_are_views():
    X = sparse.csr_array(table(70_000, density=0.05)[0])
    design = InMemory(X, np.zeros((70_000, 1)))
    block = design.block(design.slices[1])
    assert np.shares_memory(block.x.data, X.data)


@pytest.mark.parametrize("n_columns", [1, 50, 3_000, 100_000])
def test_blocks_are_small(n_columns):
    """A block and its copies are what a fit may add to memory."""
    dense = InMemory(np.broadcast_to(0.0, (1_000_000, n_columns)), np.zeros((1, 1)))
    assert dense.block_rows() * n_columns * 8 <= max(2**22, 1024 * n_columns * 8)


def _limits():
    return [library.get_num_threads() for libraries in blas._libraries() for library in libraries]


class TestThreadLimits:
    def test_variables_are_respected(self, monkeypatch):
        for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
            monkeypatch.setenv(name, "1")
            assert threads.worker_count() == 1
            monkeypatch.delenv(name)

    @pytest.mark.parametrize("value", ["", "many", "4,2"])
    def test_other_values_are_ignored(self, monkeypatch, value):
        monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        free = threads.worker_count()
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert threads.worker_count() == free

    def test_threadpoolctl_is_respected(self):
        with threadpool_limits(1, user_api="blas"):
            assert threads.worker_count() == 1

    def test_blas_has_one_thread_inside_and_its_own_after(self):
        before = _limits()
        with blas.one_blas_thread():
            with blas.one_blas_thread():
                assert set(_limits()) == {1}
            assert set(_limits()) == {1}
            assert threads.worker_count() <= max(before)
        assert _limits() == before

    def test_the_limit_survives_callers_in_other_threads(self):
        before = _limits()
        inside, leave = threading.Event(), threading.Event()

        def hold():
            with blas.one_blas_thread():
                inside.set()
                leave.wait(10)

        other = threading.Thread(target=hold)
        other.start()
        inside.wait(10)
        with blas.one_blas_thread():
            pass
        assert set(_limits()) == {1}
        leave.set()
        other.join()
        assert _limits() == before

    def test_the_last_to_leave_restores_the_limit_whatever_thread_it_is(self):
        before = _limits()
        inside, leave = threading.Event(), threading.Event()

        def hold():
            inside.wait(10)
            with blas.one_blas_thread():
                leave.set()

        other = threading.Thread(target=hold)
        other.start()
        with blas.one_blas_thread():
            inside.set()
            leave.wait(10)
        other.join()
        assert _limits() == before
        assert blas.guard._callers == 0

    def test_a_blas_with_limits_by_thread_is_limited_in_every_thread(self, monkeypatch):
        class OnOpenMP:
            """As threadpoolctl describes OpenBLAS on OpenMP: a limit belongs to the thread that sets it."""

            threading_layer = "openmp"

            def __init__(self):
                self.limit = threading.local()

            def get_num_threads(self):
                return getattr(self.limit, "value", 4)

            def set_num_threads(self, number):
                self.limit.value = number

        library = OnOpenMP()
        monkeypatch.setattr(blas, "_libraries", lambda: ([library], []))
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
        for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
            monkeypatch.delenv(name, raising=False)
        with blas.one_blas_thread():
            assert library.get_num_threads() == 1
            assert threads.worker_count() == 4
            seen = threads.ordered_reduce(lambda _: {library.get_num_threads()}, range(8), set.union, 3)
            assert seen == {1}
            with blas.one_blas_thread():
                pass
            assert library.get_num_threads() == 1
        assert library.get_num_threads() == 4

    def test_results_wait_for_their_turn_and_not_all_at_once(self):
        """Only a few results exist at a time, however slow the one whose turn it is."""
        first, started, combined = threading.Event(), [], []

        def work(item):
            started.append(item)
            if item == 0:
                first.wait(10)
            return [item]

        def reduce():
            combined.extend(threads.ordered_reduce(work, range(100), operator.iadd, 2))

        caller = threading.Thread(target=reduce)
        caller.start()
        caller.join(0.3)
        assert len(started) <= 6
        first.set()
        caller.join(10)
        assert combined == list(range(100))

    def test_the_first_problem_in_the_order_of_the_items_is_raised(self):
        later = threading.Event()

        def work(item):
            if item == 0:
                later.wait(10)  # fails after the other
            else:
                later.set()
            raise ValueError(item)

        with pytest.raises(ValueError, match=r"^0$"):
            threads.ordered_reduce(work, range(2), operator.add, 2)

    def test_reductions_inside_others(self):
        def inner(item):
            return threads.ordered_reduce(lambda other: item * other, range(50), operator.add, 4)

        assert threads.ordered_reduce(inner, range(50), operator.add, 4) == sum(range(50)) ** 2

    def test_a_forked_process_sums_on(self):
        def total():
            return threads.ordered_reduce(lambda item: item, range(200), operator.add, 2)

        expected = total()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads, from Python 3.12 on
            child = os.fork()
        if child == 0:
            os._exit(0 if total() == expected else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


PROGRAM = """
import sys
import numpy as np
from scipy import sparse
from hiperplano import LinearRegression, Ridge
from hiperplano.data.parallel.threads import worker_count
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 8)) + 3
y = X @ np.arange(8) + rng.normal(size=20_000)
tables = [
    X,
    np.column_stack([X, X[:, 0] + 1e-2 * X[:, 1]]),  # refined
    np.column_stack([X, X[:, 0] + 1e-7 * X[:, 1] ** 2]),  # orthogonal
    np.column_stack([X, X[:, 0] + X[:, 1]]),  # dependent
    sparse.csr_array(X * (rng.uniform(size=X.shape) < 0.05)),
    X[:5],
]
for rows in tables:
    for model in (LinearRegression(), Ridge(), LinearRegression(solver="cg")):
        model.fit(rows, y[: rows.shape[0]])
        print(*[float(value).hex() for value in [model.intercept_, *model.coef_, *model.solution_.rss]])
print(worker_count(), file=sys.stderr)
"""


def test_coefficients_have_the_same_bits_with_one_and_with_two_threads():
    found = []
    for number in ("1", "2"):
        names = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        env = {key: value for key, value in os.environ.items() if key not in names} | {"OMP_NUM_THREADS": number}
        ran = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], env=env, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        assert int(ran.stderr.split()[-1]) == min(int(number), len(os.sched_getaffinity(0)))
        found.append(ran.stdout)
    assert found[0] == found[1]
    assert found[0].count("\n") == 18


@pytest.mark.parametrize("model", [LinearRegression(), LinearRegression(solver="qr"), Ridge(solver="cg")], ids=str)
@pytest.mark.parametrize("density", [None, 0.05, 0.5])
def test_coefficients_have_the_same_bits_with_any_number_of_threads(monkeypatch, model, density):
    X, y, w = table(40_000, density=density)
    rows = X if density is None else sparse.csr_array(X)
    found = []
    for number in (1, 2, 5):
        use_threads(monkeypatch, number)
        found.append(model.fit(rows, y, w).coef_.copy())
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_fits_in_several_threads_have_the_same_bits():
    X, y, w = table(20_000)
    alone = LinearRegression().fit(X, y, w).coef_
    before = _limits()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: LinearRegression().fit(X, y, w).coef_, range(8)))
    for coef in found:
        np.testing.assert_array_equal(coef, alone)
    assert _limits() == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [1.0, 0.2], ids=["long", "short"])
def test_normal_products_of_sparse_rows_are_those_of_dense_ones(dtype, weighted, share):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(40, 11)) * (rng.uniform(size=(40, 11)) < share * rng.uniform(size=(40, 1)))).astype(dtype)
    x[3] = 0.0
    right, weights = rng.normal(size=11), rng.uniform(size=40) if weighted else None
    scores = (x.astype(float) @ right - 0.3) * (1.0 if weights is None else weights)
    for rows in (sparse.csr_array(x), x.astype(float)):
        found, total = Block(rows, {}).normal_dot(weights, right, 0.3)
        np.testing.assert_allclose(found, x.T.astype(float) @ scores, rtol=1e-13, atol=1e-13)
        assert total == pytest.approx(scores.sum(), rel=1e-13)
