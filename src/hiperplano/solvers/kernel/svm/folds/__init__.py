"""Grid search with kernel machines, whose folds share kernel values."""
