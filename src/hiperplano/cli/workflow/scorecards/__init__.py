"""Scorecards at the terminal: making, monitoring, explaining."""
