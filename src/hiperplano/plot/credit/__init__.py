"""Displays of credit scoring."""
