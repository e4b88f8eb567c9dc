"""Samples of the rows, for a starting point and an approximate Hessian."""
