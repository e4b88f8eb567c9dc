"""Monitoring of a scorecard: comparison of new rows with those of the fit, and of bins between periods."""
