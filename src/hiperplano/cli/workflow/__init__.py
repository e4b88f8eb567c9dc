"""From a table to a fitted, judged and saved model: what the subcommands do."""
