"""A scorecard in use: what it was fitted to, what it meets now, and whether bins keep their order."""
