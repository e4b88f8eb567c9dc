"""Being scikit-learn's estimators without importing it before someone needs it.

Its import takes longer than most fits, and a fit to an array needs nothing of it. So models are born with stand-ins
for its base classes, and the stand-ins get the real ones for bases as soon as scikit-learn is imported, by whomever.
Who can ask `isinstance(model, sklearn.base.BaseEstimator)` has imported it, so nobody gets another answer than yes.
Who asks a model for what it has from scikit-learn (`get_params`, `score`, its picture in a notebook) imports it, and
so does who derives a class from a model: a class of the user's is born with the real bases.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from itertools import dropwhile
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
_born: list[type[Any]] = []  # the library's classes that scikit-learn has yet to greet as its own


class _Borrowed:
    """A method that the stand-in will have from scikit-learn: who reaches for it gets the real one."""

    def __set_name__(self, stand_in: type[Any], name: str) -> None:
        self._stand_in, self._name = stand_in, name

    def __get__(self, model: Any, cls: type[Any]) -> Any:
        _fetch()
        return getattr(super(self._stand_in, cls if model is None else model), self._name)


class _Absent:
    """What a stand-in has for a base until the real one is there."""

    def __init_subclass__(cls, **rest: Any) -> None:
        if cls.__module__.partition(".")[0] == __name__.partition(".")[0]:
            _born.append(cls)
            return
        _fetch()  # a class of the user's: the real bases are greeted in place of this one
        stand_in = next(base for base in cls.__mro__ if base.__module__ == __name__)
        super(stand_in, cls).__init_subclass__(**rest)  # type: ignore[arg-type]  # `cls` has it among its bases

    def __getattr__(self, name: str) -> Any:
        # Not for what was learnt (`coef_`) or is Python's own (`__array__`).
        if not name.startswith("__") and (name.startswith("_") or not name.endswith("_")):
            _fetch()
        # What is still missing is refused in the words in which it was refused before.
        return object.__getattribute__(self, name)


def _fetch() -> None:
    """Import scikit-learn."""
    _join(import_module(_HOME))


def _join(home: ModuleType) -> None:
    """Give the stand-ins their bases, and the library's classes what they would have got from them at birth."""
    for stand_in in _Absent.__subclasses__():
        stand_in.__bases__ = (getattr(home, stand_in.__name__),)
        for name in [name for name, method in vars(stand_in).items() if isinstance(method, _Borrowed)]:
            delattr(stand_in, name)
    while _born:
        cls = _born.pop(0)
        super(cls, cls).__init_subclass__()
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Arrival)]


class _Arrival(MetaPathFinder):
    """Waits among the finders of modules for the import of scikit-learn."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _HOME:
            return None
        for finder in list(dropwhile(lambda finder: finder is not self, sys.meta_path))[1:]:
            spec = finder.find_spec(fullname, path, target) if hasattr(finder, "find_spec") else None
            if spec is not None:
                spec.loader = _Joining(spec.loader) if spec.loader else None
                return spec
        return None


class _Joining(Loader):
    """Another's loader, and the joining when it is done; only this one import goes through it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = vars(module)["__spec__"].loader = self._loader
        self._loader.exec_module(module)
        _join(module)


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
    # Named are the methods that the real ones have for users and those that models extend; `__getattr__` finds others,
    # but not for a class, `super()` or a protocol.

    class ClassifierMixin(_Absent):
        """Stands for scikit-learn's."""

        __sklearn_tags__, score = _Borrowed(), _Borrowed()

    class ClassNamePrefixFeaturesOutMixin(_Absent):
        """Stands for scikit-learn's."""

        get_feature_names_out = _Borrowed()

    class MultiOutputMixin(_Absent):
        """Stands for scikit-learn's."""

        __sklearn_tags__ = _Borrowed()

    class RegressorMixin(_Absent):
        """Stands for scikit-learn's."""

        __sklearn_tags__, score = _Borrowed(), _Borrowed()

    class TransformerMixin(_Absent):
        """Stands for scikit-learn's."""

        __sklearn_tags__, fit_transform, set_output = _Borrowed(), _Borrowed(), _Borrowed()

    class BaseEstimator(_Absent):  # the last to join: until then models have `__getattr__`
        """Stands for scikit-learn's."""

        __signature__ = _Borrowed()  # there is none, but `help` reaches for it before it looks at the bases
        __dir__, __repr__, __sklearn_tags__ = _Borrowed(), _Borrowed(), _Borrowed()
        get_metadata_routing, get_params, set_params = _Borrowed(), _Borrowed(), _Borrowed()

    sys.meta_path.insert(0, _Arrival())
