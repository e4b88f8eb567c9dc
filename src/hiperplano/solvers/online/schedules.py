"""Learning rate schedules: η of step t, by name.

| name | η | Σ η = ∞ | Σ η² < ∞ |
|---|---|---|---|
| "constant" | eta0 | yes | no |
| "adaptive" | eta0, divided by 5 whenever the loss stops falling | no: it ends | yes: it ends |
| "inverse" | eta0 / t | yes | yes |
| "invscaling" | eta0 / t**power_t | if power_t ≤ 1 | if power_t > ½ |
| "optimal" | 1 / (alpha·(t₀ + t)) | yes | yes |
| "pa1", "pa2" | as far as the example needs, with `eta0` for C: passive-aggressive | | |
| "pegasos" | 1 / (alpha·t) | yes | yes |

Stochastic gradient descent converges if both conditions hold. "adaptive" depends on the loss instead of t.
"""

from __future__ import annotations

from typing import Any

from hiperplano.data.design import Array
from hiperplano.solvers.online import rules as at

SCHEDULES = ("constant", "inverse", "invscaling", "optimal", "adaptive", "pa1", "pa2")


def set_schedule(rule: Array, name: str, *, eta0: float = 1.0, power_t: float = 0.5, alpha: float = 0.0) -> None:
    """Write a schedule into a rule. "optimal" and "pegasos" need alpha > 0.

    Parameters
    ----------
    rule : ndarray
        Changed in place.
    name : str
        One of `SCHEDULES`, or "pegasos".
    power_t : float
        Exponent of "invscaling".
    alpha : float
        Strength of the penalty.
    """
    rule[at.ETA], rule[at.RATE] = eta0, at.CONSTANT
    if name in ("inverse", "invscaling"):
        rule[at.RATE] = at.POWER
        rule[at.EXPONENT] = 1.0 if name == "inverse" else power_t
    elif name in ("optimal", "pegasos"):
        rule[at.RATE] = at.HYPERBOLA
        # Bottou's heuristic: the first step is as long as a typical weight, alpha**(−1/4).
        rule[at.OFFSET] = 0.0 if name == "pegasos" else alpha**-0.75 - 1.0
    elif name in ("pa1", "pa2"):
        rule[at.RATE] = at.PASSIVE_AGGRESSIVE_1 if name == "pa1" else at.PASSIVE_AGGRESSIVE_2
        rule[at.AGGRESSIVENESS] = eta0


def learning_rate(rule: Any, t: Any) -> Any:
    """η of step t, counted from 1; the loops compile this function. Passive-aggressive steps do not use it.

    Parameters
    ----------
    t : float
        Number of the step, from 1.
    """
    if rule[at.RATE] == at.POWER:
        return rule[at.ETA] / (t if rule[at.EXPONENT] == 1.0 else t ** rule[at.EXPONENT])
    if rule[at.RATE] == at.HYPERBOLA:
        return 1.0 / (rule[at.ALPHA] * (rule[at.OFFSET] + t))
    return rule[at.ETA]
