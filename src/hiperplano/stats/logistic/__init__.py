"""Standard errors and tests of logistic models."""
