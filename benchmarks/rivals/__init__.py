"""One file for each library: how it turns a problem into an answer. Libraries are imported inside functions."""
