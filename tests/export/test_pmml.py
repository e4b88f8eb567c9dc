"""PMML: elements in the order of the published schema; an interpreter of the document predicts the same."""

import math
import operator
from datetime import date, datetime
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hiperplano import (
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Scorecard,
    WoEEncoder,
    to_pmml,
)
from hiperplano.errors import NotAvailable
from hiperplano.features.coding import Coding
from tests.export.samples import COLUMNS, LONG, encoded, hard_table, with_surprises

pytestmark = pytest.mark.filterwarnings("ignore:Found unknown categories:UserWarning")  # of scikit-learn

PREDICATE = ("SimplePredicate", "CompoundPredicate", "SimpleSetPredicate", "True", "False")
EXPRESSION = ("Constant", "FieldRef", "Apply")
ORDER = {  # of PMML 4.4's schema, as far as these documents go; alternatives stand in one tuple
    "PMML": [
        "Header",
        "MiningBuildTask",
        "DataDictionary",
        "TransformationDictionary",
        ("RegressionModel", "Scorecard"),
    ],
    "Header": ["Application", "Annotation", "Timestamp"],
    "DataDictionary": ["DataField", "Taxonomy"],
    "DataField": ["Interval", "Value"],
    "MiningSchema": ["MiningField"],
    "Output": ["OutputField"],
    "LocalTransformations": ["DerivedField"],
    "DerivedField": [EXPRESSION, "Interval", "Value"],
    "Apply": [EXPRESSION],
    "RegressionModel": [
        *("MiningSchema", "Output", "ModelStats", "ModelExplanation", "Targets", "LocalTransformations"),
        *("RegressionTable", "ModelVerification"),
    ],
    "RegressionTable": ["NumericPredictor", "CategoricalPredictor", "PredictorTerm"],
    "Scorecard": [
        *("MiningSchema", "Output", "ModelStats", "ModelExplanation", "Targets", "LocalTransformations"),
        *("Characteristics", "ModelVerification"),
    ],
    "Characteristics": ["Characteristic"],
    "Characteristic": ["Attribute"],
    "Attribute": [PREDICATE, "ComplexPartialScore"],
    "CompoundPredicate": [PREDICATE],
}
REQUIRED = {
    "PMML": ["version"],
    "DataField": ["name", "optype", "dataType"],
    "MiningField": ["name"],
    "OutputField": ["name", "dataType"],
    "DerivedField": ["optype", "dataType"],
    "Apply": ["function"],
    "RegressionModel": ["functionName"],
    "RegressionTable": ["intercept"],
    "NumericPredictor": ["name", "coefficient"],
    "Scorecard": ["functionName"],
    "CompoundPredicate": ["booleanOperator"],
    "SimplePredicate": ["field", "operator"],
}
FRAME, LABELS = hard_table()
TWO = np.where(LABELS == "no", "no", "yes")
NEW = with_surprises(FRAME)
NEW["when"] = NEW["when"].dt.floor("s")
INFINITE = np.isinf(NEW.select_dtypes("number")).any(axis=1)
PAIR = ["order", LONG]
MODELS = {
    "scorecard": lambda: Scorecard(event="no").fit(FRAME, TWO),
    "special": lambda: Scorecard(
        round_points=False,
        intercept_points="separate",
        encoder=WoEEncoder(per_column={"age": {"special_codes": {"none": [-1], "many": 999}}}),
    ).fit(FRAME, TWO),
    "coding": lambda: make_pipeline(Coding(COLUMNS), StandardScaler(), LogisticRegression()).fit(FRAME, TWO),
    "three": lambda: make_pipeline(Coding(COLUMNS), LogisticRegression()).fit(FRAME, LABELS),
    "encoders": lambda: encoded().fit(FRAME, LABELS),
    "woe": lambda: make_pipeline(WoEEncoder(), LogisticRegression()).fit(FRAME.drop(columns="when"), TWO),
    "numbers": lambda: LinearDiscriminantAnalysis().fit(FRAME[PAIR], (TWO == "no").astype(int)),
    "projected": lambda: make_pipeline(StandardScaler(), PCA(1), LinearRegression()).fit(FRAME[PAIR], FRAME["order"]),
}


@pytest.fixture(scope="module", params=MODELS)
def exported(request):
    model = MODELS[request.param]()
    return model, ElementTree.fromstring(to_pmml(model))


def name(element):
    return element.tag.partition("}")[2]


def test_elements_stand_in_the_order_of_the_schema(exported):
    for element in exported[1].iter():
        places = {
            each: place for place, kind in enumerate(ORDER.get(name(element), [])) for each in np.atleast_1d(kind)
        }
        found = [places[name(child)] for child in element]  # a KeyError is a child that may not be there
        assert found == sorted(found), name(element)
        assert set(REQUIRED.get(name(element), [])) <= set(element.keys())
        assert element.tag.startswith("{http://www.dmg.org/PMML-4_4}")


def test_an_interpreter_of_the_document_predicts_the_same(exported):
    model, root = exported
    first = model[0] if hasattr(model, "steps") else model
    bears_infinity = isinstance(first, Scorecard | WoEEncoder)
    table = NEW.loc[~INFINITE | bears_infinity, list(first.feature_names_in_)]
    if table.columns.tolist() == PAIR:
        table = table.dropna()
    found = [Interpreter(root, row).result() for row in table.to_dict("records")]
    if isinstance(model, Scorecard):
        np.testing.assert_allclose(found, model.score_points(table), rtol=1e-12)
    elif hasattr(model, "predict_proba"):
        labels = [str(label) for label in model.classes_.tolist()]
        shares = np.array([[row[label] for label in labels] for row in found])
        np.testing.assert_allclose(shares, model.predict_proba(table), rtol=1e-11)
    else:
        np.testing.assert_allclose(found, model.predict(table), rtol=1e-12)


def test_an_infinite_number_has_no_result_where_the_model_refuses_it():
    model = LogisticRegression().fit(FRAME[PAIR], TWO)
    root = ElementTree.fromstring(to_pmml(model))
    rows = NEW.loc[INFINITE, PAIR].assign(order=[np.inf, -np.inf])
    assert [Interpreter(root, row).result() for row in rows.to_dict("records")] == [None, None]


def test_what_has_no_such_form_is_refused(tmp_path):
    rows = FRAME[PAIR].to_numpy()
    with pytest.raises(NotAvailable, match="LinearSVC"):
        to_pmml(LinearSVC().fit(rows, TWO), path=tmp_path / "model.pmml")
    with pytest.raises(NotAvailable, match="LinearRegression"):
        to_pmml(LinearRegression().fit(rows, rows))
    with pytest.raises(NotAvailable, match=r"'a\\x01' holds a character that XML"):
        to_pmml(
            make_pipeline(WoEEncoder(), LogisticRegression()).fit(FRAME[["size"]].replace("small", "a\x01"), TWO),
            path=tmp_path / "model.pmml",
        )
    assert not list(tmp_path.iterdir())


class Interpreter:
    """PMML's rules, as far as these documents need them; None is a missing value."""

    COMPARE = {  # noqa: RUF012
        "equal": operator.eq,
        "notEqual": operator.ne,
        "lessThan": operator.lt,
        "greaterOrEqual": operator.ge,
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
    }

    def __init__(self, root, row):
        self.root, self.types, self.values, self.valid = root, {}, {}, True
        for field in self.all("DataField"):
            kind = self.types[field.get("name")] = field.get("dataType")
            value = self.values[field.get("name")] = self.cell(row.get(field.get("name")), kind)
            for interval in (each for each in field if name(each) == "Interval" and value is not None):
                self.valid &= float(interval.get("leftMargin")) <= value <= float(interval.get("rightMargin"))
        for field in self.all("DerivedField"):
            self.values[field.get("name")] = self.value(field[0])

    def all(self, kind):
        return [element for element in self.root.iter() if name(element) == kind]

    @staticmethod
    def cell(value, kind):
        if value is None or value != value:
            return None
        if kind == "string" and isinstance(value, bool):
            return "true" if value else "false"
        if kind == "string":
            return str(int(value)) if isinstance(value, float) else str(value)
        return value.to_pydatetime() if kind == "dateTime" else float(value)

    @staticmethod
    def parsed(text, kind):
        return {"string": str, "double": float, "integer": int, "dateTime": datetime.fromisoformat}[kind](text)

    def value(self, element):
        if name(element) == "FieldRef":
            return self.values[element.get("field")]
        if name(element) == "Constant":
            missing = element.get("missing") == "true"
            return None if missing else self.parsed(element.text or "", element.get("dataType"))
        function = element.get("function")
        if function == "if":
            chosen = [*list(element), None][1 if self.value(element[0]) else 2]
            return None if chosen is None else self.value(chosen)
        arguments = [self.value(child) for child in element]
        if function == "isMissing":
            return arguments[0] is None
        if function == "or":
            return any(arguments)
        if function == "dateDaysSinceYear" and arguments[0] is not None:
            return (arguments[0].date() - date(arguments[1], 1, 1)).days
        if function == "dateSecondsSinceMidnight" and arguments[0] is not None:
            return (arguments[0].hour * 60 + arguments[0].minute) * 60 + arguments[0].second
        return None if None in arguments else self.COMPARE[function](*arguments)

    def holds(self, predicate):
        if name(predicate) == "True":
            return True
        if name(predicate) == "CompoundPredicate":
            parts = [self.holds(each) for each in predicate]
            return {"or": any, "and": all}[predicate.get("booleanOperator")](parts)
        field, test = predicate.get("field"), predicate.get("operator")
        value = self.values[field]
        if test in ("isMissing", "isNotMissing"):
            return (value is None) == (test == "isMissing")
        return value is not None and self.COMPARE[test](value, self.parsed(predicate.get("value"), self.types[field]))

    def result(self):
        model = self.root[-1]
        if not self.valid:
            return None
        if name(model) == "Scorecard":
            points = float(model.get("initialScore"))
            for part in self.all("Characteristic"):
                points += next(float(each.get("partialScore")) for each in part if self.holds(each[0]))
            return points
        tables = self.all("RegressionTable")
        scores = [
            float(table.get("intercept"))
            + math.fsum(float(each.get("coefficient")) * self.values[each.get("name")] for each in table)
            for table in tables
        ]
        labels = [table.get("targetCategory") for table in tables]
        if model.get("normalizationMethod") == "none":
            return scores[0]
        if model.get("normalizationMethod") == "logit":
            share = 1 / (1 + math.exp(-scores[0]))
            return dict(zip(labels, [share, 1 - share], strict=True))
        largest = max(scores)
        whole = math.fsum(math.exp(score - largest) for score in scores)
        return {label: math.exp(score - largest) / whole for label, score in zip(labels, scores, strict=True)}
