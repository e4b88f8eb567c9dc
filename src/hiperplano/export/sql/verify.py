"""`verify_sql`: runs the statement in database engines, and compares every row with the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.errors import InvalidParameter
from hiperplano.export.predictions import Predictions, model_predictions
from hiperplano.export.reading.models import formula_of
from hiperplano.export.sql.tables import ROW, TABLE, plain_columns, run_duckdb, run_sqlite, with_valid_columns
from hiperplano.export.sql.writing import to_sql
from hiperplano.messages import Message

_ENGINES = {"duckdb": run_duckdb, "sqlite": run_sqlite}


@dataclass(frozen=True)
class SqlCheck:
    """Row-by-row comparison of a model and its statement.

    Attributes
    ----------
    agrees : bool
        Whether no row differs, in any engine.
    n_rows : int
        Rows compared.
    n_refused : int
        Rows that the model rejects because of a column that the statement reads; the statement must give NULL for them.
    largest_difference : dict of str to float
        By engine: of scores, predictions and probabilities, relative to scores beyond 1.
    differing_rows : dict of str to list of int
        By engine: numbers of the rows in which a number differs by more than the tolerance, or the label or NULL
        differs.
    tolerance : float
        The largest difference allowed.

    Examples
    --------
    >>> from hiperplano import LogisticRegression, verify_sql
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> check = verify_sql(LogisticRegression().fit(X, y), X)
    >>> check.agrees, check.differing_rows
    (True, {'duckdb': [], 'sqlite': []})
    """

    n_rows: int
    n_refused: int
    largest_difference: dict[str, float]
    differing_rows: dict[str, list[int]]
    tolerance: float

    @property
    def agrees(self) -> bool:
        return not any(self.differing_rows.values())

    def __bool__(self) -> bool:
        return self.agrees

    @property
    def status(self) -> Message:
        """The result as a sentence."""
        counts = {"n": self.n_rows, "refused": self.n_refused}
        if self.agrees:
            return Message(
                "{n} rows compared, {refused} refused: {engines} agree with the model (largest difference {most:.1e}).",
                engines=", ".join(self.largest_difference),
                most=max(self.largest_difference.values(), default=0.0),
                **counts,
            )
        engine, rows = next((engine, rows) for engine, rows in self.differing_rows.items() if rows)
        return Message(
            "{n} rows compared, {refused} refused: {engine} differs from the model in {k} of them, first in row {row} "
            "(largest difference {most:.1e}). Look at these rows before the statement is used.",
            engine=engine,
            k=len(rows),
            row=rows[0],
            most=self.largest_difference[engine],
            **counts,
        )

    def __str__(self) -> str:
        return str(self.status)


def verify_sql(
    model: Any, X: Any, *, engines: Sequence[str] = ("duckdb", "sqlite"), tolerance: float | None = None
) -> SqlCheck:
    """Run the statement of `to_sql` in database engines, and compare every row with the model.

    Parameters
    ----------
    model : estimator
        A fitted model, as in `to_sql`.
    X : array-like or table of shape (n, d)
        Rows for the model; they may include rows that it rejects, for which the statement must give NULL.
    engines : sequence of {"duckdb", "sqlite"}, default=("duckdb", "sqlite")
        Engines to run it in.
    tolerance : float, optional
        Largest difference of a score, prediction or probability, relative to scores beyond 1; by default 1e-9, or 1e-5
        for models whose coefficients are float32, in which Python then computes. A label may differ where scores are
        that close to a tie.

    Returns
    -------
    SqlCheck
        True in a condition if all rows agree; with the largest difference and the rows that differ.

    Examples
    --------
    >>> from hiperplano import LogisticRegression, verify_sql
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> check = verify_sql(LogisticRegression().fit(X, y), [[0.5], [float("nan")]])
    >>> check.agrees, check.n_refused
    (True, 1)
    """
    unknown = [engine for engine in engines if engine not in _ENGINES]
    if unknown or not engines:
        raise InvalidParameter(
            "engines={engines!r}; they must be some of {known}. Choose among them.",
            engines=list(engines),
            known=", ".join(_ENGINES),
        )
    if tolerance is None:
        tolerance = 1e-5 if _is_single(model) else 1e-9
    formula = formula_of(model)
    used = {cell.name for cell in formula.used_cells()}
    expected = model_predictions(model, with_valid_columns(X, formula, used), formula)
    columns = plain_columns(X, formula.cells, used)
    largest, differing = {}, {}
    for engine in engines:
        text = to_sql(model, TABLE, dialect=engine, keep=[ROW])
        names, rows = _ENGINES[engine](columns, expected.n_rows, text)
        rows.sort(key=lambda row: row[names.index(ROW)])
        found = Predictions.of_table(names, rows, expected)
        largest[engine], differing[engine] = expected.compare(found, tolerance)
    return SqlCheck(expected.n_rows, int(expected.refused.sum()), largest, differing, tolerance)


def _is_single(model: Any) -> bool:
    last = model[-1] if hasattr(model, "steps") else model
    return getattr(getattr(last, "coef_", None), "dtype", None) == np.float32
