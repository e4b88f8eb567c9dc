"""Support vector machines with a parameter nu: dual problems with two equality constraints."""
