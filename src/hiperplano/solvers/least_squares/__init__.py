"""Least squares and ridge: one pass where that is enough, and more only where the numbers ask for it."""
