"""A fit from a file to its results: split, selection, fit, evaluation, output."""
