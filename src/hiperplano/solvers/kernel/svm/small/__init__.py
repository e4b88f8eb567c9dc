"""Machines of few rows, each in one compiled call."""
