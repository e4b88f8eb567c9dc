"""Machines for pairs of classes, which share kernel values."""
