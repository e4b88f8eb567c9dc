"""Ridge for many penalties: paths, folds, leaving one row out."""
