"""Files → columns. Nothing here needs scikit-learn, so that reading can begin while that is still being imported."""
