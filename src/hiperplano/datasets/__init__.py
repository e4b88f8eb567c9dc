"""Generated tables for examples, with a fixed seed."""

from hiperplano.datasets.credit import load_credit_line
from hiperplano.datasets.credit_default import load_credit_default

__all__ = ["load_credit_default", "load_credit_line"]
