"""Sequential minimal optimisation of dense problems, compiled."""
