"""The verdict on an online fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.training import Control, Record
from hiperplano.solvers.solution import Solution


@dataclass(frozen=True)
class OnlineSolution(Solution):
    """How an online fit ended.

    Attributes
    ----------
    passes : int
        Passes over the rows, or calls of `partial_fit`. With one plane for each class, the largest number of any plane.
    examples : int
        Examples learnt from, summed over all planes.
    mistakes : int or None
        Examples that were on the wrong side of a plane, or on it, when they were visited. None for a regression.
    updates : int
        Examples that moved a plane.
    clean : bool or None
        Whether the last pass made no mistake. None for a regression.
    mistakes_by_pass : tuple of tuple of int
        Mistakes of each plane in each pass of a `fit`.
    """

    passes: int
    examples: int
    mistakes: int | None
    updates: int
    clean: bool | None
    mistakes_by_pass: tuple[tuple[int, ...], ...] = field(default=(), repr=False)


def verdict(learner: Learner, rule: Array, records: Sequence[Record], control: Control, method: str) -> OnlineSolution:
    """Describe how learning ended; without records, how far `partial_fit` has come.

    Parameters
    ----------
    records : sequence of Record
        One for each task of a `fit`.
    method : str
        Name of the algorithm.
    """
    coef, intercept = learner.coefficients()
    by_class = bool(rule[at.CLASSES])
    runs = learner.states[: learner.counted, at.RUN]
    clean = learner.length > 0 and bool((runs >= learner.length).all()) if by_class else None
    passes = max((len(record.mistakes) for record in records), default=0) + learner.chunks
    mistakes = learner.count(at.MISTAKES) if by_class else None
    return OnlineSolution(
        coef=coef,
        intercept=intercept,
        method=method,
        n_iter=passes,
        objective=float(np.mean([record.objective for record in records])) if records else float("nan"),
        gap=float("nan"),
        converged=has_converged(learner, records, control),
        status=_sentence(learner, records, control, passes, mistakes, clean),
        passes=passes,
        examples=learner.count(at.EXAMPLES),
        mistakes=mistakes,
        updates=learner.count(at.UPDATES),
        clean=clean,
        mistakes_by_pass=tuple(tuple(record.mistakes) for record in records),
    )


def has_converged(learner: Learner, records: Sequence[Record], control: Control) -> bool:
    """Whether a fit converged. Always True after `partial_fit`, which has no end."""
    ends = [record.ended for record in records]
    return bool(learner.chunks) or not ("diverging" in ends or (control.tol is not None and "max_iter" in ends))


def _sentence(
    learner: Learner,
    records: Sequence[Record],
    control: Control,
    passes: int,
    mistakes: int | None,
    clean: bool | None,
) -> str:
    many = Message("1 pass") if passes == 1 else Message("{n} passes", n=passes)
    counts = Message("{n} updates", n=learner.count(at.UPDATES))
    if mistakes is not None:
        counts = Message("{n} updates after {k} mistakes", n=learner.count(at.UPDATES), k=mistakes)
    if learner.chunks or not records:
        return _after_chunks(learner.count(at.EXAMPLES), many, counts, clean)
    if all(record.ended == "no_updates" for record in records):
        end = Message(
            "The last of {passes} changed nothing: all examples satisfy the rule, with {counts}.",
            passes=many,
            counts=counts,
        )
        return end + (_averaged(control, many) if learner.states[0, at.AVERAGED] else "")
    if any(record.ended == "diverging" for record in records):
        return Message(
            "Ended after {passes} with a loss far above that of a plane of zeros, or a gradient that grew from pass to "
            "pass: the steps are too long, and have not become short enough, with {counts}. Lower eta0, or bring the "
            "columns to unit scale (StandardScaler).",
            passes=many,
            counts=counts,
        )
    left = "" if mistakes is None else _left(records, control)
    unfinished = any(record.ended == "max_iter" for record in records)
    if control.tol is None and unfinished:
        return Message("Made the {passes} requested, with {counts}.", passes=many, counts=counts) + left
    fields = {"passes": many, "tol": control.tol, "counts": counts}
    if not unfinished:
        end = Message("Stopped after {passes}, as no pass improved by tol={tol:g} any more, with {counts}.", **fields)
        return end + left
    end = Message(
        "The {passes} of max_iter ended before the improvement fell below tol={tol:g}, with {counts}.", **fields
    )
    remedy = Message(
        " Raise max_iter, or tol if this is good enough; columns of similar scale (StandardScaler) are learnt faster."
    )
    return end + left + remedy


def _after_chunks(examples: int, passes: Message, counts: Message, clean: bool | None) -> Message:
    found = Message("Learnt from {n} examples in {passes}, with {counts}", n=examples, passes=passes, counts=counts)
    if clean is None:
        return found + "."
    if clean:
        return found + Message("; the last chunk was without a mistake.")
    return found + Message("; the last chunk was not without a mistake.")


def _averaged(control: Control, passes: Message) -> Message:
    """Say which weights predict, where they are not the last ones."""
    if control.tol is None:
        return Message(
            " Predictions are made with the mean of the weights over all {n} passes of max_iter, including "
            "those skipped because they would not change the weights.",
            n=control.max_iter,
        )
    return Message(
        " These are the last weights; predictions are made with the mean over {passes}, which may still err. tol=None "
        "takes the mean over all {n} passes of max_iter.",
        passes=passes,
        n=control.max_iter,
    )


def _left(records: Sequence[Record], control: Control) -> str:
    last = int(np.sum([record.mistakes[-1] for record in records]))
    if not last:
        return ""
    wrong = [record for record in records if record.mistakes[-1]]
    if all(record.separable for record in wrong):
        found = Message(" {n} mistakes in the last pass, although a plane separates all rows:", n=last)
        return found + Message(" with tol=None the fit goes on until it makes none.")
    return Message(
        " {n} mistakes in the last pass: no plane was found that separates all rows, and there may be none; "
        "separability(X, y) tells.",
        n=last,
    )
