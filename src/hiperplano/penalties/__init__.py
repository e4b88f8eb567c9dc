"""Penalties on coefficients."""

from hiperplano.penalties.l2 import L2

__all__ = ["L2"]
