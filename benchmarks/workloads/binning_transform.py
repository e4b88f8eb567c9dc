"""Weight of evidence of new rows, from bins that are known."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.binned import table
from benchmarks.rivals import hiperplano, optbinning
from benchmarks.workload import Accuracy, Answer, Array, Contender, Request, Workload


class NewRows(NamedTuple):
    """Fitted encoders, and rows to encode."""

    ours: Any
    theirs: Any
    sample: Array
    X: Array


def make(request: Request) -> NewRows:
    from hiperplano import OptimalBinning, WoEEncoder

    fitted = table(20_000, 30)
    ours = WoEEncoder(OptimalBinning(max_bins=8)).fit(fitted.X, fitted.y)
    theirs = optbinning.binning_process(fitted.X, 8, None, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(fitted.X, fitted.y)
    return NewRows(ours, theirs, fitted.X, table(5_000 if request.quick else 1_000_000, 30, seed=1).X)


def distances(problem: NewRows, answers: Sequence[Answer]) -> list[float]:
    """Each against its own bins, looked up one cut-off at a time."""
    ours = [(binning.bins_.cuts, binning.woe_) for binning in problem.ours.binnings_.values()]
    theirs = []
    for name in problem.theirs.variable_names:
        binning = problem.theirs.get_binned_variable(name)
        binning.binning_table.build()
        theirs.append((binning.splits, np.asarray(binning.binning_table.build()["WoE"].iloc[:-1], dtype=float)))
    found = []
    for answer in answers:
        rules = ours if answer is answers[0] else theirs
        woe = np.asarray(answer.figures["woe"], dtype=np.float64)
        worst = 0.0
        for j, (cuts, values) in enumerate(rules):
            bins = sum((problem.X[:, j] >= cut).astype(int) for cut in cuts)
            worst = max(worst, float(np.abs(woe[:, j] - np.asarray(values)[bins]).max()))
        found.append(worst)
    return found


WORKLOAD = Workload(
    description="WoE of 1,000,000 new rows, 30 variables.",
    make=make,
    ours=Contender("hiperplano WoEEncoder", lambda p: hiperplano.encode(p.ours, p.X)),
    rivals=(Contender("optbinning BinningProcess", lambda p: optbinning.encode(p.theirs, p.X)),),
    target=10.0,
    accuracy=Accuracy("largest error of a WoE, each library's own bins", distances, equal=1e-9),
)
