"""Numbers from elsewhere: NIST's reference sets and R's output, with the data they belong to."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_HERE = Path(__file__).parent


@cache
def _read(name):
    return json.loads((_HERE / name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class NistSet:
    """One of NIST's StRD sets for linear regression.

    Attributes
    ----------
    x : ndarray of shape (n, d)
        Powers of the predictor where the model is a polynomial; without a column of ones.
    certified : dict
        coef, se (intercept first), residual_sd, r2 with NIST's 15 digits.
    exact : dict
        The same with 25 digits, as text.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    intercept: bool
    certified: dict[str, Any]
    exact: dict[str, Any]


NIST_NAMES = tuple(_read("nist_strd.json")["sets"])


def nist(name):
    found = _read("nist_strd.json")["sets"][name]
    x = np.array(found["x"], dtype=float)
    x = np.column_stack([x**power for power in range(1, found["degree"] + 1)]) if found["degree"] else x
    return NistSet(name, x, np.array(found["y"]), found["intercept"], found["certified"], found["exact"])


@dataclass(frozen=True)
class RModel:
    """A table and what R says of a model of it; `said` has the names of R (coef, se, hat, cooks, hc, vif, …)."""

    columns: list[str]
    x: np.ndarray
    y: np.ndarray
    said: dict[str, Any]


def r_lm(name):
    """`longley` or `mtcars`."""
    found = _read("r_lm.json")[name]
    data = found["data"]
    return RModel(data["columns"], np.array(data["x"]), np.array(data["y"]), found)


def r_ridge():
    """MASS::lm.ridge on longley: lambda, coef_scaled, coef_orig (intercept first), scales, GCV."""
    return _read("r_lm.json")["longley_ridge"]


def r_glm(name):
    """`glm_mtcars`, `glm_birthwt`, `multinom_birthwt`, `firth_endometrial` or `firth_separated_2d`."""
    found = _read("r_glm.json")[name]
    return RModel(found["columns"], np.array(found["x"], dtype=float), np.array(found["y"]), found)


def logistf(name):
    """`sex2` (with `count` in `said`) or `endometrial`: Firth's estimates and the ends of their profile intervals."""
    found = _read("logistf.json")[name]
    data = found if name == "sex2" else _read("r_glm.json")["firth_endometrial"]
    return RModel(data["columns"], np.array(data["x"], dtype=float), np.array(data["y"]), found)
