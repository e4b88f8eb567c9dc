"""Report sections for scorecards."""
