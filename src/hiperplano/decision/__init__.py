"""From scores and probabilities to decisions."""
