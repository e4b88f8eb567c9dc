"""Input: validation (`validate`), and designs, which provide solvers with sums over rows."""

from hiperplano.data.design import Block, Design
from hiperplano.data.validate import validate, validate_rows

__all__ = ["Block", "Design", "validate", "validate_rows"]
