"""Tables with difficult cells and names, coded by the command or by scikit-learn, in every engine."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from hiperplano import LinearRegression, LogisticRegression, SGDClassifier, verify_sql
from hiperplano.features.coding import Coding
from hiperplano.features.columns import Column
from tests.export.engines import onnx_predictions
from tests.export.samples import coded, encoded, hard_numbers, hard_table, with_surprises

pytestmark = pytest.mark.filterwarnings("ignore:Found unknown categories:UserWarning")  # of scikit-learn

FRAME, LABELS = hard_table()
NEW = with_surprises(FRAME)
TWO = LABELS == "no"


@pytest.fixture(scope="module", params=["two, scaled", "three", "number", "encoders, two", "encoders, three"])
def model(request):
    if request.param.startswith("encoders"):
        return encoded().fit(FRAME, TWO if request.param.endswith("two") else LABELS)
    if request.param == "number":
        return coded(LinearRegression(), scaled=False).fit(FRAME, FRAME["order"].to_numpy() * 2)
    return coded(scaled=request.param != "three").fit(FRAME, LABELS if request.param == "three" else TWO)


def test_duckdb_and_sqlite(model):
    check = verify_sql(model, NEW, tolerance=1e-12)
    assert check, check
    assert check.n_refused >= 1


def test_onnxruntime(model):
    expected, found = onnx_predictions(model, NEW)
    assert expected.compare(found, 1e-12)[1] == []


def test_postgres(model, postgres):
    expected, found = postgres.predictions(model, NEW)
    assert expected.compare(found, 1e-12)[1] == []


@pytest.mark.parametrize("y", [TWO, LABELS], ids=["two", "three"])
@pytest.mark.parametrize("kind", [LogisticRegression(), SGDClassifier("log_loss", random_state=0)], ids=str)
def test_numbers_in_postgres(postgres, kind, y):
    rows = np.random.default_rng(0).normal(size=(len(y), 4)) + TWO[:, None]
    hard = hard_numbers(rows)
    hard[7] = 1.0  # PostgreSQL has an error, not 0, for a product of 1e-300 and less
    hard[9:12] = np.outer([1.0, 740.0, -1e4], [5.0, 1.0, 1.0, 1.0])
    expected, found = postgres.predictions(kind.fit(rows, y), hard)
    assert expected.compare(found, 1e-12)[1] == []


CODED = [
    Column("word", "nominal", codes=("?",)),
    Column("number", "nominal", codes=(-9.0,)),
    Column("order", "ordered", order=("low", "high", "?"), codes=("?",)),
    Column("boolean", "nominal"),
    Column("text", "nominal"),
]


@pytest.fixture(scope="module")
def with_codes():
    """A model of columns with codes and booleans, and other rows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "word": rng.choice(["a", "b", "?", "rare", "odd"], 1000, p=[0.5, 0.3, 0.18, 0.01, 0.01]),
            "number": rng.choice([1.0, 2.0, -9.0, 7.0, 8.0], 1000, p=[0.5, 0.3, 0.18, 0.01, 0.01]),
            "order": rng.choice(["low", "high", "?"], 1000),
            "boolean": rng.choice(np.array([np.True_, np.False_, None], dtype=object), 1000),
            "text": rng.choice(["True", "no", "maybe"], 1000),
        }
    )
    missing = (frame["word"] == "?") * 1.0 + (frame["number"] == -9) + (frame["boolean"] == True)  # noqa: E712
    model = make_pipeline(Coding(CODED), LogisticRegression()).fit(frame, missing + rng.random(1000) > 1)
    assert {"…", "true"} <= {label for coder in model[0].coders_ for label in getattr(coder, "kept", ())}
    return model, frame.assign(text=rng.choice(["True", "true", "TRUE", "1", "no"], 1000))


@pytest.mark.parametrize("engine", ["duckdb and sqlite", "onnxruntime", "postgres"])
def test_codes_are_no_rare_categories_and_texts_no_booleans(engine, with_codes, request):
    model, new = with_codes
    if engine == "duckdb and sqlite":
        check = verify_sql(model, new, tolerance=1e-12)
        assert check, check
    else:
        predictions = onnx_predictions if engine == "onnxruntime" else request.getfixturevalue("postgres").predictions
        expected, found = predictions(model, new)
        assert expected.compare(found, 1e-12)[1] == []
