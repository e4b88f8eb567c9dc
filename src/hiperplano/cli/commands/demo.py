"""`hiperplano demo`."""


def demo() -> None:
    """x."""
