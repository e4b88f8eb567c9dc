"""Being scikit-learn's estimators without importing it before someone needs it.

Its import takes longer than most fits, and a fit to an array needs nothing of it. So models are born with stand-ins
for its base classes, and the stand-ins get the real ones for bases as soon as scikit-learn is imported, by whomever.
Who can ask `isinstance(model, sklearn.base.BaseEstimator)` has imported it, so nobody gets another answer than yes.
Who asks a model for what it has from scikit-learn (`get_params`, `score`, its picture in a notebook) imports it.
"""

from __future__ import annotations

import sys
from abc import ABCMeta
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "MultiOutputMixin",
    "RegressorMixin",
    "TransformerMixin",
]

_HOME = "sklearn.base"
_stand_ins: list[type[Any]] = []


class _Kind(ABCMeta):
    """Of classes with stand-ins among their bases: they too can be asked for what they do not have yet."""

    def __getattr__(cls, name: str) -> Any:
        if _Absent in cls.__mro__ and _may_be_borrowed(name):
            _fetch()
        return super().__getattribute__(name)

    def __dir__(cls) -> list[str]:
        _fetch()
        return list(super().__dir__())


class _Absent(metaclass=_Kind):
    """What the stand-in of `BaseEstimator` has for a base until the real one is there."""

    def __getattr__(self, name: str) -> Any:
        if _may_be_borrowed(name):
            _fetch()
        # What is still missing is refused in the words in which it was refused before.
        return object.__getattribute__(self, name)

    def __dir__(self) -> list[str]:
        _fetch()
        return dir(self)

    def __repr__(self) -> str:
        _fetch()
        return repr(self)


class _Nothing:
    """What the stand-in of a mixin has for a base: a class that has `object` alone cannot be given another."""


def _may_be_borrowed(name: str) -> bool:
    """Not what was learnt (`coef_`) or is Python's own (`__array__`)."""
    return not name.startswith("__") and (name.startswith("_") or not name.endswith("_"))


def _fetch() -> None:
    """Import scikit-learn."""
    _join(import_module(_HOME))


def _join(home: ModuleType) -> None:
    """Give the stand-ins their bases, and every class that has them what its birth would have brought it."""
    born = dict.fromkeys(cls for stand_in in _stand_ins for cls in _descendants(stand_in))
    while _stand_ins:
        stand_in = _stand_ins.pop()
        stand_in.__bases__ = (getattr(home, stand_in.__name__),)
    for cls in born:
        super(cls, cls).__init_subclass__()


def _descendants(cls: type[Any]) -> Iterator[type[Any]]:
    yield cls
    for child in cls.__subclasses__():
        yield from _descendants(child)


class _Arrival(MetaPathFinder):
    """Waits among the finders of modules for the import of scikit-learn, and joins when it is done."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _HOME:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next((found for finder in others if (found := finder.find_spec(fullname, path, target))), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_join(module: ModuleType) -> None:
                execute(module)
                sys.meta_path.remove(self)
                _join(module)

            spec.loader.exec_module = execute_and_join  # type: ignore[method-assign]
        return spec


if TYPE_CHECKING or _HOME in sys.modules:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        MultiOutputMixin,
        RegressorMixin,
        TransformerMixin,
    )
else:

    class BaseEstimator(_Absent):
        """Stands for scikit-learn's."""

    class ClassifierMixin(_Nothing):
        """Stands for scikit-learn's."""

    class ClassNamePrefixFeaturesOutMixin(_Nothing):
        """Stands for scikit-learn's."""

    class MultiOutputMixin(_Nothing):
        """Stands for scikit-learn's."""

    class RegressorMixin(_Nothing):
        """Stands for scikit-learn's."""

    class TransformerMixin(_Nothing):
        """Stands for scikit-learn's."""

    _stand_ins += [BaseEstimator, *_Nothing.__subclasses__()]
    sys.meta_path.insert(0, _Arrival())
