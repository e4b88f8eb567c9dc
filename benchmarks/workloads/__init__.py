"""One file for each workload; its name is the file's, and it is found by listing this folder."""
