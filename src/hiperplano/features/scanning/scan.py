"""`scan`: rows that stay in their files, for models that ask for sums of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiperplano.data.parameters import check_number
from hiperplano.data.stream import Settings, Stream
from hiperplano.data.stream.arrays import stream_of_arrays
from hiperplano.data.stream.checkpoint import Checkpoint
from hiperplano.data.stream.progress import Progress, watcher_for
from hiperplano.errors import InvalidParameter, NotInstalled
from hiperplano.features.columns import Column

if TYPE_CHECKING:
    from hiperplano.features.scanning.rows import ScannedRows

_MEGABYTE = 2**20


def scan(
    source: Any,
    target: str | Sequence[str] | None = None,
    columns: Sequence[str | Column] | None = None,
    weight: str | None = None,
    *,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    like: ScannedRows | None = None,
    nan: str = "refuse",
    memory: float = 256,
    progress: Callable[[Progress], Any] | bool | None = None,
    checkpoint: str | Path | Checkpoint | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    engine: str = "stream",
) -> Any:
    """Rows that stay where they are, for fits and predictions: they may be more than memory holds.

    The tables are read once, to learn how their columns become numbers, and then once for every pass of a fit. (Of
    Parquet files of plain numbers only targets and weights are read before the fit.) The model is that of the same rows
    in memory.

    Parameters
    ----------
    source : str, Path, sequence of them, pyarrow Dataset, or callable
        Files of Parquet, Arrow (IPC, Feather) or text: one, a folder (also with folders `key=value` in it, whose keys
        become columns), or a pattern such as `sales/*.parquet`. Or a function that yields, every time it is called, the
        same record batches, or arrays X, (X, y) or (X, y, weight).
    target : str or sequence of str, optional
        Column of the labels or numbers to be learned; several for a regression of several targets. None for rows to
        predict.
    columns : sequence of str, optional
        Columns that the model sees; all others but target and weight by default.
    weight : str, optional
        Column of the weights of rows.
    kinds : mapping of str to str, optional
        For columns that are not what their type says: "numeric", "nominal", "date", or their values from low to high.
        By default numbers are numeric, dates and times dates, texts and booleans nominal.
    like : rows of `scan`, optional
        Rows of another scan: columns and their coding are those learned there. For new rows of a model.
    nan : {"refuse", "missing"}, default="refuse"
        What NaN in a column of numbers is: a mistake, of which the reading that comes to it names file and row, or a
        missing value as nulls are.
    memory : float, default=256
        Megabytes for the rows in hand.
    progress : callable or bool, optional
        Is told of a `Progress` a few times a second; True shows a line on standard error, as None does at a terminal.
    checkpoint : str or Path, optional
        A file that keeps the sums of finished passes, and twice a minute those of an unfinished one: a fit that was
        killed, run again, goes on from there to the same coefficients.
    separator, decimal : str, optional
        Of text files; found by looking at their beginning by default.
    engine : {"stream", "dask"}, default="stream"
        Who reads in the passes of a fit: this process, or the workers of Dask's active scheduler, chunk by chunk. They
        must see the files under the same names. The first reading is done here.

    Returns
    -------
    Stream or Cluster
        To be passed to `fit` and `predict` in the place of X, with no y.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import LinearRegression, scan
    >>> def blocks():
    ...     for k in range(3):
    ...         X = np.arange(8.0).reshape(4, 2) ** 2 + k
    ...         yield X, X @ [1.0, 2.0]
    >>> rows = scan(blocks)
    >>> rows.n_rows
    12
    >>> LinearRegression().fit(rows).coef_.round(6)
    array([1., 2.])
    """
    if nan not in ("refuse", "missing"):
        raise InvalidParameter("scan: nan={nan!r}; it must be 'refuse' or 'missing'. Set one of them.", nan=nan)
    if engine not in ("stream", "dask"):
        raise InvalidParameter(
            "scan: engine={engine!r}; it must be 'stream' or 'dask'. Set one of them.", engine=engine
        )
    like = getattr(like, "scanned", like)
    settings = Settings(
        int(check_number("scan", "memory", memory, 0.0, math.inf, open_low=True) * _MEGABYTE),
        watcher_for(progress),
        checkpoint if checkpoint is None or isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint),
    )
    if callable(source) and not _yields_batches(source):
        _refuse_names(target=target, columns=columns, weight=weight, kinds=kinds, like=like)
        return _for_engine(stream_of_arrays(source, settings), engine)
    try:
        from hiperplano.features.scanning.rows import scan_tables, wanted_columns
        from hiperplano.tables.batches import find_tables
        from hiperplano.tables.batches.table import typed_table
    except ImportError as problem:
        raise NotInstalled(
            "scan reads tables with pyarrow, which is not installed. Install it: pip install 'hiperplano[app]'"
        ) from problem
    targets = [] if target is None else [target] if isinstance(target, str) else list(target)
    tables = find_tables(source, targets, separator, decimal)
    wanted = wanted_columns(typed_table(tables), targets, columns, weight, kinds or {}, like)
    one_target = len(targets) < 2 and isinstance(target, str)
    return _for_engine(scan_tables(tables, wanted, settings, like, nan == "missing", one_target), engine)


def _for_engine(rows: Stream, engine: str) -> Any:
    if engine == "stream":
        return rows
    try:
        from hiperplano.data.cluster.of_stream import on_workers
    except ImportError as problem:
        raise NotInstalled(
            "scan with engine='dask' needs Dask, which is not installed. Install it: pip install 'hiperplano[dask]'"
        ) from problem
    found: Any = on_workers(rows)
    found.scanned = rows  # for `like`
    return found


def as_they_are(rows: Any) -> Any:
    """Rows of `scan` with the columns of their tables as they are, which bins need; all others unchanged."""
    scanned = getattr(rows, "scanned", rows)
    if not hasattr(scanned, "as_they_are"):
        return rows
    plain = scanned.as_they_are()
    return rows if plain is scanned else plain if scanned is rows else _for_engine(plain, "dask")


def kinds_of(rows: Any) -> tuple[Sequence[str], Sequence[tuple[Any, ...] | None]]:
    """What the columns of rows are ("numeric", "date", "categorical"), and what the numbers of categories stand for."""
    code: Any = getattr(getattr(rows, "scanned", rows), "code", None)
    if not hasattr(code, "kinds"):
        return ["numeric"] * rows.n_columns, [None] * rows.n_columns
    return code.kinds, code.categories


def _yields_batches(source: Callable[[], Any]) -> bool:
    """Whether a function yields record batches or tables, and not arrays."""
    return next((hasattr(first, "schema") for first in source()), False)


def _refuse_names(**given: Any) -> None:
    """Blocks of arrays have no names of columns."""
    for name, value in given.items():
        if value is not None:
            raise InvalidParameter(
                "scan: {name} was given, but the function yields arrays, whose columns have no names. Let it yield X, "
                "(X, y) or (X, y, weight), or record batches.",
                name=name,
            )
