"""Conversion of fitted estimators and pipelines to formulas of columns."""
