"""Calls of a model with dask collections: a fit gets rows on the cluster, a prediction stays a dask array."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from hiperplano.data.cluster import is_dask
from hiperplano.data.design import Design

Model = TypeVar("Model")
Rest = ParamSpec("Rest")
Result = TypeVar("Result")


def with_rows_on_cluster(
    fit: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a fit; dask's X, y and sample_weight become one design, which brings all three along."""
    if not is_dask(args[0] if args else kwargs.get("X")):
        return args, kwargs
    from hiperplano.data.cluster.collections import cluster_of

    given = signature(fit).bind(None, *args, **kwargs)
    given.arguments["X"] = cluster_of(
        given.arguments["X"], given.arguments.pop("y", None), given.arguments.pop("sample_weight", None)
    )
    given.apply_defaults()
    return given.args[1:], given.kwargs


def by_rows(
    method: Callable[Concatenate[Model, Any, Rest], Result],
) -> Callable[Concatenate[Model, Any, Rest], Result]:
    """A method that makes something of each row by itself: of a dask collection it makes a dask array, when computed."""

    @wraps(method)
    def anywhere(self: Model, X: Any, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Result:
        if is_dask(X):
            from hiperplano.data.cluster.lazily import lazily

            return lazily(self, method.__name__, X, args, kwargs)
        return method(self, X, *args, **kwargs)

    return anywhere
