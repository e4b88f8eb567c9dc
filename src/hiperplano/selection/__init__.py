"""Choosing among models: paths and cross-validation."""
