"""Tables with difficult cells and names, coded by the command or by scikit-learn, in every engine."""

import numpy as np
import pytest

from hiperplano import LinearRegression, LogisticRegression, SGDClassifier, verify_sql
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
