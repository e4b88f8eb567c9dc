"""How the minimum is found."""
