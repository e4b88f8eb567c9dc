"""How a minimisation looks at the rows: which passes are in float32."""
