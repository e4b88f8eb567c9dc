"""A fitted model as a page: one HTML file to send to a committee."""
