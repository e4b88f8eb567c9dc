"""Reading of files as columns, without scikit-learn."""
