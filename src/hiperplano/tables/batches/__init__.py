"""Tables that are read some rows at a time: files of Parquet, Arrow and text, and whatever yields record batches."""

from hiperplano.tables.batches.finding import find_tables
from hiperplano.tables.batches.table import BatchedTable

__all__ = ["BatchedTable", "find_tables"]
