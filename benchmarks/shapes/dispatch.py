"""The contenders of a cell and what they are judged by: of linear models, or of kernel machines."""

from __future__ import annotations

from typing import Any

from benchmarks.shapes import contenders
from benchmarks.shapes.cells import Cell
from benchmarks.shapes.contenders import Contender
from benchmarks.shapes.kernel_cells import MODELS, kernel_objective, kernel_ours, kernel_rivals
from benchmarks.shapes.tables import Table


def ours(cell: Cell) -> Contender:
    return kernel_ours(cell) if cell.model in MODELS else contenders.ours(cell)


def rivals(cell: Cell) -> list[Contender]:
    return kernel_rivals(cell) if cell.model in MODELS else contenders.rivals(cell)


def objective(cell: Cell, table: Table, model: Any) -> float:
    return kernel_objective(cell, table, model) if cell.model in MODELS else contenders.objective(cell, table, model)
