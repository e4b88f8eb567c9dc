"""Sources of tables that are read in batches: a file, a folder, a pattern, several of them, or a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import pyarrow.dataset as arrow_dataset
from pyarrow import fs

from hiperplano.errors import InvalidFile, InvalidType
from hiperplano.tables.batches.formats import ArrowTable, ParquetTable, TextTable
from hiperplano.tables.batches.table import BatchedTable, GivenBatches
from hiperplano.tables.reading import ReadErrors, file_format

_READAHEAD = {"batch_readahead": 1, "fragment_readahead": 1}


def find_tables(
    where: Any, labels: Sequence[str] = (), separator: str | None = None, decimal: str | None = None
) -> list[BatchedTable]:
    """The tables of a source, in a fixed order.

    Parameters
    ----------
    where : str, Path, sequence of them, pyarrow Dataset, or callable
        A file, a folder (its files, also those in folders of the form `key=value`, which become columns), a pattern
        such as `sales/*.parquet`; or a function that yields record batches whenever it is called.
    labels : sequence of str
        Columns of text tables whose integers stay integers.
    separator, decimal : str, optional
        Format of text tables; detected from their beginning by default.
    """
    if callable(where):
        return [GivenBatches(where)]
    if isinstance(where, arrow_dataset.Dataset):
        return _of_dataset(where)
    if isinstance(where, str | Path):
        where = [where]
    if not isinstance(where, Sequence) or not all(isinstance(each, str | Path) for each in where):
        raise InvalidType(
            "A source of rows is a path, a folder, a pattern, a list of them, a pyarrow dataset or a function that "
            "yields batches; this is {kind}. Pass one of these.",
            kind=type(where).__name__,
        )
    paths = list(dict.fromkeys(path for each in where for path in _expanded(str(each))))
    local = fs.LocalFileSystem()
    keys = _partition_keys(paths)
    return [_table_file(path, local, keys.get(path, {}), tuple(labels), separator, decimal) for path in paths]


def _expanded(given: str) -> list[str]:
    """The files of a path, sorted, without hidden ones and markers such as `_SUCCESS`."""
    found = sorted(glob(given, recursive=True)) if has_magic(given) and not Path(given).exists() else [given]
    paths: list[str] = []
    for each in map(Path, found):
        if each.is_dir():
            inside = sorted(path for path in each.rglob("*") if path.is_file())
            paths += [str(path) for path in inside if not _is_hidden(path.relative_to(each))]
        else:
            paths.append(str(each))
    if not paths:
        raise InvalidFile("{file}: there are no files. Check the path.", file=given)
    return paths


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) and "=" not in part for part in path.parts)


def _partition_keys(paths: list[str]) -> dict[str, dict[str, Any]]:
    """Values from folders of the form `key=value` for each file, with one type for each key."""
    if not any("=" in part for path in paths for part in Path(path).parts[:-1]):
        return {}
    first = [path for path in paths if Path(path).stat().st_size]
    if not first:
        return {}
    with ReadErrors(Path(first[0])):
        found = arrow_dataset.dataset(first, format=_dataset_format(first[0]), partitioning="hive")
        return {
            each.path: arrow_dataset.get_partition_keys(each.partition_expression) for each in found.get_fragments()
        }


def _dataset_format(path: str) -> str:
    return {"arrow": "ipc"}.get(name := file_format(Path(path)).name, name)


def _table_file(
    path: str, filesystem: Any, keys: dict[str, Any], labels: tuple[str, ...], separator: Any, decimal: Any
) -> BatchedTable:
    form = file_format(Path(path)).name
    if form == "parquet":
        return ParquetTable(path, filesystem, keys)
    if form == "arrow":
        return ArrowTable(path, filesystem, keys)
    if form == "csv":
        return TextTable(path, filesystem, keys, labels, separator, decimal)
    raise InvalidFile(
        "{file} is a workbook, which cannot be read some rows at a time. Save it as CSV or Parquet.", file=path
    )


def _of_dataset(dataset: Any) -> list[BatchedTable]:
    """The Parquet files of a dataset one by one; any other dataset as one sequence of batches."""
    try:
        fragments = list(dataset.get_fragments())
    except ValueError:  # it has a filter, which only the dataset can apply
        fragments = []
    if fragments and all(isinstance(each, arrow_dataset.ParquetFileFragment) for each in fragments):
        return [
            ParquetTable(each.path, each.filesystem, arrow_dataset.get_partition_keys(each.partition_expression))
            for each in fragments
        ]
    return [GivenBatches(lambda: dataset.to_batches(**_READAHEAD), name="the dataset")]
