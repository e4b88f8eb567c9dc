"""`scan`: rows that stay in their files, for models that need only sums over rows."""

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
    """Rows that stay in their files, for fits and predictions with data larger than memory.

    The tables are read once, to learn how their columns become numbers, and then once for every pass of a fit. (For
    Parquet files of plain numbers, only targets and weights are read before the fit.) The model is the same as for
    these rows in memory.

    Parameters
    ----------
    source : str, Path, sequence of them, pyarrow Dataset, or callable
        Files of Parquet, Arrow (IPC, Feather) or text: one, a folder (also with folders `key=value` in it, whose keys
        become columns), or a pattern such as `sales/*.parquet`. Or a function that yields, every time it is called, the
        same record batches, or arrays X, (X, y) or (X, y, weight).
    target : str or sequence of str, optional
        Column of labels or numbers to learn; several columns for a regression of several targets. None for rows to
        predict.
    columns : sequence of str, optional
        Columns that the model uses; by default all except target and weight.
    weight : str, optional
        Column of the weights of rows.
    kinds : mapping of str to str, optional
        For columns whose kind differs from their type: "numeric", "nominal", "date", or their values from low to high.
        By default numbers are numeric, dates and times dates, texts and booleans nominal.
    like : rows of `scan`, optional
        Rows of another scan: columns and their coding are those learned there. For new rows of a model.
    nan : {"refuse", "missing"}, default="refuse"
        Meaning of NaN in a numeric column: an error, which names the file and the row, or a missing value, like null.
    memory : float, default=256
        Megabytes of memory for the current rows.
    progress : callable or bool, optional
        Called with a `Progress` a few times a second; True shows a line on standard error, as does None at a terminal.
    checkpoint : str or Path, optional
        A file that stores the sums of finished passes and, twice a minute, those of an unfinished one. A fit that was
        killed continues from there when it is run again, and gives the same coefficients.
    separator, decimal : str, optional
        Format of text files; detected from their beginning by default.
    engine : {"stream", "dask"}, default="stream"
        Who reads the rows in the passes of a fit: this process, or the workers of Dask's active scheduler, which must
        see the files under the same names. The first pass always runs in this process.

    Returns
    -------
    Stream or Cluster
        Rows to pass to `fit` and `predict` instead of X, without y.

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
    """Rows of `scan` with uncoded columns, for binning; anything else unchanged."""
    scanned = getattr(rows, "scanned", rows)
    if not hasattr(scanned, "as_they_are"):
        return rows
    plain = scanned.as_they_are()
    return rows if plain is scanned else plain if scanned is rows else _for_engine(plain, "dask")


def kinds_of(rows: Any) -> tuple[Sequence[str], Sequence[tuple[Any, ...] | None]]:
    """Kinds of the columns ("numeric", "date", "categorical"), and the categories that numbers stand for."""
    code: Any = getattr(getattr(rows, "scanned", rows), "code", None)
    if not hasattr(code, "kinds"):
        return ["numeric"] * rows.n_columns, [None] * rows.n_columns
    return code.kinds, code.categories


def _yields_batches(source: Callable[[], Any]) -> bool:
    """Whether a function yields record batches or tables instead of arrays."""
    return next((hasattr(first, "schema") for first in source()), False)


def _refuse_names(**given: Any) -> None:
    """Raise an error for names of columns, which blocks of arrays do not have."""
    for name, value in given.items():
        if value is not None:
            raise InvalidParameter(
                "scan: {name} was given, but the function yields arrays, whose columns have no names. Let it yield X, "
                "(X, y) or (X, y, weight), or record batches.",
                name=name,
            )
