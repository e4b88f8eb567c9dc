"""`hiperplano report`."""


def report() -> None:
    """x."""
