"""The perceptron on wide sparse rows."""

from __future__ import annotations

from contextlib import suppress

from benchmarks.classification import Labelled
from benchmarks.online import PASSES, mistakes, sparse
from benchmarks.rivals import hiperplano, sklearn, vowpalwabbit
from benchmarks.workload import Contender, Request, Workload


class Parsed(Labelled):
    """Rows and labels, and the same as Vowpal Wabbit's examples where it is installed."""

    examples: vowpalwabbit.Parsed | None = None


def make(request: Request) -> Parsed:
    problem = Parsed(*sparse(request))
    with suppress(ImportError):
        problem.examples = vowpalwabbit.parsed(problem.X, problem.y)
    return problem


WORKLOAD = Workload(
    description=f"Perceptron, sparse 200,000×50,000 with 13.5 million entries, {PASSES} shuffled passes.",
    make=make,
    ours=Contender("hiperplano Perceptron", lambda p: hiperplano.perceptron(p.X, p.y, PASSES)),
    rivals=(
        Contender("sklearn Perceptron", lambda p: sklearn.perceptron(p.X, p.y, PASSES)),
        Contender("vowpalwabbit, learning only", lambda p: vowpalwabbit.hinge_learning(p.examples, PASSES)),
    ),
    target=2.5,
    accuracy=mistakes(equal=0.3),
    weighed=False,  # the parsed examples take a minute, and a fit of ours adds an order of visits
)
