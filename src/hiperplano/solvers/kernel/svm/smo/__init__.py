"""Compiled sequential minimal optimisation (SMO) of dense problems."""
