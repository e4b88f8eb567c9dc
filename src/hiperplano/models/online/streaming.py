"""Passes over rows that are read chunk by chunk: `fit` of an online learner on a stream."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np

from hiperplano.data.block import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.data.stream import Stream
from hiperplano.errors import NotAvailable
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.training import Control, Record, Task

Tasks = Callable[[InMemory], list[Task]]


def refuse_whole_rows(model: Any, rule: Array) -> None:
    """Raise an error for parameters that need all rows at once."""
    for wrong, what in (
        (model.early_stopping, "early_stopping=True"),
        (model.learning_rate == "adaptive", "learning_rate='adaptive'"),
        (not rule[at.BATCH], "batch=True"),
    ):
        if wrong:
            raise NotAvailable(
                "{model}: {what} needs all rows in memory, and these are read some at a time. Set it otherwise, or "
                "pass arrays.",
                model=type(model).__name__,
                what=what,
            )


def fit_stream(model: Any, design: Stream, control: Control, tasks_of: Tasks) -> None:
    """Pass over a stream, chunk by chunk, until a pass improves nothing or max_iter is reached.

    Rows are shuffled within a chunk only.

    Parameters
    ----------
    model : OnlineModel
    tasks_of : callable, InMemory -> list of Task
        Returns the tasks that learn from a chunk, always for the same planes.
    """
    records: list[Record] = []
    best, waited = np.inf, 0
    for _pass in range(control.max_iter):
        counts, losses, weight = np.zeros((0, 2)), 0.0, 0.0
        with closing(design.parts()) as parts:
            for part in parts:
                tasks = tasks_of(part)
                before = _counts(tasks)
                for task in tasks:
                    task.rule[at.TRACK_LOSS], task.trainer.counts[at.LOSS_SUM] = 1.0, 0.0
                model._take_chunk(part, tasks)
                counts = _counts(tasks) - before + (counts if len(counts) else 0.0)
                losses += sum(float(task.trainer.counts[at.LOSS_SUM]) for task in tasks)
                weight += part.total_weight
        records = records or [Record() for _ in counts]
        for record, mistakes in zip(records, counts[:, 0].tolist(), strict=True):
            record.mistakes.append(int(mistakes))
            record.objective = losses / (weight * len(records))
        waited = 0 if losses / weight <= best - (control.tol or 0.0) else waited + 1
        best = min(best, losses / weight)
        if not counts[:, 1].any():
            _end(records, "no_updates")
            break
        if control.tol is not None and waited >= control.patience:
            _end(records, "no_improvement")
            break
    model._learner_.chunks = 0  # it was a fit of all rows, not of chunks
    model._records_, model._control_ = records, control


def _counts(tasks: list[Task]) -> Array:
    """Mistakes and updates of every task so far."""
    return np.array([[task.trainer.counts[at.MISTAKES], task.trainer.counts[at.UPDATES]] for task in tasks])


def _end(records: list[Record], how: str) -> None:
    for record in records:
        record.ended = how
