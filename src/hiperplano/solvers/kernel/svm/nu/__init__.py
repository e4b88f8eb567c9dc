"""Machines with a share nu of support vectors: dual problems with two sums that are kept."""
