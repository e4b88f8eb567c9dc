"""From a table to a fitted, evaluated and saved model: what the subcommands do."""
