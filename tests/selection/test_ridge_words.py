"""What RidgeCV says of its choice, and of parameters it cannot use."""

import numpy as np
import pytest

from hiperplano import RidgeCV
from hiperplano.errors import InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 20))
y = X[:, 0] + RNG.normal(size=60)  # the best penalty is near 10


@pytest.mark.parametrize(
    ("alphas", "said"),
    [
        ([0.01, 0.1], "The best penalty, 0.1, is the largest of those tried"),
        ([1e3, 1e2], "The best penalty, 100, is the smallest of those tried"),
        ([0.1, 10, 1e3], None),
        ([10], None),
    ],
)
def test_a_choice_at_the_border_is_told(alphas, said):
    status = RidgeCV(alphas=alphas).fit(X, y).solution_.status
    assert (said in status) if said else ("those tried" not in status)


def test_no_penalty_at_all_is_no_border():
    exact = X @ np.ones(20)
    assert "those tried" not in RidgeCV(alphas=[0.0, 1.0]).fit(X, exact).solution_.status


@pytest.mark.parametrize("cv", [1, 61, "five", 2.5])
def test_folds_that_cannot_be_made(cv):
    with pytest.raises(InvalidParameter, match=r"RidgeCV: cv=.* 60 rows .* Set one of them"):
        RidgeCV(cv=cv).fit(X, y)


@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("scoring", ["nonsense", 3])
def test_scores_that_are_not_known(scoring, cv):
    with pytest.raises(InvalidParameter, match=r"scoring=.*get_scorer_names"):
        RidgeCV(scoring=scoring, cv=cv).fit(X, y)
