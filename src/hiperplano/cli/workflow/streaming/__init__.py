"""Tables larger than memory: fits and predictions that read a block of rows at a time."""
