"""A sample of the rows: a first solution of all of them, and what it tells of their Hessian."""
