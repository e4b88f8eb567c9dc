"""A scorecard as a JSON document that people review, and back."""
