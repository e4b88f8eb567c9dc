"""Scorecards on a page."""
