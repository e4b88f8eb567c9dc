"""Nodes of an ONNX graph, added one by one; numbers are doubles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from hiperplano.data.design import Array

OPSET, ML_OPSET, IR_VERSION = 17, 2, 8

Tensor = str
"""The name of a tensor in the graph."""


@dataclass
class Graph:
    """A graph under construction."""

    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    count: int = 0

    def _name(self, kind: str) -> Tensor:
        self.count += 1
        return f"{kind}_{self.count}"

    def add_input(self, name: str, kind: int, width: int) -> Tensor:
        """An input of shape (n, width).

        Parameters
        ----------
        kind : int
            A type of `TensorProto`.
        """
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["n", width]))
        return name

    def add_output(self, name: str, tensor: Tensor, kind: int, width: int | None) -> None:
        """An output of shape (n,), or (n, width)."""
        self.nodes.append(helper.make_node("Identity", [tensor], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, ["n"] if width is None else ["n", width]))

    def constant(self, values: Any, dtype: Any = np.float64) -> Tensor:
        """An array in the graph."""
        name = self._name("constant")
        array: Array = np.asarray(values, dtype=dtype)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def texts(self, values: list[str]) -> Tensor:
        """A vector of texts in the graph."""
        name = self._name("constant")
        encoded: Any = [value.encode() for value in values]
        self.constants.append(helper.make_tensor(name, TensorProto.STRING, [len(values)], encoded))
        return name

    def add(self, operation: str, *inputs: Tensor, domain: str = "", **attributes: Any) -> Tensor:
        """A node with one output."""
        name = self._name(operation)
        self.nodes.append(helper.make_node(operation, list(inputs), [name], domain=domain, **attributes))
        return name

    def as_double(self, tensor: Tensor) -> Tensor:
        """Booleans as 0 and 1."""
        return self.add("Cast", tensor, to=TensorProto.DOUBLE)

    def as_index(self, tensor: Tensor) -> Tensor:
        """Integers."""
        return self.add("Cast", tensor, to=TensorProto.INT64)

    def flat(self, tensor: Tensor) -> Tensor:
        """(n, 1) → (n,)."""
        return self.add("Squeeze", tensor, self.constant([1], np.int64))

    def model(self, name: str, description: str) -> Any:
        """The finished model."""
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.constants, doc_string=description)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="hiperplano")
