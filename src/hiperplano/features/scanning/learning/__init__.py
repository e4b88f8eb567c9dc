"""The first pass over tables: statistics for encoders, targets and weights, and a sample."""
