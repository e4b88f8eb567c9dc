"""Models that learn one example at a time."""
