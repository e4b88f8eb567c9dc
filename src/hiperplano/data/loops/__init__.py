"""Compiled code that rows need."""
