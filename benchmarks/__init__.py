"""The race: hiperplano against what people use today, on the same data."""
