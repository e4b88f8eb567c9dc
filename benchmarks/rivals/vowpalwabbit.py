"""Vowpal Wabbit.

Its examples are text that it parses; only learning from parsed examples is timed, so they are parsed when a problem is
made. Each solution goes on learning where the last one ended: the time is what counts here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import Answer, Array

DISTRIBUTION = "vowpalwabbit"


class Parsed(NamedTuple):
    """Examples in memory, the learner that parsed them, and where it keeps the weights of the columns."""

    learner: Any
    examples: list[Any]
    places: list[int]


def parsed(X: Any, y: Array) -> Parsed:
    """CSR rows with a column of ones for the intercept, for plain stochastic gradient on the hinge loss."""
    from vowpalwabbit import Workspace

    learner = Workspace("--quiet --loss_function hinge --sgd --power_t 0 -l 1 -b 18 --noconstant")
    space = learner.hash_space(" ")
    places = [learner.hash_feature(str(j), space) for j in range(X.shape[1] + 1)]
    examples = []
    for i, label in enumerate(y):
        entries = slice(X.indptr[i], X.indptr[i + 1])
        pairs = zip(X.indices[entries].tolist(), X.data[entries].tolist(), strict=True)
        text = " ".join(f"{j}:{value:.9g}" for j, value in pairs)
        examples.append(learner.parse(f"{1 if label else -1} | {X.shape[1]}:1 {text}"))
    return Parsed(learner, examples, places)


def hinge_learning(problem: Parsed, passes: int) -> Answer:
    for _ in range(passes):
        for example in problem.examples:
            problem.learner.learn(example)
    weights = np.array([problem.learner.get_weight(place, 0) for place in problem.places])
    return Answer(weights[:-1], weights[-1])
