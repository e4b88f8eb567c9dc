"""`to_sql`: a fitted model as a statement of a database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hiperplano.data.files import write_bytes
from hiperplano.errors import InvalidParameter
from hiperplano.export.formula import Formula
from hiperplano.export.installed import require
from hiperplano.export.reading.models import ColumnNames, column_names, formula_of


def to_sql(
    model: Any,
    table: str,
    *,
    dialect: str = "postgres",
    keep: Sequence[str] = (),
    columns: ColumnNames = None,
    path: str | Path | None = None,
) -> str:
    """A fitted model as one SELECT statement that computes what it predicts.

    Numbers are written with all their digits, and probabilities do not overflow. A row that the model would refuse (an
    empty cell where it knows no value for it, an infinite number) gets NULL in all outputs. Columns whose coefficient
    is 0 are not read.

    Parameters
    ----------
    model : estimator
        Fitted: a linear model, a discriminant analysis or a scorecard of hiperplano, by itself, at the end of a
        scikit-learn pipeline, or as the command `hiperplano fit` saves it.
    table : str
        The table with the columns of the fit, as it is written in SQL: `applicants`, `risk.applicants`, `"My table"`.
    dialect : {"postgres", "duckdb", "sqlite", "bigquery", "snowflake", "tsql"}, default="postgres"
        The database: PostgreSQL, DuckDB, SQLite, BigQuery, Snowflake, or SQL Server from 2022 on.
    keep : sequence of str, default=()
        Columns of the table to pass on, such as its key.
    columns : sequence or mapping of str, optional
        Names of the columns in the table, where they are not those of the fit: all of them in order, or new names by
        the old ones. A model that was fitted without names takes `x0`, `x1`, ….
    path : str or Path, optional
        File to write the statement to, completely or not at all.

    Returns
    -------
    str
        The statement. It selects the kept columns and, for a regressor, `prediction` (`prediction_1`, … for several
        targets); for two classes `score`, `probability` of the second class (where the model has probabilities) and
        `label`, for a scorecard also `points`; for more classes a score and a probability for each, as `score_setosa`,
        and `label`.

    Raises
    ------
    hiperplano.errors.NotAvailable
        If the model, or a step of the pipeline, is not known as a formula.

    Examples
    --------
    >>> from hiperplano import LogisticRegression, to_sql
    >>> model = LogisticRegression(C=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> print(to_sql(model, "applicants", dialect="sqlite", columns=["debt"], keep=["id"]).splitlines()[0])
    -- LogisticRegression: score and probability are those of label 1
    """
    require("sqlglot")
    from hiperplano.export.sql.dialects import find_dialect
    from hiperplano.export.sql.statement import statement

    system, formula = find_dialect(dialect), formula_of(model)
    found = statement(formula, _source(table, dialect), system, column_names(formula, columns), _checked_keep(keep))
    text = _heading(model, formula) + found.sql(dialect=dialect, pretty=True) + "\n"
    if path is not None:
        write_bytes(path, text.encode())
    return text


def _heading(model: Any, formula: Formula) -> str:
    """A comment: which model this is, and of which class the probability is."""
    text = f"-- {type(model).__name__}" if not hasattr(model, "steps") else f"-- {type(model[-1]).__name__}"
    decision = formula.decision
    if decision is not None and formula.scores.n_scores == 1:
        text += f": score and probability are those of label {decision.classes[1]!r}"
    return text + "\n"


def _source(table: str, dialect: str) -> Any:
    """The name of a table, as the database reads it."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        found = parse_one(table, into=exp.Table, dialect=dialect)
    except (SqlglotError, TypeError):
        found = None
    if not isinstance(found, exp.Table) or not found.name or found.alias or not isinstance(found.this, exp.Identifier):
        raise InvalidParameter(
            "table={table!r} is not the name of a table in {dialect}. Write it as in a query, with quotes where it "
            "has blanks or signs.",
            table=table,
            dialect=dialect,
        )
    return found


def _checked_keep(keep: Sequence[str]) -> list[str]:
    names = [keep] if isinstance(keep, str) else list(keep)
    if len({name.casefold() for name in names}) < len(names):
        raise InvalidParameter("keep names a column twice: {names}. Name each once.", names=", ".join(names))
    return names
