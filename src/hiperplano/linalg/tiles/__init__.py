"""Large symmetric matrices in square tiles: half the memory, with products and Cholesky factors in threads."""
