"""Compiled loops of the online learners."""
