"""What columns are, and how they become numbers."""
