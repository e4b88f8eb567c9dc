"""Sums over rows for the likelihood, and passes in float32."""
