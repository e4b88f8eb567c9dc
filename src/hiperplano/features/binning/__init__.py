"""Binning: the values of a column in few bins, chosen by dynamic programming, and their weight of evidence."""
