"""Online learning with kernels."""
