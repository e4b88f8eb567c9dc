"""A person at a terminal: the command `hiperplano`."""
