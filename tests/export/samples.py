"""Tables that exports must survive: all that SQL and floats make difficult."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from hiperplano import LogisticRegression
from hiperplano.features.coding import Coding
from hiperplano.features.columns import Column

LONG = "a very long name of a column " + "x" * 70
WORDS = ["car", "it's", 'niño "é"', "a\\b", " car", "car ", "CAR", "select", "*/ --", "naïve\nline", "😀", "NULL", "%_"]


def hard_numbers(rows):
    """The same rows, some replaced by what models refuse, and by what they must bear."""
    rows = rows.copy()
    rows[0, 0], rows[1, 1], rows[2, 2] = np.nan, np.inf, -np.inf
    rows[3], rows[4] = 0.0, -0.0
    rows[5:9] *= [[1e6], [-1e6], [1e-300], [1e3]]
    return rows


def hard_table(n=300, seed=0):
    """A table of all kinds of columns under difficult names, and a target of three labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "order": rng.normal(size=n),
            'in"come é': np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(10, 2, n)),
            "text]`": rng.choice(WORDS, n),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(-(10**9), 10**9, n), unit="s"),
            "size": rng.choice(["small", "medium", "large"], n),
            "code": rng.choice([1.0, 2.0, 30.0, np.nan], n),
            "flag": rng.random(n) < 0.5,
            LONG: rng.normal(size=n),
            "age": rng.choice([-1.0, 20.5, 30.0, 999.0], n),
        }
    )
    frame.loc[20:40, "when"] = pd.NaT
    frame.loc[30:60, "text]`"] = None
    score = frame["order"] + (frame["text]`"] == "car") + frame["flag"] + rng.normal(size=n)
    return frame, np.array(["no", "sí", "it's"])[np.digitize(score, [0.0, 1.0])]


def with_surprises(frame):
    """Cells that the fit did not see."""
    frame = frame.copy()
    frame.loc[0, "order"] = np.inf
    frame.loc[1, "order"] = np.nan
    frame.loc[2, "text]`"] = "never seen"
    frame.loc[3, "size"] = "huge"
    frame.loc[4:5, "code"] = [7.0, -0.0]
    frame.loc[6, "when"] = pd.Timestamp("1955-03-04 05:06:07.123")
    frame.loc[7, "age"] = -np.inf
    return frame


COLUMNS = [
    Column("order", "numeric"),
    Column('in"come é', "numeric"),
    Column("text]`", "nominal"),
    Column("when", "date"),
    Column("size", "ordered", order=("small", "medium", "large")),
    Column("code", "nominal"),
    Column("flag", "nominal"),
    Column(LONG, "numeric"),
    Column("age", "numeric", codes=(-1.0, 999.0)),
]


def coded(model=None, scaled=True):
    """The pipeline that the command saves."""
    steps = [Coding(COLUMNS), *([StandardScaler()] if scaled else [])]
    return make_pipeline(*steps, LogisticRegression() if model is None else model)


def encoded():
    """A pipeline of scikit-learn's own encoders."""
    made = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["order", 'in"come é']),
        (OneHotEncoder(handle_unknown="ignore"), ["text]`", "code"]),
        (OneHotEncoder(drop="first", min_frequency=30, handle_unknown="infrequent_if_exist"), ["text]`"]),
        (OneHotEncoder(drop="if_binary"), ["flag"]),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")), ["text]`"]),
        (
            OrdinalEncoder(
                categories=[["small", "medium", "large"]], handle_unknown="use_encoded_value", unknown_value=-1
            ),
            ["size"],
        ),
        ("passthrough", [LONG]),
    )
    return make_pipeline(made, LogisticRegression())
