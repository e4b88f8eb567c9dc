"""Kernels as ONNX nodes: kernel values of rows with the rows of a fit."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.errors import NotAvailable
from hiperplano.export.onnx.graph import Graph, Tensor
from hiperplano.kernels.algebra import Constant, Product, Sum
from hiperplano.kernels.distance import RBF, Laplacian
from hiperplano.kernels.inner_product import Exponential, Linear, Polynomial, Sigmoid
from hiperplano.kernels.width import width


@singledispatch
def kernel_values(kernel: Any, graph: Graph, rows: Tensor, fitted: Array) -> Tensor:
    """Kernel values of every row with every row of the fit, of shape (n, rows of the fit).

    Parameters
    ----------
    fitted : ndarray of shape (rows of the fit, d)
    """
    raise NotAvailable(
        "the kernel {kernel} cannot be exported: it is not known as a formula. Use a linear, polynomial, exponential, "
        "sigmoid, radial (RBF) or Laplacian kernel, or sums and products of them.",
        kernel=type(kernel).__name__,
    )


@kernel_values.register
def _(kernel: Linear, graph: Graph, rows: Tensor, fitted: Array) -> Tensor:
    return graph.add("MatMul", rows, graph.constant(fitted.T))


@kernel_values.register
def _(kernel: Polynomial, graph: Graph, rows: Tensor, fitted: Array) -> Tensor:
    return graph.add("Pow", _affine(kernel, kernel.coef0, graph, rows, fitted), graph.constant(float(kernel.degree)))


@kernel_values.register
def _(kernel: Exponential, graph: Graph, rows: Tensor, fitted: Array) -> Tensor:
    return graph.add("Exp", _affine(kernel, 0.0, graph, rows, fitted))


@kernel_values.register
def _(kernel: Sigmoid, graph: Graph, rows: Tensor, fitted: Array) -> Tensor:
    return graph.add("Tanh", _affine(kernel, kernel.coef0, graph, rows, fitted))


def _affine(kernel: Any, constant: float, graph: Graph, rows: Tensor, fitted: Array) -> Tensor:
    products = graph.add("MatMul", rows, graph.constant(width(kernel) * fitted.T))
    return graph.add("Add", products, graph.constant(constant))


@kernel_values.register
def _(kernel: RBF, graph: Graph, rows: Tensor, fitted: Array) -> Tensor:
    """exp(−gamma·‖x − z‖²), with rows relative to the mean of the fit, which keeps the squares small."""
    centre = fitted.mean(axis=0)
    centred, own = graph.add("Sub", rows, graph.constant(centre)), fitted - centre
    squares = graph.add("ReduceSumSquare", centred, axes=[1], keepdims=1)
    both = graph.add("Add", squares, graph.constant(np.einsum("ij,ij->i", own, own)[None, :]))
    distances = graph.add("Sub", both, graph.add("MatMul", centred, graph.constant(2.0 * own.T)))
    positive = graph.add("Max", distances, graph.constant(0.0))
    return graph.add("Exp", graph.add("Mul", positive, graph.constant(-width(kernel))))


@kernel_values.register
def _(kernel: Laplacian, graph: Graph, rows: Tensor, fitted: Array) -> Tensor:
    apart = graph.add("Sub", graph.add("Unsqueeze", rows, graph.constant([1], np.int64)), graph.constant(fitted[None]))
    distances = graph.add("ReduceSum", graph.add("Abs", apart), graph.constant([2], np.int64), keepdims=0)
    return graph.add("Exp", graph.add("Mul", distances, graph.constant(-width(kernel))))


@kernel_values.register
def _(kernel: Constant, graph: Graph, rows: Tensor, fitted: Array) -> Tensor:
    zeros = graph.add("MatMul", rows, graph.constant(np.zeros(fitted.T.shape)))
    return graph.add("Add", zeros, graph.constant(float(kernel.value)))


@kernel_values.register(Sum)
@kernel_values.register(Product)
def _(kernel: Any, graph: Graph, rows: Tensor, fitted: Array) -> Tensor:
    left, right = (kernel_values(each, graph, rows, fitted) for each in (kernel.left, kernel.right))
    return graph.add("Add" if isinstance(kernel, Sum) else "Mul", left, right)
