"""Solutions from Krylov spaces: of many shifted systems, and in the span of rows."""
