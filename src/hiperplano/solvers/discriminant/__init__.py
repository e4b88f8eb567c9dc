"""Gaussian classes."""
