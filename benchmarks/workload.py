"""What a race is made of: a problem, contenders that answer it, and how answers are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Problem = TypeVar("Problem")


@dataclass(frozen=True)
class Answer:
    """What a contender found; a workload looks at the parts it asked for.

    Attributes
    ----------
    coef : ndarray of shape (d,) or (targets, d)
    intercept : float or ndarray of shape (targets,)
    figures : mapping
        Whatever else is judged, by name: standard errors, a chosen penalty, its score.
    """

    coef: Array = field(default_factory=lambda: np.empty(0))
    intercept: Any = 0.0
    figures: Mapping[str, Any] = field(default_factory=dict)


class Request(NamedTuple):
    """What data a run asks for: small ones if `quick`; real tables lie in `folder`."""

    quick: bool = False
    folder: Path | None = None


@dataclass(frozen=True)
class Contender(Generic[Problem]):
    """A way to solve the problem; `name` begins with the library's."""

    name: str
    solve: Callable[[Problem], Answer]


@dataclass(frozen=True)
class Accuracy(Generic[Problem]):
    """How answers are judged, by arithmetic that belongs to no contender.

    Attributes
    ----------
    meaning : str
        What a distance is, in a few words.
    distances : callable, (problem, answers) -> one number for each answer
        0 is perfect, infinity is wrong.
    equal : float
        Distances up to this one count as equally good.
    """

    meaning: str
    distances: Callable[[Problem, Sequence[Answer]], Sequence[float]]
    equal: float


@dataclass(frozen=True)
class Workload(Generic[Problem]):
    """One line of the race.

    Attributes
    ----------
    description : str
        One line.
    make : callable, Request -> problem
        The same problem at every call: seeded. The small one also serves to warm contenders up.
    ours : Contender
    rivals : tuple of Contender
    target : float
        How many times as fast as the best rival ours is to be.
    accuracy : Accuracy, optional
        None where there is nothing to judge.
    weighed : bool
        Whether extra memory is measured.
    memory_limit : int, optional
        Bytes that one fit of ours may add.
    table : str, optional
        File of the data folder that `make` reads; without it the workload is left out.
    """

    description: str
    make: Callable[[Request], Problem]
    ours: Contender[Problem]
    rivals: tuple[Contender[Problem], ...]
    target: float
    accuracy: Accuracy[Problem] | None = None
    weighed: bool = True
    memory_limit: int | None = None
    table: str | None = None

    @property
    def contenders(self) -> tuple[Contender[Problem], ...]:
        """Ours first."""
        return (self.ours, *self.rivals)


def workload_names() -> list[str]:
    """All workloads there are: the files of `benchmarks/workloads`."""
    return _modules("workloads")


def load_workload(name: str) -> Workload[Any]:
    """The `WORKLOAD` that a file of `benchmarks/workloads` defines."""
    return import_module(f"benchmarks.workloads.{name}").WORKLOAD


def distributions() -> list[str]:
    """Names, as packages are installed under, of all libraries in `benchmarks/rivals`."""
    return [import_module(f"benchmarks.rivals.{name}").DISTRIBUTION for name in _modules("rivals")]


def _modules(folder: str) -> list[str]:
    return sorted(path.stem for path in (Path(__file__).parent / folder).glob("[!_]*.py"))
