"""Models as PMML documents."""
