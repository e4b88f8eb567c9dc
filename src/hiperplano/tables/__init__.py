"""Files → columns, without scikit-learn."""
