"""Fits to the folds of a cross-validation, for one penalty after another."""
