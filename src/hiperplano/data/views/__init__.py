"""Rows seen in another way, wherever they are."""
