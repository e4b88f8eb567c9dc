"""The words a person reads at the terminal and in the report, in their language."""
