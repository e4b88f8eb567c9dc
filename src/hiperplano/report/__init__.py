"""The HTML report of a fitted model, in one file."""
