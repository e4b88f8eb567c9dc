"""A credit table and scorecards of it, fitted once."""

import pytest

from hiperplano import Scorecard, WoEEncoder, load_credit_default

SPECIAL = {
    "late_payments": {"special_codes": [-1]},
    "years_in_job": {"special_codes": {"not asked": 999}},
    "housing": {"cuts": [["owns"], ["rents", "family"]]},
}


@pytest.fixture(scope="session")
def credit():
    X, y = load_credit_default(return_X_y=True)
    return X.drop(columns=["client_id"]), y


@pytest.fixture(scope="session")
def applicants(credit):
    X, y = credit
    return X.drop(columns=["application_date"]), y


@pytest.fixture(scope="session")
def card(applicants):
    """Fitted to the first 3,000 applicants."""
    X, y = applicants
    return Scorecard(event="yes", encoder=WoEEncoder(per_column=SPECIAL)).fit(X[:3000], y[:3000])


@pytest.fixture(scope="session")
def chosen(applicants):
    """The same, with variables chosen step by step and points that follow the WoE."""
    X, y = applicants
    encoder = WoEEncoder(per_column=SPECIAL)
    made = Scorecard(
        event="yes",
        encoder=encoder,
        selection="stepwise",
        criterion="bic",
        positive=True,
        intercept_points="separate",
        round_points=False,
    )
    return made.fit(X[:3000], y[:3000])
