"""Statistical inference: standard errors, tests, residual analysis."""
