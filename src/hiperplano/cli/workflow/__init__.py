"""The work of the subcommands: from a table to a fitted, evaluated and saved model."""
