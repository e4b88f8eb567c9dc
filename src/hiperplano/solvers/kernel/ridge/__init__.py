"""Kernel ridge regression: exact, by conjugate gradients, and in the span of a few rows."""
