"""Class labels: their codes, their weights, and what is wrong with a target that has none."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from hiperplano.data.design import Array, Design
from hiperplano.errors import InvalidTarget


def encode_labels(design: Design) -> tuple[Array, Array]:
    """The sorted classes of a design's target, and the number of its class for every row.

    A class whose rows all have weight 0 is still a class; solvers that need every class to weigh something
    check that themselves.
    """
    labels = design.y[:, 0]
    kind = type_of_target(labels, input_name="y")
    if kind not in ("binary", "multiclass"):
        values = len(np.unique(labels)) if kind.startswith("continuous") else 0
        seen = f"{values} different numbers with fractions" if values else kind
        raise InvalidTarget(
            f"Unknown label type: {kind}. y holds {seen}: this looks like a regression target; a classifier needs "
            "classes. Use a regressor, or cut the numbers into classes first."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InvalidTarget(
            f"y holds one class ({classes.tolist()[0]!r} in all {design.n_rows} rows); a classifier needs 2 classes or more. "
            "Check the target column."
        )
    return classes, codes


def label_weight(design: Design, class_weight: Any) -> Array | None:
    """The weights of the rows times those of their classes; None for equal weights of one.

    "balanced" counts rows by their weights, so that a weight of 2 still equals two rows.
    """
    if class_weight is None:
        return design.weight
    labels = design.y[:, 0]
    if isinstance(class_weight, str) and class_weight == "balanced" and design.weight is not None:
        classes, codes = np.unique(labels, return_inverse=True)
        mass = np.bincount(codes, weights=design.weight)
        share = np.where(mass > 0, design.weight.sum() / (len(classes) * np.where(mass > 0, mass, 1.0)), 0.0)
        return np.asarray(design.weight * share[codes])
    by_class = np.asarray(compute_sample_weight(class_weight, labels))
    return by_class if design.weight is None else design.weight * by_class
