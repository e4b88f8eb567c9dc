"""optbinning."""

from __future__ import annotations

import warnings
from typing import Any

from benchmarks.workload import Answer, Array

DISTRIBUTION = "optbinning"


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
