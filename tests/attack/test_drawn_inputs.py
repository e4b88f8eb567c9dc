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


def test_a_plain_case_is_right():
    assert Case("LogisticRegression").run().kind == RIGHT
