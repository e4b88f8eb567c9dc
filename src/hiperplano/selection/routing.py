"""Arguments of `fit` for the splitter and the scorer, by scikit-learn's metadata routing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from hiperplano.data.design import Array
from hiperplano.errors import InvalidParameter


class Routed(NamedTuple):
    """Arguments for the splitter and for the scorer. None for the scorer means: only weights, if it accepts them."""

    split: dict[str, Any]
    score: dict[str, Any] | None


def route(model: Any, sample_weight: Any, params: dict[str, Any]) -> Routed:
    """Route the arguments of `fit` to those that requested them.

    Without metadata routing, `groups` goes to the splitter, and no other argument is accepted.

    Parameters
    ----------
    model : estimator
        Estimator with a method `get_metadata_routing`.
    params : dict
        Arguments of `fit` besides X, y and sample_weight.
    """
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(model, "fit", sample_weight=sample_weight, **params)
        return Routed(dict(routed.splitter.split), dict(routed.scorer.score))
    refuse_unrouted(model, "fit", set(params) - {"groups"})
    return Routed({name: value for name, value in params.items() if value is not None}, None)


def refuse_unrouted(model: Any, method: str, names: Iterable[str]) -> None:
    """Raise an error for arguments that only metadata routing could pass on."""
    unknown = sorted(names)
    if unknown:
        raise InvalidParameter(
            "{model}.{method} got [{names}], which is only supported if enable_metadata_routing=True. Leave them out, "
            "or turn routing on: sklearn.set_config(enable_metadata_routing=True).",
            model=type(model).__name__,
            method=method,
            names=", ".join(unknown),
        )


def of_rows(values: Any, rows: Array) -> Any:
    """Entries for some rows, from an argument with one entry for each row."""
    return np.asarray(values)[rows] if hasattr(values, "__len__") and not isinstance(values, str) else values


def routing_of(model: Any) -> Any:
    """The routing of a model with a splitter `cv` and a `scoring`, which `score` uses, too."""
    scorer = None if model.scoring is None else get_scorer(model.scoring)
    mapping = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
    router = MetadataRouter(owner=model).add_self_request(model)
    router = router.add(splitter=model.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
    return router.add(scorer=scorer, method_mapping=mapping)
