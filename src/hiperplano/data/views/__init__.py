"""Views of other designs."""
