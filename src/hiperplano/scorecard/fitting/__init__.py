"""Preparation of the rows to which a scorecard's coefficients are fitted."""
