"""Any table, any cells: DuckDB, SQLite and onnxruntime say what the model says."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hiperplano import LogisticRegression, Scorecard, WoEEncoder, verify_sql
from tests.export.engines import onnx_predictions
from tests.export.samples import coded, hard_table

FRAME, LABELS = hard_table(200)
MODELS = {
    "two": (coded(scaled=False), LABELS == "no"),
    "three": (coded(LogisticRegression(C=10.0)), LABELS),
    "scorecard": (Scorecard(encoder=WoEEncoder(per_column={"age": {"special_codes": [-1, 999]}})), LABELS == "no"),
}
NUMBERS = st.one_of(
    st.floats(-1e6, 1e6), st.sampled_from([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-300, 5e-324, -1.0, 999.0, 1e15])
)
TEXTS = st.one_of(
    st.sampled_from([*FRAME["text]`"].dropna().unique()]), st.none(), st.text(min_size=1, max_size=5), st.just("car\t")
).filter(lambda text: text is None or "\0" not in text)
DATES = st.one_of(
    st.none(),
    st.datetimes(pd.Timestamp("1800-01-01"), pd.Timestamp("2200-01-01")).map(lambda t: t.replace(microsecond=0)),
)
CELLS = {
    "order": NUMBERS,
    'in"come é': NUMBERS,
    "text]`": TEXTS,
    "when": DATES,
    "size": st.sampled_from(["small", "medium", "large", "huge", " small", None]),
    "code": st.sampled_from([1.0, 2.0, 30.0, -0.0, 7.0, np.nan]),
    "flag": st.booleans(),
    FRAME.columns[7]: NUMBERS,
    "age": st.sampled_from([-1.0, 999.0, 20.5, 30.0, np.nan, 1e9]),
}


@cache
def fitted(name):
    model, labels = MODELS[name]
    return model.fit(FRAME, labels)


@pytest.mark.parametrize("name", MODELS)
@settings(
    max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, phases=[Phase.generate]
)
@given(rows=st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=25))
def test_any_cells(name, rows):
    table = pd.DataFrame(rows).astype({"when": "datetime64[us]", "text]`": object, "size": object})[list(FRAME.columns)]
    check = verify_sql(fitted(name), table, tolerance=1e-10)
    assert check, check
    expected, found = onnx_predictions(fitted(name), table)
    assert expected.compare(found, 1e-10)[1] == []
