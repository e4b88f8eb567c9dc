"""Scorecards and weights of evidence out of Python: SQL, ONNX, JSON, Excel."""

import json

import numpy as np
import openpyxl
import pytest
from sklearn.pipeline import make_pipeline

from hiperplano import (
    LogisticRegression,
    Scorecard,
    WoEEncoder,
    from_json,
    load_credit_default,
    to_excel,
    to_json,
    to_sql,
    verify_sql,
)
from hiperplano.errors import InvalidFile, NotAvailable, SingularWarning
from tests.export.engines import onnx_predictions
from tests.export.samples import hard_table, with_surprises

FRAME, LABELS = hard_table(400)
TWO = np.where(LABELS == "no", "no", "yes")
NEW = with_surprises(FRAME)
SPECIAL = {"age": {"special_codes": {"none": [-1], "many": 999}}}


@pytest.fixture(scope="module")
def rounded():
    return Scorecard(event="no", selection="forward").fit(FRAME, TWO)


@pytest.fixture(scope="module")
def exact():
    encoder = WoEEncoder(per_column=SPECIAL)
    return Scorecard(round_points=False, intercept_points="separate", encoder=encoder).fit(FRAME, LABELS == "no")


@pytest.fixture(scope="module", params=["rounded", "exact", "strict", "alike", "encoder, two", "encoder, three"])
def model(request, rounded, exact):
    if request.param == "alike":  # no variable is chosen: everybody has one score
        with pytest.warns(SingularWarning):
            return Scorecard(selection="forward", criterion="p_value", p_enter=0.0, encoder=WoEEncoder()).fit(
                FRAME, TWO
            )
    if request.param == "strict":
        strict = WoEEncoder(per_column={"text]`": {"handle_unknown": "error"}})
        return Scorecard(encoder=strict).fit(FRAME, TWO)
    if request.param.startswith("encoder"):
        labels = TWO if request.param.endswith("two") else LABELS
        return make_pipeline(WoEEncoder(per_column=SPECIAL), LogisticRegression()).fit(FRAME, labels)
    return rounded if request.param == "rounded" else exact


def test_duckdb_and_sqlite(model):
    check = verify_sql(model, NEW, tolerance=1e-12)
    assert check, check
    strict = isinstance(model, Scorecard) and "text]`" in (getattr(model.encoder, "per_column", None) or ())
    assert check.n_refused == int(strict)  # the category that was never seen


def test_onnxruntime(model):
    expected, found = onnx_predictions(model, NEW)
    assert expected.compare(found, 1e-12)[1] == []


def test_postgres(model, postgres):
    expected, found = postgres.predictions(model, NEW)
    assert expected.compare(found, 1e-12)[1] == []


def test_an_array_of_numbers_with_cut_offs_at_its_values():
    """A value at a cut-off belongs to the upper bin, whatever digits it takes to write it."""
    rng = np.random.default_rng(0)
    values = np.array([0.1 + 0.2, 1 / 3, 2 / 3, 1e-17, 123456.78901234567])
    rows = rng.choice(values, size=(500, 2))
    y = rng.random(500) < 0.2 + 0.3 * (rows[:, 0] > 0.5)
    cuts = {name: {"cuts": sorted(values)[1:]} for name in ("x0", "x1")}
    card = Scorecard(encoder=WoEEncoder(per_column=cuts)).fit(rows, y)
    around = np.column_stack([np.nextafter(rows[:, 0], -np.inf), np.nextafter(rows[:, 1], np.inf)])
    for each in (rows, around):
        assert verify_sql(card, each, tolerance=1e-12)


@pytest.mark.parametrize("name", ["rounded", "exact"])
def test_a_document_gives_the_same_scorecard_to_the_bit(name, request, tmp_path):
    card = request.getfixturevalue(name)
    text = to_json(card, path=tmp_path / "card.json")
    assert (tmp_path / "card.json").read_text(encoding="utf-8") == text
    again = from_json(tmp_path / "card.json")
    for method in ("predict", "predict_proba", "decision_function", "score_points", "bin_codes"):
        np.testing.assert_array_equal(getattr(again, method)(NEW), getattr(card, method)(NEW))
    assert str(again.points()) == str(card.points())
    assert again.encoder_.information_values() == card.encoder_.information_values()
    assert to_json(again) == text
    assert to_sql(again, "t") == to_sql(card, "t")
    with pytest.raises(NotAvailable, match="no standard errors"):
        again.summary()


def test_a_document_has_a_line_for_each_bin(rounded):
    text = to_json(rounded)
    content = json.loads(text)
    for variable, points in zip(content["variables"], rounded.variable_points(), strict=True):
        assert [line["points"] for line in variable["bins"]] == points.points.tolist()
        for line in variable["bins"]:
            assert json.dumps(line, ensure_ascii=False) in text  # the whole bin on one line
    assert list(content)[:4] == ["format", "version", "classes", "event"]


def test_changed_or_foreign_documents_are_refused(rounded):
    content = json.loads(to_json(rounded))
    content["variables"][0]["bins"][0]["points"] += 5
    with pytest.raises(InvalidFile, match="follows from its counts"):
        from_json(json.dumps(content))
    for text in ('{"format": "else"}', "{broken", '{"format": "hiperplano scorecard", "version": 1}'):
        with pytest.raises(InvalidFile):
            from_json(text)
    with pytest.raises(InvalidFile, match="no such file"):
        from_json("nowhere.json")


def test_only_scorecards_have_documents_and_points(tmp_path):
    model = LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    with pytest.raises(NotAvailable, match="LogisticRegression"):
        to_json(model)
    with pytest.raises(NotAvailable, match="LogisticRegression"):
        to_excel(model, tmp_path / "card.xlsx")
    assert not list(tmp_path.iterdir())


def test_the_workbook_holds_the_points_and_no_formula(tmp_path):
    X, y = load_credit_default(n_rows=600, return_X_y=True)
    rows = X[["age", "housing"]].assign(**{"=1+1": np.where(np.arange(600) % 3, "=cmd|' /C calc'!A0", "+2\x01")})
    card = Scorecard(event="yes", intercept_points="separate").fit(rows, y)
    to_excel(card, tmp_path / "card.xlsx")
    book = openpyxl.load_workbook(tmp_path / "card.xlsx")
    points = [[cell.value for cell in row] for row in book.worksheets[0].iter_rows(min_row=2)]
    expected = [card.base_points_, *(value for each in card.variable_points() for value in each.points)]
    assert [row[-1] for row in points] == expected
    types = {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row}
    assert "f" not in types
    assert any("=cmd" in str(row[1]) for row in points)
    categories = [[cell.value for cell in row] for row in book.worksheets[1].iter_rows(min_row=2)]
    housing = {category: own for name, category, own in categories if name == "housing"}
    assert set(housing) == set(rows["housing"].dropna())
    alike = rows.iloc[[0] * len(housing)].assign(housing=list(housing))  # but for their housing
    assert np.ptp(card.score_points(alike) - list(housing.values())) == 0
    facts = {row[0].value: row[1].value for row in book.worksheets[-1].iter_rows(min_row=2)}
    assert facts["points that double the odds"] == 20
    assert facts["event"] == "yes"
