"""Validation of the labels of binary losses."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiperplano.errors import InvalidTarget


def check_signs(y: NDArray[Any]) -> None:
    """Reject labels other than −1 and +1: with 0 and 1 the formulas would silently give wrong values.

    Parameters
    ----------
    y : ndarray
        Labels.
    """
    wrong = np.abs(y) != 1
    if np.any(wrong):
        raise InvalidTarget(
            "y holds {found!r}; a loss of two classes takes the labels −1 and +1. Pass numpy.where(positive, 1, -1).",
            found=np.ravel(y)[np.flatnonzero(wrong)[0]].item(),
        )
