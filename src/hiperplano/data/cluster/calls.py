"""Calls of a model with dask collections: a fit gets rows on the cluster, a prediction stays a dask array."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from hiperplano.data.cluster import is_dask

Method = TypeVar("Method", bound=Callable[..., Any])


def with_rows_on_cluster(
    fit: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a fit; dask's X, y and sample_weight become one design, which brings all three along."""
    if not is_dask(args[0] if args else kwargs.get("X")):
        return args, kwargs
    from hiperplano.data.cluster.collections import cluster_of

    given = signature(fit).bind(None, *args, **kwargs)
    found = given.arguments
    if "X" not in found:  # online learners, which take no rows from elsewhere, say so themselves
        return args, kwargs
    found["X"] = cluster_of(found["X"], found.get("y"), found.get("sample_weight"))
    found.update({name: None for name in ("y", "sample_weight") if name in found})
    return given.args[1:], given.kwargs


def by_rows(method: Method) -> Method:
    """A method that makes something of each row by itself: of a dask collection it makes a dask array."""

    @wraps(method)
    def anywhere(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if is_dask(X) or getattr(X, "predicts_lazily", False):
            from hiperplano.data.cluster.lazily import lazily

            return lazily(self, method.__name__, X, args, kwargs)
        return method(self, X, *args, **kwargs)

    return cast(Method, anywhere)
