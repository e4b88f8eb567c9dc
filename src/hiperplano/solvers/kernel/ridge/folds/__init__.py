"""Kernel ridge regression on folds, for many penalties."""
