"""Fits to the training rows of a cross-validation, for a sequence of penalties."""
