"""Optimisation algorithms: how the models are fitted."""
