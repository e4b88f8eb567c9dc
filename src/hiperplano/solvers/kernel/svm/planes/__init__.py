"""Kernel machines as planes in the features of their kernel."""
