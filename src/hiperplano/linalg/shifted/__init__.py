"""A symmetric matrix plus many multiples of the identity: their inverses from one reduction."""
