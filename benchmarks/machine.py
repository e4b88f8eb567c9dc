"""What the figures depend on besides the code: processor, cores, versions, and who else is at work."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

from benchmarks.workload import distributions

# For new interpreters: where an environment forbids to keep compiled modules, each of them would compile all again.
KEEP_COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}


def environment() -> dict[str, str]:
    """Name → text, for the header of the results; no date, so that equal runs give equal files."""
    found = {"CPU": _processor(), "cores": str(usable_cores()), "Python": platform.python_version()}
    for package in ("numpy", "scipy", *distributions()):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue  # a rival that is not installed fails in its workloads and says so there
    return found


class Neighbours:
    """How many cores other programs take, on average since the last question.

    It matters: a threaded LAPACK whose threads wait for each other can take twenty times as long beside one
    busy program, and a ratio measured then flatters whoever waits less.
    """

    _STAT = Path("/proc/stat")

    def __init__(self) -> None:
        self._last = (perf_counter(), self._elsewhere())

    def cores(self) -> float:
        """0 where the system does not tell."""
        (start, before), self._last = self._last, (perf_counter(), self._elsewhere())
        return max(0.0, (self._last[1] - before) / max(self._last[0] - start, 1e-9))

    def _elsewhere(self) -> float:
        """Seconds of work done by all processors, except for this process and its children, whether they have ended."""
        if not self._STAT.exists():
            return 0.0
        fields = self._STAT.read_text().split("\n", 1)[0].split()[1:9]
        user, nice, system, _idle, _waiting, irq, softirq, stolen = map(int, fields)
        mine = os.times()
        everyone = (user + nice + system + irq + softirq + stolen) / os.sysconf("SC_CLK_TCK")
        ended = mine.user + mine.system + mine.children_user + mine.children_system
        return everyone - ended - _work_of_children(os.getpid())


def _work_of_children(parent: int) -> float:
    """Seconds of work of processes below this one: workers of a rival live on after its turn."""
    parents, seconds = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()  # the name before it may hold anything
        except OSError:  # it has ended meanwhile
            continue
        own = int(stat.parent.name)
        parents[own] = int(fields[1])
        seconds[own] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # with those of its ended children
    found, family = 0.0, {parent}
    while family:
        family = {child for child, of in parents.items() if of in family}
        found += sum(seconds[child] for child in family)
    return found


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE) if cpuinfo.exists() else None
    return model[1].strip() if model else platform.processor() or platform.machine()


def usable_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
