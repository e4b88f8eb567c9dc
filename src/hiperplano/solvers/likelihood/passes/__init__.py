"""Passes over the rows in float32."""
