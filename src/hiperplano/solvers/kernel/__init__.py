"""Machines in the span of kernel functions."""
