"""Checks of estimator parameters: one line each where they are used."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from hiperplano.errors import InvalidParameter


def number(
    owner: Any, name: str, *, low: float = -np.inf, high: float = np.inf, open_low: bool = False, infinite: bool = False
) -> float:
    """The parameter `name` of `owner` as a float inside a range."""
    return check_number(type(owner).__name__, name, getattr(owner, name), low, high, open_low, infinite)


def check_number(
    owner: str, name: str, value: Any, low: float, high: float, open_low: bool = False, infinite: bool = False
) -> float:
    """The same for a value that stands alone."""
    right_kind = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if right_kind:
        inside = low < value <= high if open_low else low <= value <= high
        if inside and (infinite or np.isfinite(value)):
            return float(value)
    above = f"more than {low:g}" if open_low else f"{low:g} or more"
    bounds = " and ".join(
        part for part in ("" if np.isinf(low) else above, "" if np.isinf(high) else f"at most {high:g}") if part
    )
    raise InvalidParameter(
        f"{owner}: {name}={value!r}; {name} must be a {'' if infinite else 'finite '}number"
        f"{', ' + bounds if bounds else ''}. Set {name} to such a number."
    )


def whole(owner: Any, name: str, *, low: int = 0, optional: bool = False) -> int | None:
    """The parameter as an int of at least `low`; None if that is allowed."""
    value = getattr(owner, name)
    if value is None and optional:
        return None
    if isinstance(value, Integral) and not isinstance(value, bool | np.bool_) and int(value) >= low:
        return int(value)
    raise InvalidParameter(
        f"{type(owner).__name__}: {name}={value!r}; {name} must be a whole number of {low} or more"
        f"{' or None' if optional else ''}. Set {name} to such a number."
    )


def one_of(owner: Any, name: str, choices: Sequence[str]) -> str:
    """The parameter as one of some words."""
    value = getattr(owner, name)
    if isinstance(value, str) and value in choices:
        return value
    words = ", ".join(repr(choice) for choice in choices)
    raise InvalidParameter(
        f"{type(owner).__name__}: {name}={value!r}; {name} must be one of {words}. Choose one of them."
    )


def flag(owner: Any, name: str) -> bool:
    """The parameter as a bool."""
    value = getattr(owner, name)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InvalidParameter(f"{type(owner).__name__}: {name}={value!r}; {name} must be True or False. Set one of them.")
