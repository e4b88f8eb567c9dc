"""Online learners: models that learn from one example at a time."""
