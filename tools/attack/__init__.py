"""Drawn inputs: tables of every kind and size, fitted, and judged by an independent solve.

    uv run python -m tools.attack --draws 20000

Every case must end in a right and finite answer or in one error of ours. Each failure is printed as a case that can be
run again: `python -m tools.attack --case "Case(...)"`.
"""
