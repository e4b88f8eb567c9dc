"""Kernel ridge regression: by Cholesky, by conjugate gradients, and by the Nyström approximation."""
