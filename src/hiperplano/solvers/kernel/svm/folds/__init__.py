"""Machines of all folds of a grid search, which share kernel values."""
