"""Small machines, each solved in one compiled call."""
