"""Online learning in the span of kernel functions."""
