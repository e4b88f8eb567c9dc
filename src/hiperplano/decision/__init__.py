"""From scores and probabilities to decisions, and what scores mean."""
