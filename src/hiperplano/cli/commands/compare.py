"""`hiperplano compare`."""


def compare() -> None:
    """x."""
