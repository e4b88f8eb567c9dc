"""Decorators for methods that take Dask collections: `fit` gets a `Cluster`, predictions are Dask arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from hiperplano.data.cluster import is_dask

Method = TypeVar("Method", bound=Callable[..., Any])


def takes_dask(function: Method) -> Method:
    """Decorator for functions of rows: Dask's X, y and sample_weight become one design."""

    @wraps(function)
    def anywhere(*args: Any, **kwargs: Any) -> Any:
        if not (any(map(is_dask, args[:2])) or is_dask(kwargs.get("X"))):
            return function(*args, **kwargs)
        given = signature(function).bind(*args, **kwargs)
        found = given.arguments
        if is_dask(found.get("X")):
            from hiperplano.data.cluster.collections import cluster_of

            rows_of = getattr(found.get("self"), "_cluster_of", cluster_of)  # a model may accept columns of all kinds
            found["X"] = rows_of(found["X"], found.get("y"), found.get("sample_weight"))
            found.update({name: None for name in ("y", "sample_weight") if name in found})
        return function(*given.args, **given.kwargs)

    return cast(Method, anywhere)


def by_rows(method: Method) -> Method:
    """Decorator for methods that work row by row: a Dask collection gives a Dask array."""

    @wraps(method)
    def anywhere(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if is_dask(X) or getattr(X, "predicts_lazily", False):
            from hiperplano.data.cluster.lazily import lazily

            return lazily(self, method.__name__, X, args, kwargs)
        return method(self, X, *args, **kwargs)

    return cast(Method, anywhere)
