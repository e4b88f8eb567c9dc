"""Linear and quadratic discriminants: classes with Gaussian distributions."""
