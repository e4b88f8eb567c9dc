"""Validation of estimator parameters, one line each in an estimator."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.messages import Message


def number(
    owner: Any, name: str, *, low: float = -np.inf, high: float = np.inf, open_low: bool = False, infinite: bool = False
) -> float:
    """The parameter `name` of `owner` as a float within a range."""
    return check_number(type(owner).__name__, name, getattr(owner, name), low, high, open_low, infinite)


def check_number(
    owner: str, name: str, value: Any, low: float, high: float, open_low: bool = False, infinite: bool = False
) -> float:
    """The same for a single value."""
    right_kind = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if right_kind:
        inside = low < value <= high if open_low else low <= value <= high
        if inside and (infinite or math.isfinite(value)):
            return float(value)
    limits = []
    if not np.isinf(low):
        limits.append(Message("more than {low:g}", low=low) if open_low else Message("{low:g} or more", low=low))
    if not np.isinf(high):
        limits.append(Message("at most {high:g}", high=high))
    if len(limits) == 2:
        limits = [Message("{lower} and {upper}", lower=limits[0], upper=limits[1])]
    kind = Message("a number") if infinite else Message("a finite number")
    raise InvalidParameter(
        "{owner}: {name}={value!r}; {name} must be {kind}. Set {name} to such a number.",
        owner=owner,
        name=name,
        value=value,
        kind=Message.concatenate(", ", [kind, *limits]),
    )


def whole(owner: Any, name: str, *, low: int = 0, optional: bool = False) -> int | None:
    """The parameter as an int of at least `low`; None if that is allowed."""
    value = getattr(owner, name)
    if value is None and optional:
        return None
    if isinstance(value, Integral) and not isinstance(value, bool | np.bool_) and int(value) >= low:
        return int(value)
    kind = Message("a whole number of {low} or more", low=low)
    if optional:
        kind = Message("a whole number of {low} or more or None", low=low)
    raise InvalidParameter(
        "{owner}: {name}={value!r}; {name} must be {kind}. Set {name} to such a number.",
        owner=type(owner).__name__,
        name=name,
        value=value,
        kind=kind,
    )


def one_of(owner: Any, name: str, choices: Sequence[str]) -> str:
    """The parameter, which must be one of several strings."""
    value = getattr(owner, name)
    if isinstance(value, str) and value in choices:
        return value
    raise InvalidParameter(
        "{owner}: {name}={value!r}; {name} must be one of {choices}. Choose one of them.",
        owner=type(owner).__name__,
        name=name,
        value=value,
        choices=", ".join(map(repr, choices)),
    )


def flag(owner: Any, name: str) -> bool:
    """The parameter as a bool."""
    value = getattr(owner, name)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InvalidParameter(
        "{owner}: {name}={value!r}; {name} must be True or False. Set one of them.",
        owner=type(owner).__name__,
        name=name,
        value=value,
    )


def one_of_ours(owner: Any, name: str, choices: Sequence[str], theirs: Mapping[str, str]) -> str:
    """The parameter as one of this library's values; some of scikit-learn's are aliases."""
    value = getattr(owner, name)
    if isinstance(value, str) and value in theirs:
        return theirs[value]
    return one_of(owner, name, choices)


class Kind(NamedTuple):
    """Valid values of a parameter that has no effect."""

    types: tuple[type, ...]
    words: Message
    choices: tuple[str, ...] = ()


FLAG = Kind((bool, np.bool_), Message("True or False"))
VERBOSITY = Kind((Integral, bool, np.bool_), Message("a whole number or True or False"))
JOBS = Kind((type(None), Integral), Message("a whole number or None"))
REAL = Kind((Real,), Message("a number"))
RATIO = Kind((Real, type(None)), Message("a number from 0 to 1 or None"))
SEED = Kind((type(None), Integral, np.random.RandomState), Message("None, a whole number or a numpy RandomState"))
DUAL = Kind((bool, np.bool_), Message("True, False or 'auto'"), ("auto",))


def accept(owner: Any, **kinds: Kind) -> None:
    """Validate parameters that exist only for compatibility with scikit-learn, and have no effect.

    Parameters
    ----------
    **kinds : Kind
        Valid values of each parameter.
    """
    for name, kind in kinds.items():
        value = getattr(owner, name)
        if isinstance(value, kind.types) or (isinstance(value, str) and value in kind.choices):
            continue
        raise InvalidParameter(
            "{owner}: {name}={value!r}; {name} has no effect here, but must be {kind}. Leave it out.",
            owner=type(owner).__name__,
            name=name,
            value=value,
            kind=kind.words,
        )


def refuse_l1(owner: Any, l1_share: Any = 0.0) -> None:
    """Raise an error for a `penalty` with an L1 part, and for unknown values.

    `l1_share` is the share of L1 in "elasticnet".
    """
    penalty = owner.penalty
    if penalty is not None:
        one_of(owner, "penalty", ("l2", "l1", "elasticnet"))
    if penalty == "l1" or (penalty == "elasticnet" and l1_share != 0):
        raise NotAvailable(
            "{owner}: penalty={penalty!r}; penalties with an L1 part are not available. Set penalty='l2', or fit "
            "this model with scikit-learn.",
            owner=type(owner).__name__,
            penalty=penalty,
        )
