"""Dense linear algebra on the host: triangular and orthogonal factorisations, and conjugate gradients."""
