"""Scorecards at the terminal: creation, monitoring, explanation."""
