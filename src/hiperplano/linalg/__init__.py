"""Dense linear algebra in memory: triangular and orthogonal factorisations, and conjugate gradients."""
