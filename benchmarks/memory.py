"""Extra memory of one fit: the highest resident size during it, less the resident size before it.

Each fit is weighed in a fresh interpreter that makes the problem again, never in the race's own process:
- what earlier fits left behind in the allocator would serve the next one unseen;
- a fork would be quicker than a fresh start, but a forked child of a process whose OpenMP or Numba threads have
  run may hang at its first parallel loop;
- `ru_maxrss` would not do: it only grows, so that temporaries of making the problem hide the fit's, and a new
  process even inherits it from the one that started it. Linux keeps a high-water mark for the address space
  (`VmHWM`) that starts anew with each program and can be reset.

Run as `python -m benchmarks.memory WORKLOAD CONTENDER [--quick] [--data FOLDER]`; prints bytes.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from benchmarks.machine import KEEP_COMPILED
from benchmarks.workload import Request, load_workload

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
_RESET_MARK = "5"  # of the things that can be cleared there, the high-water mark
_ROOT = Path(__file__).parent.parent


def can_weigh() -> bool:
    """Whether this system keeps a high-water mark that can be reset."""
    return _STATUS.exists() and _RESET.exists()


def extra_memory(work: Callable[[], object]) -> int:
    """Bytes by which the resident size of this process rises, at most, while `work` is done."""
    gc.collect()
    _return_free_memory()
    _RESET.write_text(_RESET_MARK)
    before = _kilobytes("VmRSS")
    result = work()
    peak = _kilobytes("VmHWM")
    del result  # held until here: what a fit keeps belongs to it
    return 1024 * max(0, peak - before)


def weigh(workload: str, contender: int, request: Request) -> int | None:
    """Extra memory of one fit, in a fresh interpreter; None where it cannot be measured.

    Parameters
    ----------
    contender : int
        Its place among the workload's contenders; 0 is ours.
    """
    if not can_weigh():
        return None
    command = [sys.executable, "-m", "benchmarks.memory", workload, str(contender)]
    command += ["--quick"] if request.quick else []
    command += ["--data", str(request.folder.resolve())] if request.folder else []
    done = subprocess.run(command, cwd=_ROOT, env=os.environ | KEEP_COMPILED, stdout=subprocess.PIPE, text=True)
    return int(done.stdout) if done.returncode == 0 else None


def _kilobytes(key: str) -> int:
    found = re.search(rf"^{key}:\s+(\d+) kB$", _STATUS.read_text(), flags=re.MULTILINE)
    if found is None:
        raise OSError(f"{_STATUS} has no line {key}; extra memory is read from it. Run the race with --no-memory.")
    return int(found[1])


def _return_free_memory() -> None:
    """Give pages that the allocator keeps back to the system, so that a fit cannot use them unseen."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Bytes that one fit adds to the memory of a fresh process.")
    parser.add_argument("workload")
    parser.add_argument("contender", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    workload = load_workload(options.workload)
    request = Request(options.quick, options.data)
    solve = workload.contenders[options.contender].solve
    solve(workload.make(request._replace(quick=True)))  # imports and compiled code are not the fit's
    problem = workload.make(request)
    print(extra_memory(lambda: solve(problem)))


if __name__ == "__main__":
    main()
