"""Every exception and warning of the library.

A message states the rule, the evidence against it, and a remedy, in this order of importance to the reader:
what was found, what is needed, what to do.
"""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import ConvergenceWarning

from hiperplano.messages import Message

__all__ = [
    "AccuracyWarning",
    "AssumptionWarning",
    "ClusterError",
    "ConvergenceWarning",
    "HiperplanoError",
    "InvalidData",
    "InvalidFile",
    "InvalidParameter",
    "InvalidTarget",
    "InvalidType",
    "NotAvailable",
    "NotInstalled",
    "NotSeparable",
    "SeparationWarning",
    "SingularWarning",
]


class HiperplanoError(Exception):
    """Base of all errors raised on purpose by hiperplano.

    Parameters
    ----------
    template : str
        Template of the `Message`, with named fields.
    **fields
        Values of the fields.
    """

    def __init__(self, template: str, /, **fields: Any) -> None:
        super().__init__(template if isinstance(template, Message) else Message(template, **fields))


class InvalidData(HiperplanoError, ValueError):
    """The rows cannot be used: not numbers, not finite, too few, of unequal length."""


class InvalidTarget(InvalidData):
    """The target cannot be used: one class only, not finite, of the wrong kind."""


class InvalidType(InvalidData, TypeError):
    """An object of a type that cannot be rows or a target; scikit-learn raises a TypeError."""


class InvalidFile(HiperplanoError, ValueError):
    """A file cannot be used: it does not exist, has another format, is damaged, or contains untrusted types."""


class NotSeparable(InvalidTarget):
    """No plane has the rows of two classes on different sides.

    Attributes
    ----------
    certificate : Overlapping or QuasiSeparable
        The proof: weights of rows for which both classes have the same weighted sum.
    """

    def __init__(self, message: str, certificate: object) -> None:
        super().__init__(message)
        self.certificate = certificate

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.certificate)


class InvalidParameter(HiperplanoError, ValueError):
    """A parameter of an estimator or function is outside its range."""


class NotAvailable(HiperplanoError, AttributeError):
    """The result does not exist for this model or this fit; the message says why."""


class NotInstalled(HiperplanoError, ImportError):
    """An optional dependency is missing; the message says how to install it."""


class ClusterError(HiperplanoError, RuntimeError):
    """Workers or the scheduler of a cluster were lost, and the work could not continue."""


class AccuracyWarning(UserWarning):
    """The fit is as accurate as floating point allows, but few of its digits are reliable."""


class AssumptionWarning(UserWarning):
    """The result depends on an assumption that the data cannot confirm; the message names it."""


class SingularWarning(UserWarning):
    """The data do not determine the model; the message says which choice was made."""


class SeparationWarning(UserWarning):
    """A plane separates the classes, so the likelihood has no finite maximum."""
