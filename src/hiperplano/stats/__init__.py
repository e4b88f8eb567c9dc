"""Knowing how good a fit is: standard errors, tests, residual analysis."""
