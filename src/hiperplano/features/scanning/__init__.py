"""Tables that are read in every pass, coded as tables in memory are."""
