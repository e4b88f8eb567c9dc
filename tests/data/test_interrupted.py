"""A fold that fails leaves nothing behind: no thread at work, no limit on BLAS."""

import operator
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from hiperplano.data import in_memory as module
from hiperplano.data.in_memory import InMemory
from hiperplano.data.parallel.threads import ordered_reduce

AT_WORK: list[object] = []
ROWS = InMemory(np.ones((20_000, 2)), np.ones((20_000, 1)))


def limits():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch):
    monkeypatch.setattr(module, "worker_count", lambda: 3)
    before = limits()
    yield
    assert limits() == before
    assert not AT_WORK


def fails(problem, after=0):
    def step(*_):
        nonlocal after
        after -= 1
        if after < 0:
            raise problem
        AT_WORK.append(None)
        time.sleep(0.05)
        AT_WORK.pop()
        return (np.zeros(1),)

    return step


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt])
def test_a_statistic_that_fails(problem):
    with pytest.raises(problem):
        ROWS.fold(fails(problem(), after=1))


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt])
def test_a_sum_that_fails_while_its_traceback_is_held(problem):
    with pytest.raises(problem) as held:
        ROWS.fold(lambda block: (np.zeros(1),), fails(problem()))
    assert held.tb is not None


def test_nothing_more_is_begun_after_a_failure():
    begun = []

    def work(item):
        begun.append(item)
        time.sleep(0.02)
        if item == 3:
            raise ValueError("of the fourth")
        return item

    with pytest.raises(ValueError, match="of the fourth"):
        ordered_reduce(work, range(100), operator.add, 2)
    assert len(begun) < 10


def test_folds_inside_a_fold():
    (total,) = ROWS.fold(lambda block: ROWS.fold(lambda inner: (np.array([float(len(inner))]),)))
    assert total[0] == 20_000 * len(ROWS.slices)
