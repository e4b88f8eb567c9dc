"""`to_onnx`: a fitted model as an ONNX graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hiperplano.data.files import write_bytes
from hiperplano.export.formula import Decision, Formula, KernelScores, LinearScores
from hiperplano.export.installed import require
from hiperplano.export.reading.models import formula_of


def to_onnx(model: Any, *, path: str | Path | None = None) -> Any:
    """A fitted model as an ONNX model, in double precision throughout.

    A model that takes an array has one input, `X`, of doubles of shape (n, d). A model that takes a table has one input
    of shape (n, 1) for each column, under its name: doubles for numbers, with NaN for missing ones; texts for
    categories (`true` and `false` for booleans, `3` for 3.0), where "" stands for a missing value unless it is a
    category; microseconds since 1970 for dates.

    Parameters
    ----------
    model : estimator
        Fitted: a linear model, a discriminant analysis, a scorecard, or a kernel machine of hiperplano with kernels of
        its own, by itself, at the end of a scikit-learn pipeline, or as the command `hiperplano fit` saves it.
    path : str or Path, optional
        File to write the model to, completely or not at all.

    Returns
    -------
    onnx.ModelProto
        With operators of version 17, which onnxruntime knows from 1.12 on. Outputs: for a regressor `prediction`; for a
        classifier `label`, `score` (as `decision_function` gives it) and, where the model has them, `probability` of
        shape (n, classes); for a scorecard also `points`. A row that the model would reject has NaN as score and
        probability; its label is the first one, since ONNX has no missing label.

    Raises
    ------
    hiperplano.errors.NotAvailable
        If the model, or a step of the pipeline, cannot be written as a formula.

    Examples
    --------
    >>> from hiperplano import LogisticRegression, to_onnx
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> found = to_onnx(model)
    >>> [each.name for each in found.graph.input], [each.name for each in found.graph.output]
    (['X'], ['label', 'score', 'probability'])
    """
    require("onnx")
    import onnx

    from hiperplano.export.onnx.features import FeatureNodes
    from hiperplano.export.onnx.graph import Graph

    formula, graph = formula_of(model), Graph()
    nodes = FeatureNodes.of(graph, formula)
    rows = nodes.write(formula.features)
    scores = _scores(graph, formula, rows)
    if formula.decision is None:
        _output_numbers(graph, "prediction", scores, formula.scores.n_scores)
    else:
        _output_decision(graph, formula.decision, scores, formula.scores.n_scores)
    if formula.points is not None:
        _output_numbers(graph, "points", nodes.write((formula.points,)), 1)
    last = model[-1] if hasattr(model, "steps") else model
    found = graph.model(type(last).__name__, "Written by hiperplano.to_onnx.")
    onnx.checker.check_model(found, full_check=True)
    if path is not None:
        write_bytes(path, found.SerializeToString())
    return found


def _scores(graph: Any, formula: Formula, rows: Any) -> Any:
    """Scores of shape (n, scores); all are NaN in a row with one that is not finite."""
    scores = formula.scores
    if isinstance(scores, LinearScores):
        found = graph.add(
            "Add", graph.add("MatMul", rows, graph.constant(scores.coef.T)), graph.constant(scores.intercept)
        )
    elif isinstance(scores, KernelScores):
        from hiperplano.export.onnx.kernels import kernel_values

        # A kernel of distances is 0, not NaN, for infinite rows, which the model rejects.
        known = graph.add("Where", graph.add("IsInf", rows), graph.constant(np.nan), rows)
        values = kernel_values(scores.kernel, graph, known, scores.fitted)
        product = graph.add("MatMul", values, graph.constant(scores.coef))
        found = graph.add("Add", product, graph.constant(scores.intercept))
    else:
        classes = []
        for mean, matrix, constant in zip(scores.means, scores.whitening, scores.constant, strict=True):
            centred = graph.add("Sub", rows, graph.constant(mean))
            whitened = graph.add("MatMul", centred, graph.constant(matrix))
            squares = graph.add("ReduceSumSquare", whitened, axes=[1], keepdims=1)
            half = graph.add("Mul", squares, graph.constant(0.5))
            classes.append(graph.add("Sub", graph.constant(constant), half))
        found = graph.add("Sub", *classes[::-1]) if len(classes) == 2 else graph.add("Concat", *classes, axis=1)
    total = graph.add("ReduceSum", found, graph.constant([1], np.int64), keepdims=1)
    finite = graph.add("LessOrEqual", graph.add("Abs", total), graph.constant(np.finfo(np.float64).max))
    return graph.add("Where", finite, found, graph.constant(np.nan))


def _output_numbers(graph: Any, name: str, tensor: Any, width: int) -> None:
    from onnx import TensorProto

    if width == 1:
        graph.add_output(name, graph.flat(tensor), TensorProto.DOUBLE, None)
    else:
        graph.add_output(name, tensor, TensorProto.DOUBLE, width)


def _output_decision(graph: Any, decision: Decision, scores: Any, width: int) -> None:
    from onnx import TensorProto

    shares = _probabilities(graph, decision.link, scores, width) if decision.link is not None else None
    if decision.costs is not None:
        expected = graph.add("MatMul", shares, graph.constant(decision.costs.T))
        which = graph.add("ArgMin", expected, axis=1, keepdims=0)
    elif width == 1:
        second = graph.add("Greater", scores, graph.constant(decision.cutoff))
        which = graph.flat(graph.as_index(second))
    else:
        which = graph.add("ArgMax", scores, axis=1, keepdims=0)
    labels, kind = _labels(graph, decision.labels or decision.classes)
    graph.add_output("label", graph.add("Gather", labels, which), kind, None)
    _output_numbers(graph, "score", scores, width)
    if shares is not None:
        graph.add_output("probability", shares, TensorProto.DOUBLE, len(decision.classes))


def _probabilities(graph: Any, link: str, scores: Any, width: int) -> Any:
    if width == 1:
        first = graph.add("Sigmoid", graph.add("Neg", scores))
        return graph.add("Concat", first, graph.add("Sigmoid", scores), axis=1)
    if link == "one-versus-rest":  # the softmax of the logarithms min(score, 0) − log(1 + exp(−|score|))
        small = graph.add("Exp", graph.add("Neg", graph.add("Abs", scores)))
        log = graph.add("Log", graph.add("Add", small, graph.constant(1.0)))
        scores = graph.add("Sub", graph.add("Min", scores, graph.constant(0.0)), log)
    return graph.add("Softmax", scores, axis=1)


def _labels(graph: Any, labels: list[Any]) -> tuple[Any, int]:
    """Labels in the graph, and their type; labels of several types become texts."""
    from onnx import TensorProto

    for kind, code, dtype in (
        (bool, TensorProto.BOOL, np.bool_),
        (int, TensorProto.INT64, np.int64),
        (float, TensorProto.DOUBLE, np.float64),
    ):
        if all(type(label) is kind for label in labels):
            return graph.constant(labels, dtype), code
    return graph.texts([str(label) for label in labels]), TensorProto.STRING
