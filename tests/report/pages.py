"""Tables and models that the tests of pages share."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from hiperplano import LogisticRegression

COSTS = [[0.0, 1.0], [8.0, 0.0]]  # classes in sorted order: default, paid
NUMBERS, CATEGORIES = ["age", "income", "debt_ratio"], ["housing"]


def credit(n: int = 1200, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Loans with missing incomes and a category, one in five not paid back."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(21, 70, n).astype(float),
            "income": np.round(rng.lognormal(14.7, 0.4, n), -3),
            "debt_ratio": rng.beta(3.0, 7.0, n),
            "housing": rng.choice(["owner", "tenant", "family"], n),
        }
    )
    score = -1.5 + 5.0 * (table["debt_ratio"] - 0.3) + 0.9 * (table["housing"] == "tenant") - 0.02 * (table["age"] - 45)
    status = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-score)), "default", "paid")
    table.loc[rng.random(n) < 0.08, "income"] = np.nan
    return table, pd.Series(status, name="status")


def coded(model):
    """A pipeline that fills incomes in and codes housing, then the model."""
    coder = make_column_transformer(
        (SimpleImputer(strategy="median"), NUMBERS),
        (OneHotEncoder(drop="first", sparse_output=False), CATEGORIES),
        verbose_feature_names_out=False,
    )
    return make_pipeline(coder, model)


def credit_model():
    """A fitted pipeline, its training rows and its validation rows."""
    X, y = credit()
    training, validation = (X[:800], y[:800]), (X[800:], y[800:])
    return coded(LogisticRegression(C=np.inf)).fit(*training), training, validation
