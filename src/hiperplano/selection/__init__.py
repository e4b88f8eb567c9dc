"""Model selection: paths and cross-validation."""
