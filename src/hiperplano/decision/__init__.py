"""From scores to labels, and what scores mean."""
