"""What a race has shown: figures of every contender, and the verdict that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan
from statistics import median

_QUIET = 0.1  # cores that other programs may take


@dataclass(frozen=True)
class Measured:
    """One contender's figures.

    Attributes
    ----------
    name : str
    runs : tuple of float
        Seconds for one fit, one number for each round it took part in; empty if it failed.
    distance : float or None
        From a perfect answer; None where nothing is judged, or nothing was answered.
    memory : int or None
        Bytes that one fit added at its peak; None where not measured.
    note : str
        Why it failed, or what it warned of.
    threads : int or None
        BLAS and OpenMP threads it ran with; None where nothing ran.
    """

    name: str
    runs: tuple[float, ...] = ()
    distance: float | None = None
    memory: int | None = None
    note: str = ""
    threads: int | None = None

    @property
    def seconds(self) -> float | None:
        return median(self.runs) if self.runs else None


@dataclass(frozen=True)
class Outcome:
    """One workload's figures; what is not told here is the workload's own.

    Attributes
    ----------
    quick : bool
        Whether the data were small ones, that tell nothing about the target.
    real : bool
        Whether the data came from a table.
    neighbours : float
        Cores that other programs took meanwhile.
    """

    workload: str
    description: str
    target: float
    ours: Measured
    rivals: tuple[Measured, ...]
    meaning: str = ""
    equal: float = 0.0
    memory_limit: int | None = None
    quick: bool = False
    real: bool = False
    neighbours: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether ours gave no answer."""
        return not self.ours.runs

    @property
    def less_accurate(self) -> bool:
        """Whether a rival's answer is better by more than what counts as equal, or ours is plainly wrong."""
        best = min((_distance(rival) for rival in self.rivals if rival.runs), default=inf)
        mine = _distance(self.ours)
        return not self.failed and (mine == inf or mine > max(self.equal, best))

    @property
    def lost(self) -> bool:
        """Whether speed does not matter any more: no answer from ours, or a worse one."""
        return self.failed or self.less_accurate

    def counts(self, rival: Measured) -> bool:
        """Whether a rival's answer is as good as ours, or as good as anyone could ask."""
        return bool(rival.runs) and _distance(rival) <= max(self.equal, _distance(self.ours))

    @property
    def most_accurate_rival(self) -> Measured | None:
        return min((rival for rival in self.rivals if rival.runs), key=_distance, default=None)

    @property
    def disturbed(self) -> bool:
        """Whether the machine was too busy for the times to be trusted."""
        return self.neighbours > _QUIET

    @property
    def best_rival(self) -> Measured | None:
        """The fastest of those that count."""
        return min((rival for rival in self.rivals if self.counts(rival)), key=_seconds, default=None)

    @property
    def opponent(self) -> Measured | None:
        """The rival that the target is about: the best, or where none is as accurate the fastest.

        Being as accurate would take that one longer still, so the ratio to it is a lower bound.
        """
        ran = (rival for rival in self.rivals if rival.runs)
        return self.best_rival or min(ran, key=_seconds, default=None)

    def ratio(self, rival: Measured) -> float:
        """How many times as fast as this rival ours is."""
        return _seconds(rival) / _seconds(self.ours)

    @property
    def reached(self) -> bool | None:
        """Whether the target ratio was reached; None if no rival ran, or the run cannot tell."""
        if self.lost or self.quick or self.disturbed or self.opponent is None:
            return None
        return self.ratio(self.opponent) >= self.target


def _distance(one: Measured) -> float:
    """Nothing judged is perfect; a number that is none is as far as can be."""
    if one.distance is None:
        return 0.0
    return inf if isnan(one.distance) else one.distance


def _seconds(one: Measured) -> float:
    return inf if one.seconds is None else one.seconds
