"""Files that the workers of a cluster read give the model of the same rows in memory."""

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest

from hiperplano import LinearRegression, LogisticRegression, scan
from hiperplano.errors import InvalidData, InvalidParameter


@pytest.fixture
def folder(tmp_path):
    """Two files with numbers, gaps and categories, whose target has one class in the first."""
    rng = np.random.default_rng(0)
    n = 1_500
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "town": rng.choice(["León", "Lugo", "Jaén"], n),
            "income": np.where(rng.uniform(size=n) < 0.1, None, rng.lognormal(7, 1, n)).astype(float),
        }
    )
    frame["bad"] = np.where((np.arange(n) >= 700) & (rng.uniform(size=n) < 0.4), "yes", "no")
    frame["weight"] = rng.uniform(0.5, 2.0, n)
    for number, part in enumerate((frame[:700], frame[700:])):
        part.to_parquet(tmp_path / f"part-{number}.parquet", row_group_size=256)
    return tmp_path


def test_files_read_by_workers_give_the_same_model(folder):
    asked = {"target": "bad", "weight": "weight", "nan": "missing", "memory": 0.05}
    streamed, rows = scan(folder, **asked), scan(folder, engine="dask", **asked)
    plain = LogisticRegression().fit(streamed)
    for scheduler in ("synchronous", "processes"):
        with dask.config.set(scheduler=scheduler, num_workers=2):
            model = LogisticRegression().fit(rows)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    assert list(model.feature_names_in_) == list(plain.feature_names_in_)
    with dask.config.set(scheduler="synchronous"):
        shares = model.predict_proba(rows)
        assert isinstance(shares, da.Array)
        np.testing.assert_allclose(shares.compute(), plain.predict_proba(streamed), rtol=1e-7)
        again = scan(folder / "part-1.parquet", like=rows, nan="missing", engine="dask")
        np.testing.assert_array_equal(model.predict(again).compute(), plain.predict(streamed)[700:])


def test_a_file_that_cannot_be_used_is_named(folder):
    rows = scan(folder, target="age", columns=["weight"], engine="dask")
    with dask.config.set(scheduler="synchronous"):
        LinearRegression().fit(rows)
        content = (folder / "part-1.parquet").read_bytes()
        (folder / "part-1.parquet").write_bytes(content[:-200])
        with pytest.raises((InvalidData, ValueError), match=r"part-1\.parquet"):
            LinearRegression().fit(rows)
    with pytest.raises(InvalidParameter, match="engine"):
        scan(folder, target="age", engine="spark")
