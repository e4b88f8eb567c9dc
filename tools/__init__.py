"""What the project needs to be written, not to be run."""
