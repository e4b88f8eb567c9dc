"""Solutions of many shifted systems from one Krylov space."""
