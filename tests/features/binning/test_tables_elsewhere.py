"""Bins and scorecards of scanned files and dask dataframes are those of the same table in memory."""

import numpy as np
import pandas as pd
import pytest

from hiperplano import OptimalBinning, Scorecard, WoEEncoder, load_credit_default, scan
from hiperplano.errors import InvalidData, InvalidParameter

RULES = {
    "years_in_job": {"special_codes": {"not asked": 999}},
    "purpose": {"special_codes": ["debts"]},
    "late_payments": {"kind": "categorical"},
}


@pytest.fixture(scope="module")
def credit():
    """Numbers with gaps, dates with gaps, texts, booleans and special codes."""
    X, y = load_credit_default(return_X_y=True)
    X = X.drop(columns="client_id").assign(older=X["age"] > 50)
    X.loc[:300:3, "application_date"] = pd.NaT
    return X, y


@pytest.fixture(scope="module")
def folder(credit, tmp_path_factory):
    X, y = credit
    place = tmp_path_factory.mktemp("credit")
    for part in range(3):
        X.assign(bad=y)[part * 1500 : (part + 1) * 1500].to_parquet(place / f"{part}.parquet")
    return place


def made(*rows):
    return Scorecard(event="yes", encoder=WoEEncoder(per_column=RULES)).fit(*rows)


@pytest.fixture(scope="module")
def in_memory(credit):
    return made(*credit)


def test_a_scorecard_of_scanned_files(credit, folder, in_memory):
    X, y = credit
    rows = scan(folder, target="bad")
    card = made(rows)
    pd.testing.assert_frame_equal(card.points().to_pandas(), in_memory.points().to_pandas(), rtol=1e-9)
    np.testing.assert_array_equal(card.score_points(rows), in_memory.score_points(X))
    np.testing.assert_array_equal(card.score_points(X), in_memory.score_points(X))
    np.testing.assert_allclose(rows.pipeline(card).predict_proba(X), in_memory.predict_proba(X), rtol=1e-9)
    X = X[3000:].assign(region="nowhere")
    X.assign(bad=y[3000:]).to_parquet(folder.parent / "new.parquet")
    for new in (scan(folder.parent / "new.parquet", like=rows), scan(folder.parent / "new.parquet", target="bad")):
        np.testing.assert_array_equal(card.score_points(new), in_memory.score_points(X))
    strict = WoEEncoder(OptimalBinning(handle_unknown="error")).fit(rows)
    with pytest.raises(InvalidData, match="'region' holds a category"):
        strict.transform(new)
    with pytest.raises(InvalidParameter, match="column of texts"):
        WoEEncoder(per_column={"region": {"kind": "numeric"}}).fit(rows)


def test_an_encoder_and_one_column_of_scanned_files(credit, folder):
    X, y = credit
    rows = scan(folder, target="bad")
    encoder, expected = (WoEEncoder(per_column=RULES, max_correlation=0.2) for _ in range(2))
    np.testing.assert_allclose(encoder.fit(rows).transform(rows), expected.fit(X, y).transform(X), rtol=1e-12)
    assert encoder.reasons_ == expected.reasons_
    assert encoder.reasons_
    one = OptimalBinning().fit(scan(folder, target="bad", columns=["housing"]))
    assert one.bins_ == OptimalBinning().fit(X["housing"], y).bins_


def test_dask(credit, folder):
    dask = pytest.importorskip("dask")
    import dask.dataframe as dd

    X, y = credit
    some = ["income", "housing", "application_date", "older"]
    with dask.config.set(scheduler="synchronous"):
        frame = dd.from_pandas(X.assign(bad=y), npartitions=2)
        card, expected = (Scorecard(event="yes") for _ in range(2))
        found = card.fit(frame[some], frame["bad"]).points().to_pandas()
        pd.testing.assert_frame_equal(found, expected.fit(X[some], y).points().to_pandas(), rtol=1e-9)
        here, there = (WoEEncoder(per_column=RULES) for _ in range(2))
        here.fit(X, y)
        there.fit(scan(folder, target="bad", engine="dask"))
        for name, binning in here.binnings_.items():
            assert there.binnings_[name].bins_ == binning.bins_
            np.testing.assert_array_equal(there.binnings_[name].sums_, binning.sums_)
        assert OptimalBinning().fit(frame["housing"], frame["bad"]).bins_ == OptimalBinning().fit(X["housing"], y).bins_
