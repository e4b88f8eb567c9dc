"""Cross-validation of kernel ridge regression, for many penalties."""
