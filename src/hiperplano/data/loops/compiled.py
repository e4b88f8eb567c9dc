"""How loops are compiled."""

from __future__ import annotations

from typing import Any

from numba import njit

# Sums over a row may be taken in several parts at once; NaN and infinity keep their meaning. Divisions by 0 follow
# IEEE rules: the checks that Python's would need stand in the way of the optimiser.
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract"}, "error_model": "numpy"}
_compiled: Any = njit
# For functions that only loops call: they need no wrapper for Python, and save the time of building it.
part = _compiled(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)

# The same for long ones: compiled once, and called.
subroutine = _compiled(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)


def loop(function: Any) -> Any:
    """Compile a function that Python calls, and keep the machine code on disk if there is a place to write to."""
    try:
        return _compiled(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # neither beside the source nor in the user's cache folder
        return _compiled(**_OPTIONS)(function)
