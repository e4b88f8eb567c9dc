"""The first reading of tables: what encoders need to know, targets and weights, and a sample."""
