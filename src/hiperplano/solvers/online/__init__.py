"""Online learning: one example at a time."""
