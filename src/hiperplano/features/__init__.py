"""Kinds of columns, and their encoding as numbers."""
