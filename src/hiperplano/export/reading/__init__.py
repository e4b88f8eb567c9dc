"""Fitted estimators and pipelines → formulas of columns."""
