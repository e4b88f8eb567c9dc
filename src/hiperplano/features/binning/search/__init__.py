"""The exact search for the best bins among joined pre-bins."""
