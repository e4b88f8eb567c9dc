"""The map of speed: cells drawn from the space of tables that users bring, and what each library takes for them."""
