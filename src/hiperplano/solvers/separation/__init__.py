"""Is there a plane between two classes? Proofs either way."""
