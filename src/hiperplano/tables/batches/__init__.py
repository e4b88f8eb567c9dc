"""Tables that are read in batches: files of Parquet, Arrow and text, and functions that yield record batches."""

from hiperplano.tables.batches.finding import find_tables
from hiperplano.tables.batches.table import BatchedTable

__all__ = ["BatchedTable", "find_tables"]
