"""Kernel machines, and features that approximate kernels."""
