"""Solvers of kernel machines."""
