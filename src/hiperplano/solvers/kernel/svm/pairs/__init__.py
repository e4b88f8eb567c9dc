"""One-versus-one machines, which share kernel values."""
