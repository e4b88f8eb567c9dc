"""Refinement of a solution whose factor is inaccurate, by residuals in float64 or in twice that precision."""
