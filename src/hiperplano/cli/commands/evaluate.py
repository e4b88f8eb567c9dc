"""`hiperplano evaluate`."""


def evaluate() -> None:
    """x."""
