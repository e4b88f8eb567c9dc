"""optbinning."""

from __future__ import annotations

import warnings
from typing import Any

from benchmarks.workload import Answer, Array

DISTRIBUTION = "optbinning"


def binning(x: Array, y: Array, prebins: Array, max_bins: int, min_bin_size: float, trend: str) -> Answer:
    from optbinning import OptimalBinning

    model = OptimalBinning(
        user_splits=prebins, max_n_bins=max_bins, min_bin_size=min_bin_size, monotonic_trend=trend, solver="cp"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions of its dependencies
        model.fit(x, y)
    return Answer(figures={"cuts": [model.splits]})


def binning_process(X: Array, max_bins: int, prebins: list[Array] | None, jobs: int | None) -> Any:
    from optbinning import BinningProcess

    names = [f"x{j}" for j in range(X.shape[1])]
    rules: dict[str, dict[str, Any]] = {name: {"monotonic_trend": "ascending"} for name in names}
    for name, cuts in zip(names, prebins or (), strict=False):
        rules[name] |= {"user_splits": cuts, "min_bin_size": 0.05}
    return BinningProcess(names, max_n_bins=max_bins, n_jobs=jobs, binning_fit_params=rules)


def encoder(X: Array, y: Array, max_bins: int, prebins: list[Array] | None = None, jobs: int | None = None) -> Answer:
    process = binning_process(X, max_bins, prebins, jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        process.fit(X, y)
    cuts = [process.get_binned_variable(name).splits for name in process.variable_names]
    return Answer(figures={"cuts": cuts})


def group_categories(frame: Any, y: Array, max_bins: int) -> Answer:
    from optbinning import BinningProcess

    names = list(frame.columns)
    process = BinningProcess(
        names, categorical_variables=names, max_n_bins=max_bins, max_n_prebins=50, min_bin_size=0.05
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        process.fit(frame, y)
    return Answer(figures={"groups": [process.get_binned_variable(name).splits for name in names]})


def encode(process: Any, X: Array) -> Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Answer(figures={"woe": process.transform(X, metric="woe")})


def scorecard(frame: Any, y: Array) -> Answer:
    import numpy as np
    from optbinning import BinningProcess, Scorecard
    from sklearn.linear_model import LogisticRegression

    card = Scorecard(
        binning_process=BinningProcess(list(frame.columns)),
        estimator=LogisticRegression(C=np.inf),
        scaling_method="pdo_odds",
        scaling_method_params={"pdo": 20, "odds": 50, "scorecard_points": 600},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions of its dependencies
        card.fit(frame, y)
    return Answer(figures={"probability": lambda rows: card.predict_proba(rows)[:, 1]})
