"""Solvers of kernel support vector machines, which prove their solutions by a duality gap."""
