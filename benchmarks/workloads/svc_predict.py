"""Predictions of a kernel support vector machine."""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.kernel_machines import Bent, bent_rows, error_accuracy
from benchmarks.workload import Answer, Contender, Request, Workload


class Fitted(NamedTuple):
    """Machines fitted to the same rows, and rows to predict."""

    ours: Any
    theirs: Any
    X_test: Any
    y_test: Any


def make(request: Request) -> Fitted:
    from sklearn.svm import SVC as TheirSVC

    from hiperplano import SVC

    rows: Bent = bent_rows(1_000 if request.quick else 5_700, 20)
    new = bent_rows(5_000 if request.quick else 100_000, 20, seed=1)
    return Fitted(SVC().fit(rows.X, rows.y), TheirSVC().fit(rows.X, rows.y), new.X, new.y)


WORKLOAD = Workload(
    description="Predictions of SVC() for 100,000×20 rows, about 3,000 support vectors.",
    make=make,
    ours=Contender("hiperplano SVC.predict", lambda p: Answer(figures={"predicted": p.ours.predict(p.X_test)})),
    rivals=(Contender("sklearn SVC.predict", lambda p: Answer(figures={"predicted": p.theirs.predict(p.X_test)})),),
    target=3.0,
    accuracy=error_accuracy(equal=1e-3),
)
