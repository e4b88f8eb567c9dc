"""Numba decorators, and their options, for compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

# Sums may be reordered, for vector instructions; NaN and infinity keep their meaning. Division by 0 follows IEEE rules,
# since the checks for Python's exception would prevent optimisation.
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract"}, "error_model": "numpy"}
_compiled: Any = njit
_Decorator = Callable[[Callable[..., Any]], Any]
# For functions that only loops call: inlined, and without a wrapper for Python, which takes time to build.
part: _Decorator = _compiled(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)

# The same for sums over entries at given places, such as those of a sparse row, which must not be reordered: LLVM would
# load several at once (vector gathers), which takes two to four times as long as one by one on many x86 processors.
gathering: _Decorator = _compiled(
    forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **{**_OPTIONS, "fastmath": {"contract"}}
)

# The same for long functions: compiled once, and called instead of inlined.
subroutine: _Decorator = _compiled(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)


def loop(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, with its machine code cached on disk if that is possible."""
    try:
        return _compiled(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # neither the source folder nor the user's cache folder is writable
        return _compiled(**_OPTIONS)(function)
