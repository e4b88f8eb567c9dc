"""Tables that are read in every pass, with the same coding as tables in memory."""
