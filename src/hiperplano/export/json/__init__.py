"""A scorecard as a JSON document for review, and back."""
