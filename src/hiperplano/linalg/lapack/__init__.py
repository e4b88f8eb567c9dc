"""LAPACK without the GIL."""
