"""`hiperplano separable`."""


def separable() -> None:
    """x."""
