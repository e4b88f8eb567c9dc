"""From the rows of a column to at most a hundred pre-bins."""
