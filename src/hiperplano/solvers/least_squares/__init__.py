"""Least squares and ridge: one pass where that is enough, and more only where accuracy requires it."""
