"""Warnings of a fit about scorecards that should not be used without changes."""

from __future__ import annotations

import warnings
from typing import Any

from hiperplano.errors import SeparationWarning, SingularWarning
from hiperplano.messages import Message
from hiperplano.models.base import users_level


def strongest(encoder: Any, names: list[str]) -> str:
    """The variable with the largest information value."""
    return max(names, key=lambda name: float(encoder.binnings_[name].iv_))


def warn_of_no_choice(card: Any, n_variables: int) -> None:
    """Warn that no variable was selected, so that the scorecard has an intercept only."""
    by = Message("by {criterion}", criterion=card.criterion)
    warnings.warn(
        Message(
            "Scorecard: none of {n} variables was chosen ({rule}), so all applicants get the same score. The "
            "table lists only {name!r}, the variable with the largest information value, with the same points in every "
            "bin. Check the target, give other columns, or set selection=None.",
            n=n_variables,
            rule=by if card.selection else Message("coefficients would be against the WoE"),
            name=card.variables_[0],
        ),
        SingularWarning,
        stacklevel=users_level(),
    )


def warn_of_separation(card: Any) -> None:
    """Warn that the variables separate the classes, and name the most informative one."""
    name = strongest(card.encoder_, card.variables_)
    warnings.warn(
        Message(
            "Scorecard: the variables separate the classes, so the likelihood has no maximum and coefficients were "
            "stopped on their way to infinity. The largest information value has {name!r} ({iv:.2f}): look whether "
            "it was known before the event. Leave such variables out, or set a finite C.",
            name=name,
            iv=card.encoder_.binnings_[name].iv_,
        ),
        SeparationWarning,
        stacklevel=users_level(),
    )
