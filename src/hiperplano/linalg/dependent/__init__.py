"""Linearly dependent rows or columns, and the independent ones among them."""
