"""The credit table of the command `hiperplano demo`: which applicants defaulted."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.utils import Bunch

from hiperplano.datasets.frames import pandas

NAMES = [
    "client_id",
    "application_date",
    "age",
    "income",
    "debt",
    "years_in_job",
    "education",
    "housing",
    "purpose",
    "region",
    "late_payments",
]
_SHARE = 0.08
_HOUSING = {"rents": 0.45, "owns": 0.4, "family": 0.15}
_PURPOSE = {"car": 0.3, "home": 0.2, "studies": 0.12, "business": 0.18, "debts": 0.15, "travel": 0.05}
_REGION = {"north": 0.2, "south": 0.15, "east": 0.25, "west": 0.15, "capital": 0.25}
_EDUCATION = {"primary": 0.25, "secondary": 0.45, "university": 0.3}
_EFFECT = {
    "owns": -0.5,
    "family": -0.1,
    "business": 0.5,
    "debts": 0.7,
    "studies": -0.2,
    "university": -0.4,
    "primary": 0.3,
}


def load_credit_default(*, n_rows: int = 4000, return_X_y: bool = False, seed: int = 0) -> Any:
    """Generated loans, 8% of them in default, in a table with the defects of real ones.

    The log-odds of default grow with the ratio of debt to income (2.5 for debts as large as a year's income) and with
    late payments (0.6 each), and fall with age (0.02 a year) and years in the job (0.07 each); housing, purpose and
    education shift them; region does not enter.

    The defects: income is missing in 6% of the rows and more often among those who default, education in 4%, housing in
    2%; years_in_job holds 999 if it was not asked for (5%), late_payments −1 for clients without a history (7%).

    Parameters
    ----------
    n_rows : int, default=4000
        Number of rows to generate.
    return_X_y : bool, default=False
        Return `(data, target)` instead of a Bunch.
    seed : int, default=0
        Seed of the generator; the same seed gives the same table.

    Returns
    -------
    Bunch with `data` and `frame` (pandas), `target`, `feature_names` and `DESCR`, or (data, target)
        The target is "yes" for a default and "no" otherwise.

    Examples
    --------
    >>> from hiperplano import load_credit_default
    >>> X, y = load_credit_default(return_X_y=True)
    >>> X.shape, round(float((y == "yes").mean()), 2)
    ((4000, 11), 0.08)
    """
    pd = pandas()
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 71, n_rows)
    years = np.minimum(np.floor(rng.exponential(6.0, n_rows)), age - 18).astype(int)
    income = np.round(rng.lognormal(10.3, 0.45, n_rows), -2)
    debt = np.round(income * rng.gamma(1.6, 0.25, n_rows), -1)
    late = rng.poisson(0.5, n_rows)
    groups = {
        name: rng.choice(list(shares), n_rows, p=list(shares.values()))
        for name, shares in {
            "education": _EDUCATION,
            "housing": _HOUSING,
            "purpose": _PURPOSE,
            "region": _REGION,
        }.items()
    }
    log_odds = 2.5 * debt / income + 0.6 * late - 0.02 * age - 0.07 * years
    for chosen in groups.values():
        log_odds = log_odds + np.array([_EFFECT.get(word, 0.0) for word in chosen.tolist()])
    defaults = rng.random(n_rows) < expit(log_odds + _intercept(log_odds))
    days = rng.integers(0, 730, n_rows)
    frame = pd.DataFrame(
        {
            "client_id": 100_000 + rng.permutation(n_rows),
            "application_date": np.datetime64("2023-01-01") + days.astype("timedelta64[D]"),
            "age": age,
            "income": np.where(rng.random(n_rows) < np.where(defaults, 0.12, 0.055), np.nan, income),
            "debt": debt,
            "years_in_job": np.where(rng.random(n_rows) < 0.05, 999, years),
            "education": _without(groups["education"], rng.random(n_rows) < 0.04),
            "housing": _without(groups["housing"], rng.random(n_rows) < 0.02),
            "purpose": groups["purpose"].astype(object),
            "region": groups["region"].astype(object),
            "late_payments": np.where(rng.random(n_rows) < 0.07, -1, late),
            "default": np.where(defaults, "yes", "no").astype(object),
        }
    )
    data, target = frame[NAMES], frame["default"]
    if return_X_y:
        return data, target
    return Bunch(data=data, target=target, frame=frame, feature_names=list(NAMES), DESCR=load_credit_default.__doc__)


def _intercept(log_odds: Any) -> float:
    """The shift at which the probabilities average to the share of defaults."""
    return float(brentq(lambda shift: float(np.mean(expit(log_odds + shift))) - _SHARE, -30.0, 30.0))


def _without(words: Any, missing: Any) -> Any:
    return np.where(missing, None, words.astype(object))
