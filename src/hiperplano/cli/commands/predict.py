"""`hiperplano predict`."""


def predict() -> None:
    """x."""
