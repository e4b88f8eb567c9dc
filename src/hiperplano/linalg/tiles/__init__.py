"""Symmetric matrices of many rows in square tiles: half the memory, products and Cholesky factors in threads."""
