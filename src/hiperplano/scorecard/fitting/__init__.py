"""Rows on their way to a scorecard's coefficients."""
