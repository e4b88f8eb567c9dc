"""Binning: a column cut into a few bins by dynamic programming, and their weight of evidence."""
