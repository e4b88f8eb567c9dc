"""Streams: passes, checkpoints, interruptions, limits of memory, and what models do with them beyond a fit."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from hiperplano import (
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Pegasos,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    SGDClassifier,
    SGDRegressor,
    inference,
    scan,
)
from hiperplano.data.parallel.threads import worker_count
from hiperplano.data.stream.vectors import StoredVector
from hiperplano.errors import InvalidData, InvalidFile, InvalidType, NotAvailable

N, D = 6_000, 5


def logistic_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    return X, (X @ np.linspace(1, -1, D) + rng.logistic(size=N) > 0).astype(int)


@pytest.fixture(scope="module")
def data():
    return logistic_data()


class Blocks:
    """A function that yields blocks, and counts how often it is called."""

    def __init__(self, *arrays, size=1_000):
        self.arrays, self.size, self.calls = arrays, size, 0

    def __call__(self):
        self.calls += 1
        for start in range(0, self.arrays[0].shape[0], self.size):
            yield tuple(array[start : start + self.size] for array in self.arrays)


def test_vectors_go_to_a_file_where_they_are_long(data):
    """Codes, weights, samples and masks of rows are the same from memory and from a temporary file."""
    X, y = data
    weight = np.random.default_rng(1).integers(0, 3, N).astype(float)
    labels = np.array(["no", "perhaps", "yes"])[y + (X[:, 0] > 1)]
    here = LogisticRegression(class_weight="balanced").fit(X, labels, sample_weight=weight)
    there = LogisticRegression(class_weight="balanced").fit(scan(Blocks(X, labels, weight), memory=0.2))
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=0, atol=1e-9)
    assert there.classes_.tolist() == ["no", "perhaps", "yes"]


@pytest.mark.parametrize("values", [[1.0, -1.0, 3.0], [0.5, 1.0], [0.0, -0.0], [np.nan, 1.0], [200.0, 0.0], [300, -1]])
def test_a_shorter_type_changes_no_number(values):
    values = np.array(values)
    for limit in (0, 2**20):
        found = StoredVector.of([values], limit).piece(0)
        assert found.dtype == values.dtype
        assert found.tobytes() == values.tobytes()


MEMORY = """
import resource
import sys
from hiperplano import LinearRegression, scan

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

LinearRegression().fit(scan(sys.argv[1] + "/0.parquet", "y", memory=32))
before = peak()
LinearRegression().fit(scan(sys.argv[1], "y", memory=32))
print(peak() - before)
"""


def test_fifteen_times_the_rows_take_no_more_memory(tmp_path):
    """150 MB of rows, of which 32 MB may be held; one file of fifteen shows what a fit takes anyway."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(31_250, 40))
    columns = {f"x{j}": X[:, j] for j in range(40)} | {"y": X[:, 0] + rng.normal(size=len(X))}
    pq.write_table(pa.table(columns), tmp_path / "0.parquet", use_dictionary=False, compression="none")
    for k in range(1, 15):
        os.link(tmp_path / "0.parquet", tmp_path / f"{k}.parquet")
    ran = subprocess.run([sys.executable, "-c", MEMORY, str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout) < 50


def test_a_first_sample_is_no_larger_than_memory_allows(data):
    """A logistic fit begins with a sample: with fewer rows where fewer fit, and not with an error."""
    X, y = (np.concatenate([part] * 8) for part in data)
    rows = scan(Blocks(X, y), memory=0.1)
    assert rows.sample(len(y) // 2).n_rows == int(0.1 * 2**20) // (8 * D)
    np.testing.assert_allclose(LogisticRegression().fit(rows).coef_, LogisticRegression().fit(X, y).coef_, atol=1e-8)


def test_a_fit_reads_rows_a_few_times_only(data):
    blocks = Blocks(*data)
    rows = scan(blocks)
    before = blocks.calls
    LogisticRegression().fit(rows)
    assert blocks.calls - before <= 8  # a look at the numbers, a sample, and passes of the solver
    before = blocks.calls
    rows.total_weight, rows.with_vectors(code=data[1]).vector("code")
    assert blocks.calls == before


def test_summaries_and_tests_are_made_from_passes(data):
    X, y = data
    model = LogisticRegression(C=np.inf).fit(scan(Blocks(X, y)))
    np.testing.assert_allclose(inference(model, scan(Blocks(X, y))).se, inference(model, X, y).se, rtol=1e-9)


@pytest.mark.parametrize(
    "model", [SGDClassifier(random_state=0, tol=1e-4), Perceptron(average=True), Pegasos(random_state=0)]
)
def test_online_classifiers_walk_a_stream_in_passes(model, data):
    X, y = data
    rows = scan(Blocks(X, y))
    model.fit(rows)
    best = LogisticRegression().fit(X, y).score(X, y)
    assert np.mean(model.predict(rows) == y) > best - 0.1
    assert model.solution_.n_iter == model.n_iter_ >= 1
    assert model.solution_.mistakes_by_pass[0][0] > 0


def test_one_pass_over_a_stream_is_partial_fit_over_its_blocks(data):
    X, y = data
    walked = SGDRegressor(max_iter=1, tol=None, shuffle=False).fit(scan(Blocks(X, y.astype(float))))
    fed = SGDRegressor(shuffle=False)
    for start in range(0, N, 1_000):
        fed.partial_fit(X[start : start + 1_000], y[start : start + 1_000].astype(float))
    np.testing.assert_array_equal(walked.coef_, fed.coef_)
    balanced = Perceptron(max_iter=1, tol=None, class_weight="balanced").fit(scan(Blocks(sparse.csr_array(X), y)))
    assert balanced.coef_.shape == (1, D)


def test_what_needs_rows_in_memory_says_so(data):
    rows = scan(Blocks(*data))
    with pytest.raises(NotAvailable, match=r"early_stopping=True needs all rows in memory"):
        SGDClassifier(early_stopping=True).fit(rows)
    with pytest.raises(NotAvailable, match=r"from memory.*Pass arrays"):
        LinearSVC(loss="hinge", solver="dual", fit_intercept=False).fit(rows)
    with pytest.raises(NotAvailable, match=r"needs 6,000 of 6,000 rows in memory .* Raise memory"):
        scan(Blocks(*data), memory=0.05).sample(N)


def test_predictions_are_written_as_they_are_made(data, tmp_path):
    X, y = data
    path = tmp_path / "found.parquet"
    for model in (LogisticRegression(), QuadraticDiscriminantAnalysis()):
        model.fit(X, np.array(["no", "yes"])[y]).predict_to(scan(Blocks(X)), path)
        found = pq.read_table(path)
        assert found.column_names == ["prediction", "probability no", "probability yes"]
        np.testing.assert_array_equal(found.column("prediction").to_numpy(), model.predict(X))
        np.testing.assert_allclose(found.column("probability yes").to_numpy(), model.predict_proba(X)[:, 1], rtol=1e-12)
    bad = X.copy()
    bad[4_321, 2] = np.nan
    with pytest.raises(InvalidData, match="NaN"):
        LinearRegression().fit(X, y).predict_to(scan(Blocks(bad)), path)
    assert pq.read_table(path).num_rows == N  # the old file is still there, and no other
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    with pytest.raises(InvalidType, match="rows of scan"):
        LinearRegression().fit(X, y).predict_to(X, path)


def test_a_bad_number_is_named_by_its_block_and_row(data):
    X, y = data
    bad = X.copy()
    bad[4_321, 2] = np.inf
    for model in (LogisticRegression(), LinearRegression()):
        with pytest.raises(InvalidData, match=r"infinity \(first in row 321 of block 4, column 2\)"):
            model.fit(scan(Blocks(bad, y)))


def test_progress_is_told_and_ends_with_every_row(data):
    told = []
    LinearRegression().fit(scan(Blocks(*data), progress=told.append))
    ends = [each for each in told if each.rows == N]
    assert [each.passes for each in ends] == list(range(1, len(ends) + 1))
    assert all(each.n_rows == N and each.left == 0 for each in ends)
    assert "6,000 of 6,000 rows" in ends[-1].sentence


def test_an_interrupted_pass_leaves_no_thread_and_the_old_model(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    before = model.coef_

    def interrupted(progress):
        if progress.passes > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(scan(Blocks(X, y), progress=interrupted))
    assert model.coef_ is before
    assert not [each for each in threading.enumerate() if each.name == "hiperplano-reader"]


def test_finished_passes_are_found_in_the_checkpoint(data, tmp_path):
    X, y = data
    path = tmp_path / "fit.checkpoint"
    blocks = Blocks(X, y)
    plain = LogisticRegression().fit(scan(Blocks(X, y)))
    first = LogisticRegression().fit(scan(blocks, checkpoint=path))
    calls, blocks.calls = blocks.calls, 0
    again = LogisticRegression().fit(scan(blocks, checkpoint=path))
    np.testing.assert_array_equal(first.coef_, plain.coef_)
    np.testing.assert_array_equal(again.coef_, plain.coef_)
    assert blocks.calls < calls - 2  # only the first look, and the sample of rows
    other = LogisticRegression(C=0.01).fit(scan(blocks, checkpoint=path))
    np.testing.assert_array_equal(other.coef_, LogisticRegression(C=0.01).fit(scan(Blocks(X, y))).coef_)
    turned = LogisticRegression().fit(scan(Blocks(-X, y), checkpoint=path))
    np.testing.assert_allclose(turned.coef_, -plain.coef_, rtol=1e-9)
    path.write_text("no database, but longer than the head of one " * 20)
    with pytest.raises(InvalidFile, match="cannot be used as a checkpoint"):
        scan(blocks, checkpoint=path)


KILLED = """
import sys, time
from hiperplano.data.stream.checkpoint import Checkpoint
from tests.data.test_stream import Blocks, logistic_data
from hiperplano import LogisticRegression, scan

class Slowly(Blocks):
    def __call__(self):
        for number, block in enumerate(super().__call__()):
            if self.calls > 3:
                print(self.calls, number, flush=True)
                time.sleep(0.05)
            yield block

LogisticRegression().fit(scan(Slowly(*logistic_data()), checkpoint=Checkpoint(sys.argv[1], every=0.0)))
"""


def test_a_fit_that_was_killed_goes_on_to_the_same_coefficients(tmp_path):
    """By SIGKILL, in the middle of a pass, the sums of which are taken up where they were."""
    path = tmp_path / "fit.checkpoint"
    command, root = [sys.executable, "-c", KILLED, str(path)], Path(__file__).parents[2]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
    for line in process.stdout:
        if line.split() == ["5", "4"]:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL
    resumed, plain = Blocks(*logistic_data()), Blocks(*logistic_data())
    found = LogisticRegression().fit(scan(resumed, checkpoint=path))
    expected = LogisticRegression().fit(scan(plain))
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert resumed.calls < plain.calls


def test_runs_of_row_groups_side_by_side_are_summed_as_one_after_the_other(tmp_path, monkeypatch):
    """To the last bit; with rows that begin in one group and end in the next, and some that are left out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 3))
    weight = rng.integers(0, 2, len(X)).astype(float)
    y = (X[:, 0] + rng.logistic(size=len(X)) > 0).astype(int)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "w": weight, "y": y})
    for k in range(2):
        pq.write_table(table.slice(30_000 * k, 30_000), tmp_path / f"{k}.parquet", row_group_size=7_000)
    found = []
    for workers in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", workers)
        rows = scan(tmp_path, "y", weight="w", memory=0.4)
        assert (rows._readers(rows._runs) > 1) == (worker_count() > 1)
        model = LogisticRegression().fit(rows)
        found.append(np.concatenate([model.coef_[0], model.intercept_, rows.sample(5).vector("row")]))
    np.testing.assert_array_equal(found[0], found[1])
    here = LogisticRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(found[0][:3], here.coef_[0], atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_first_reading_draws_the_sample(tmp_path, weighted):
    """Without another pass; each row at most once, evenly from all files, and with its own numbers and vectors."""
    n = 40_000
    table = pa.table({"a": np.arange(n, dtype=float), "w": np.arange(n) % 4 / 2.0, "y": np.arange(n) * 3.0})
    for k in range(4):
        pq.write_table(table.slice(10_000 * k, 10_000), tmp_path / f"{k}.parquet", row_group_size=3_000)
    rows = scan(tmp_path, "y", ["a"], weight="w" if weighted else None, nan="missing").weighted_rows()

    def refuse(_chunks):
        raise AssertionError("rows were read")

    rows.source.read = refuse
    sample = rows.sample(4_000)
    found = sample.dense()[:, 0]
    assert len(np.unique(found)) == 4_000
    np.testing.assert_array_equal(sample.collect(sample.vector("row")), found)
    np.testing.assert_array_equal(sample.collect(sample.vector("y"))[:, 0], 3 * found)
    if weighted:
        np.testing.assert_array_equal(sample.collect(sample.vector("weight")), found % 4 / 2.0)
        assert (found % 4 > 0).all()
    # Each file should have a quarter: a standard deviation is 26 rows.
    assert np.abs(np.bincount((found // 10_000).astype(int)) - 1_000).max() < 160
    assert set(rows.sample(100).dense()[:, 0]) < set(found)
