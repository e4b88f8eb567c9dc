"""A model as one SQL statement, and its check in database engines."""
