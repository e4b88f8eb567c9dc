"""Drawn inputs: every case ends in a right and finite answer or in one error of ours."""

import warnings

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tools.attack.case import FAILURES, RIGHT, Case, options
from tools.attack.models import MODELS
from tools.attack.references import Sample


@st.composite
def cases(draw):
    """A case whose fields are ordinary or one of all that there are; hypothesis shrinks towards the ordinary."""
    model = draw(st.sampled_from(tuple(MODELS)))
    odd = {name: st.sampled_from(values) for name, values in options(model).items()}
    plain = {field: getattr(Case(model), field) for field in odd}
    chosen = {
        name: draw(values if name in ("shape", "classes") else st.one_of(st.just(plain[name]), values))
        for name, values in odd.items()
    }
    return Case(model, draw(st.integers(0, 2**20)), **chosen)


@settings(max_examples=500)
@given(case=cases())
def test_the_answer_is_right_or_refused(case):
    outcome = case.run()
    note(f"{case}\n{outcome.words}")
    assert outcome.kind not in FAILURES


JUDGED = {name: attacked for name, attacked in MODELS.items() if attacked.judge is not None}


@pytest.mark.parametrize("name", JUDGED)
def test_the_judge_of_a_model_knows_right_from_wrong(name):
    """A judge that cannot fail would prove nothing: coefficients that are off in the fourth digit are found."""
    attacked = JUDGED[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    score = X @ [1.0, 2.0, 0.5] + rng.normal(size=40)
    y = (score > 0).astype(int) if attacked.classifier else score
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = attacked.make().fit(X, y)
    assert attacked.judge(model, Sample(X, y, np.ones(40), X)) == ""
    if hasattr(model, "support_vectors_"):
        model._weights_ = 1.1 * model._weights_  # what scores and coefficients come from
    elif hasattr(model, "dual_coef_"):
        model.dual_coef_ = model.dual_coef_ * 1.001
    elif hasattr(model, "means_"):
        X = np.vstack([X[:1] + 1e-3, X[1:]])  # what is fitted is not in `coef_`: other rows, the same model
    else:
        # Support vector machines are judged by their objective, which is flat about its minimum.
        model.coef_ = model.coef_ * (1.1 if "SV" in name else 1.001)
    assert attacked.judge(model, Sample(X, y, np.ones(40), X)) != ""


@pytest.mark.parametrize("pair", range(3))
def test_the_judge_of_pairs_of_classes_knows_right_from_wrong(pair):
    attacked = MODELS["SVC linear"]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.digitize(X @ [1.0, 2.0, 0.5] + rng.normal(size=60), [-1.0, 1.0])
    model = attacked.make().fit(X, y)
    assert attacked.judge(model, Sample(X, y, np.ones(60), X)) == ""
    model._weights_ = model._weights_ * np.where(np.arange(3) == pair, 1.1, 1.0)
    assert attacked.judge(model, Sample(X, y, np.ones(60), X)) != ""


_EVERY = {"classes": 3, "weight": "of every size"}
MENDED = [
    Case("LogisticRegression", 2000502446, (30, 45), dtype="uint8", container="frame", **_EVERY),  # took 15 s
    Case("LinearSVC of Crammer and Singer", 1655097583, (24, 2), 3, "large outlier"),
    Case("KernelRidgeCV", 1571121617, (12, 1), 3, "large outlier", target="large"),
    Case(
        "LinearRegression positive", 314338115, (4, 6), 3, "normal", dtype="bool", target="numbers", weight="all small"
    ),
    Case("SGDRegressor", 565720187, (12, 3), 3, "huge", dtype="float16", target="numbers"),
    Case("LinearSVC", 960824814, (24, 2), values="large outlier", weight="all large"),
    Case("LogisticRegression of Firth", 1436561085, (12, 3), values="whole", weight="a million at one row"),
    Case("LogisticRegressionCV", 400023363, (40, 8), values="far", container="explicit zeros"),  # took 16 s
    Case("OneClassSVM", 24073442, (2, 2), container="nothing"),
    Case("PassiveAggressiveClassifier", 389073239, (12, 1), values="huge cell"),
    Case("Perceptron averaged", 1780251893, (40, 4), 3, "any units", weight="no weight for a class"),
    Case("RidgeClassifier", 868082644, (24, 2), container="three dimensions", target="two columns"),
    Case("RidgeClassifier", 872541680, (40, 8), 3, target="two columns"),
    Case("SVC", 1884090915, (12, 1), values="rounding", dtype="<f4", container="coo_array", weight="of every size"),
    Case("SVC with probabilities", 1610244006, (4, 6), weight="of every size"),
    Case("SVC linear", 1230057448, (40, 4), 3, target="small floats"),
    Case("SVC linear", 1525712837, (30, 45), values="units"),
    Case("SVC linear", 0, (3, 1), target="one rare class"),  # a third class: one plane for each pair
]


@pytest.mark.parametrize("case", MENDED, ids=str)
def test_what_long_runs_found_stays_mended(case):
    assert case.run().kind not in FAILURES


def test_a_plain_case_is_right():
    assert Case("LogisticRegression").run().kind == RIGHT
