"""The command line: `hiperplano`."""
