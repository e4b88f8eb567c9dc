"""Kernel support vector machines, with a duality gap."""
