"""Threads that do not change results."""
