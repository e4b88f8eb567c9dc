"""Tables made for examples: generated, with a fixed seed."""

from hiperplano.datasets.credit import load_credit_line

__all__ = ["load_credit_line"]
