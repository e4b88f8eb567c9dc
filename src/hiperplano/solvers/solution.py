"""The result of a solver: the solution, and a status message for the user."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages import Message

_TINY = 1e-300
_EPS = float(np.finfo(float).eps)


class FitResult:
    """A result with a `status` whose messages survive saving and loading."""

    status: str

    def __str__(self) -> str:
        return self.status

    def __getstate__(self) -> dict[str, Any]:
        """Store messages also as template and fields, since skops would keep only their text.

        They are stored as one string, since skops takes as long for each part as for an array.
        """
        messages = {name: value.to_plain() for name, value in vars(self).items() if isinstance(value, Message)}
        return vars(self) | {"messages": json.dumps(messages)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        stored = json.loads(state.get("messages", "{}"))
        messages = {name: Message.from_plain(plain) for name, plain in stored.items()}
        vars(self).update({name: value for name, value in state.items() if name != "messages"} | messages)


def digits_of(error: float) -> float:
    """Number of correct decimal digits for a relative error: from 0 to 15."""
    return min(15.0, max(0.0, -math.log10(max(error, _EPS))))


def smallest_digits(digits: float, standardised: Array) -> float:
    """Decimal digits of the least accurate nonzero coefficient, if the coefficient vector has `digits`.

    An error relative to the norm of all coefficients is larger relative to a small coefficient.

    Parameters
    ----------
    standardised : ndarray of shape (targets, d)
        Coefficients times the standard deviations of their columns.
    """
    size = np.abs(standardised)
    largest = size.max(axis=1, initial=0.0)
    if not largest.all():
        size, largest = size[largest > 0], largest[largest > 0]
    if not size.size:
        return digits
    with np.errstate(under="ignore"):
        size /= largest[:, None]
        least = np.where(size > 0, size, 1.0).min(axis=1)  # `min` with its `where` argument takes five times as long
        share = float((least / np.sqrt(np.einsum("ij,ij->i", size, size))).min())
    return max(0.0, digits + math.log10(max(share, _TINY)))


def trusted_digits(digits: float, smallest: float) -> Message:
    """Clause of a status on the accuracy of coefficients: of all together, and of the least accurate one."""
    whole, least = int(digits), int(smallest)
    if least >= whole - 1:
        return Message("; about {digits} digits of the coefficients can be trusted.", digits=least)
    if least:
        return Message(
            "; about {digits} digits of the coefficients can be trusted, {least} of the smallest.",
            digits=whole,
            least=least,
        )
    return Message(
        "; about {digits} digits of the coefficients can be trusted, none of the smallest: it is 0 up to rounding.",
        digits=whole,
    )


@dataclass(frozen=True, repr=False)
class Outcome(FitResult):
    """How a fit ended. Subclasses store `status`, or create it on demand.

    Attributes
    ----------
    coef, intercept : ndarray of shape (targets, d) and (targets,)
    method : str
        Name of the method, in a few words.
    n_iter : int
        Number of passes or steps, as the method counts them.
    objective : float
        Value of the minimised function at the solution, as the method defines it.
    gap : float
        Relative distance from the optimum; the method defines what it measures.
    converged : bool
        Whether the method reached its tolerance.
    """

    coef: Array = field(repr=False)
    intercept: Array = field(repr=False)
    method: str
    n_iter: int
    objective: float
    gap: float
    converged: bool

    def _facts(self) -> dict[str, str]:
        """Facts shown with the status."""
        shown = (each for each in fields(self) if each.repr and each.name != "status")
        values = {each.name: getattr(self, each.name) for each in shown}
        return {name: f"{value:.4g}" if isinstance(value, float) else str(value) for name, value in values.items()}

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value}" for name, value in self._facts().items())
        return f"{type(self).__name__}: {self.status}\n({facts})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in self._facts().items()
        )
        return f"<p>{escape(self.status)}</p><table>{rows}</table>"


@dataclass(frozen=True, repr=False)
class Solution(Outcome):
    """How a fit ended, with a status message.

    Attributes
    ----------
    status : Message
        How the fit ended and, if it failed, what to do.
    """

    status: str
