"""Linear separability of two classes, with proofs either way."""
