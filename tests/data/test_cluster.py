"""Rows on a Dask cluster: what is refused and how it is named, workers that die, and nothing large that travels."""

import os
import pickle
import signal

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from hiperplano import KernelRidge, LinearRegression, LogisticRegression, Ridge, scan
from hiperplano.data.cluster import design as cluster_design
from hiperplano.data.cluster.collections import cluster_of
from hiperplano.data.cluster.tasks import Place, unreadable
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.errors import ClusterError, InvalidData, InvalidTarget, NotAvailable, NotSeparable

N, D = 600, 3


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def table(n=N):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D)) + 2.0
    return X, X @ np.arange(1.0, D + 1) + rng.normal(size=n)


def rows_and_target(chunks=100):
    X, y = table()
    return da.from_array(X, chunks=(chunks, D)), da.from_array(y, chunks=chunks)


def test_dataframes_bring_names_and_labels():
    X, y = table()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.where(y > 12, "high", "low"))
    parts = dd.from_pandas(frame, npartitions=4)
    model = LogisticRegression().fit(parts[["a", "b", "c"]], parts["kind"])
    plain = LogisticRegression().fit(frame[["a", "b", "c"]], frame["kind"])
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert list(model.classes_) == ["high", "low"]
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
    proba = model.predict_proba(parts[["a", "b", "c"]])
    np.testing.assert_allclose(proba.compute(), plain.predict_proba(frame[["a", "b", "c"]]), rtol=1e-9)
    with pytest.raises(InvalidData, match="feature names"):
        model.predict(parts[["b", "a", "c"]])


def test_partitions_of_unknown_length_classes_that_come_late_and_targets_on_the_host():
    X, y = table()
    order = np.argsort(y)
    X, labels = X[order], y[order] > 12
    rows = da.from_array(X, chunks=(100, D))
    unknown = rows[da.from_array(np.ones(N, dtype=bool), chunks=100)]
    assert np.isnan(unknown.chunks[0]).all()
    plain = LogisticRegression(class_weight="balanced").fit(X, labels)
    for given in (da.from_array(labels, chunks=77), labels, labels.tolist()):
        model = LogisticRegression(class_weight="balanced").fit(unknown, given)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)


def test_columns_in_chunks_are_put_together_with_a_warning():
    X, y = table()
    with pytest.warns(UserWarning, match=r"chunks of columns.*rechunk\(\{1: -1\}\)"):
        model = Ridge().fit(da.from_array(X, chunks=(100, 2)), y)
    np.testing.assert_allclose(model.coef_, Ridge().fit(X, y).coef_, rtol=1e-9)


def test_whole_numbers_and_objects_become_floats():
    X = np.arange(40).reshape(20, 2) ** 2 % 17
    y = np.arange(20) % 7
    plain = LinearRegression().fit(X, y)
    for kind in (np.int16, object):
        rows, target = da.from_array(X.astype(kind), chunks=(6, 2)), da.from_array(y.astype(kind), chunks=6)
        model = LinearRegression().fit(rows, target)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("X", np.nan, r"NaN \(first in row 345, which is row 45 of partition 3 \(rows 300 to 399\), column 1"),
        ("X", np.inf, r"infinity \(first in row 345"),
        ("X", 1e200, "size 1.0e\\+200"),
        ("y", np.nan, r"y contains nan \(first in row 345, which is row 45 of partition 3"),
        ("y", np.inf, r"y contains inf"),
        ("weight", -1.0, r"sample_weight holds -1 \(row 345"),
        ("weight", np.nan, r"sample_weight holds nan \(row 345"),
    ],
)
def test_a_number_that_cannot_be_used_is_named(place, value, words):
    X, y = table()
    weight = np.ones(N)
    {"X": X[:, 1], "y": y, "weight": weight}[place][345] = value
    model = LinearRegression()
    with pytest.raises(InvalidData, match=words):
        model.fit(da.from_array(X, chunks=(100, D)), da.from_array(y), sample_weight=da.from_array(weight))
    assert not hasattr(model, "coef_")


def broken(block, block_info=None):
    if block_info[0]["chunk-location"][0] == 4:
        raise OSError("part-4.parquet: unexpected end of file")
    return block


def as_text(block, block_info=None):
    return np.full(block.shape, "many", dtype=object) if block_info[0]["chunk-location"][0] == 4 else block


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (broken, r"partition 4 \(rows 400 to 499\) cannot be used: OSError: part-4.parquet"),
        (as_text, r"partition 4 \(rows 400 to 499\) cannot be used: .*'many'"),
    ],
)
def test_a_partition_that_fails_names_itself(spoil, words):
    rows, y = rows_and_target()
    spoiled = rows.map_blocks(spoil, dtype=float if spoil is broken else object, meta=np.empty((0, 0)))
    with pytest.raises(InvalidData, match=words):
        LinearRegression().fit(spoiled, y)
    with pytest.raises((InvalidData, OSError), match=r"part-4|partition 4 cannot be used"):
        LinearRegression().fit(rows, y).predict(spoiled).compute()


@pytest.mark.parametrize("problem", [InvalidTarget("y is odd."), NotAvailable("No."), NotSeparable("Mixed.", "proof")])
def test_our_own_refusals_keep_their_type_and_name_the_partition(problem):
    found = unreadable(Place(4), problem)
    assert type(found) is type(problem)
    assert str(found) == f"X: partition 4 cannot be used: {problem}"
    assert str(problem) != str(found)
    assert getattr(found, "certificate", None) == getattr(problem, "certificate", None)
    assert type(unreadable(Place(4), OSError("gone"))) is InvalidData


def test_what_cannot_be_a_fit_is_refused_in_words():
    rows, y = rows_and_target()
    with pytest.raises(InvalidTarget, match="requires y"):
        LinearRegression().fit(rows)
    with pytest.raises(InvalidData, match="X has 600 rows, y has 599"):
        LinearRegression().fit(rows, y[:-1])
    with pytest.raises(InvalidTarget, match="1d array"):
        LogisticRegression().fit(rows, da.stack([y, y], axis=1))
    with pytest.raises(InvalidData, match="0 rows in"):
        LinearRegression().fit(rows[:0], y[:0])
    with pytest.raises(InvalidData, match="2D"):
        LinearRegression().fit(y, y)
    with pytest.raises(InvalidData, match="dask Delayed"):
        LinearRegression().fit(dask.delayed(np.ones)(3), y)
    with pytest.raises(InvalidData, match="must contain at least one non-zero"):
        LinearRegression().fit(rows, y, sample_weight=da.zeros(N))
    with pytest.raises(InvalidTarget, match="one class"):
        LogisticRegression().fit(rows, da.zeros(N, dtype=int))
    with pytest.raises(NotAvailable, match="memory"):
        KernelRidge().fit(rows, y)
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "town": ["x", "y"]}), npartitions=1)
    with pytest.raises(InvalidData, match="'town' holds text"):
        LinearRegression().fit(frame, np.ones(2))


def test_a_pass_sends_sums_and_leaves_rows_where_they_are():
    """All that a task takes from the host, and all that it gives back, is small beside the rows."""
    X, y = table(60_000)
    rows = cluster_of(da.from_array(X, chunks=(6_000, D)), da.from_array(y, chunks=6_000))
    sent, found = [], []
    run = cluster_design.computed

    def weigh(wanted, places, inputs):
        names = {key for parts in inputs for key in parts.graph}
        sent.append(len(cloudpickle.dumps([task for key, task in wanted.graph.items() if key not in names])))
        answer = run(wanted, places, inputs)
        found.append(len(pickle.dumps(answer)))
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_design, "computed", weigh)
        refuse_out_of_range(rows)
        LinearRegression().fit(rows)
    assert len(sent) >= 3
    assert max(sent) < 10_000
    assert max(found) < X.nbytes / 10  # the sample of a few thousand rows is the largest


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "5s"}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_workers_read_files(client, tmp_path):
    X, y = table(6_000)
    towns = np.array(["León", "Lugo", "Jaén"])[np.arange(6_000) % 3]
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(town=towns, y=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=1_000)
    plain = Ridge().fit(scan(tmp_path / "rows.parquet", target="y"))
    with dask.config.set(scheduler=client):
        model = Ridge().fit(scan(tmp_path / "rows.parquet", target="y", memory=0.1, engine="dask"))
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore")  # of a worker that was killed
def test_a_killed_worker_does_not_change_the_answer(client, monkeypatch):
    X, y = table(6_000)
    labels = y > 12
    with dask.config.set(scheduler=client):
        rows, target = dask.persist(da.from_array(X, chunks=(1_000, D)), da.from_array(labels, chunks=1_000))
        before = LogisticRegression().fit(rows, target)
        passes, run = [], cluster_design.computed

        def kill_in_the_fourth(*args):
            passes.append(1)
            if len(passes) == 4:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            return run(*args)

        monkeypatch.setattr(cluster_design, "computed", kill_in_the_fourth)
        after = LogisticRegression().fit(rows, target)
        monkeypatch.undo()
        assert len(passes) > 4
        frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=3).persist()
        named = LogisticRegression().fit(frame, labels)
        predicted = after.predict(rows)
        np.testing.assert_array_equal(predicted.compute(), before.predict(X))
    np.testing.assert_allclose(after.coef_, before.coef_, rtol=1e-12)
    for model in (after, named):
        np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X, labels).coef_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_a_lost_scheduler_is_an_error_that_says_so():
    with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster, Client(cluster) as client:
        X, y = table()
        with dask.config.set(scheduler=client):
            rows = da.from_array(X, chunks=(100, D)).persist()
            model = LinearRegression().fit(rows, y)
            cluster.close()
            with pytest.raises(ClusterError, match="lost"):
                model.fit(rows, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-9)
