"""Tables that do not fit into memory: fits and predictions that read them some rows at a time."""
