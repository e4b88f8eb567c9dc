"""Logistic regression on a folder of Parquet files that stay on disk."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.beyond_memory import write_folder
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Accuracy, Answer, Array, Contender, Request, Workload

COLUMNS = 40
ENOUGH = 1e-4  # mean loss on other rows above that of the coefficients the labels were drawn with


@dataclass(frozen=True)
class Files:
    """A folder of rows, and other rows in memory to judge by."""

    folder: Path
    X: Array
    y: Array
    best: float

    def __iter__(self) -> Iterator[Array | float]:
        """What the same request makes again: rows and labels, on disk and in memory, and not where the folder lies."""
        import pyarrow.parquet as pq

        for path in sorted(self.folder.iterdir()):
            for column in pq.read_table(path).itercolumns():
                yield column.to_numpy()
        yield self.X
        yield self.y
        yield self.best

    def loss(self, coef: Array, intercept: float) -> float:
        """Mean log loss on the rows to judge by."""
        score = self.X @ np.ravel(coef) + intercept
        return float(np.mean(np.logaddexp(0.0, -np.where(self.y == 1, score, -score))))


def make(request: Request) -> Files:
    folder = Path(tempfile.mkdtemp(prefix="hiperplano-race-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    coef = write_folder(folder, 40_000 if request.quick else 4_000_000, COLUMNS)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000 if request.quick else 200_000, COLUMNS))
    y = (X @ coef + rng.logistic(size=len(X)) > 0).astype(np.int8)
    files = Files(folder, X, y, 0.0)
    return Files(folder, X, y, files.loss(coef, 0.0))


def distances(files: Files, answers: Sequence[Answer]) -> list[float]:
    """What each answer loses on other rows, above the coefficients that the labels were drawn with."""
    return [max(0.0, files.loss(answer.coef, float(np.ravel(answer.intercept)[0])) - files.best) for answer in answers]


def by_sgd(files: Files, **parameters: object) -> Answer:
    return sklearn.sgd_over_batches(
        sorted(files.folder.iterdir()),
        "y",
        lambda coef, intercept: files.loss(coef, intercept) <= files.best + ENOUGH,
        **parameters,
    )


def by_tuned_sgd(files: Files) -> Answer:
    """With the best of eight settings tried on these rows; its trials are not counted."""
    return by_sgd(files, alpha=1e-6, learning_rate="constant", eta0=1e-3)


WORKLOAD = Workload(
    description="Logistic regression on Parquet files, 4,000,000×40 float32, read in every pass.",
    make=make,
    ours=Contender("hiperplano", lambda files: hiperplano.logistic_files(files.folder, "y")),
    rivals=(
        Contender("sklearn SGDClassifier.partial_fit", by_sgd),
        Contender("the same, step tuned before", by_tuned_sgd),
    ),
    target=1.0,
    accuracy=Accuracy("mean log loss on other rows, above that of the true coefficients", distances, ENOUGH),
)
