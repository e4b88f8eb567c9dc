"""A fit from a file to its results: split, select, fit, evaluate, tell."""
