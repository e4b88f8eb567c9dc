"""Where exported models run in tests: PostgreSQL from Debian's package, and onnxruntime."""

import csv
import io
import os
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import numpy as np

from hiperplano import to_onnx, to_sql
from hiperplano.export.formula import cells_in
from hiperplano.export.predictions import Predictions, model_predictions
from hiperplano.export.reading.models import formula_of
from hiperplano.export.sql.tables import ROW, TABLE, plain_columns, with_valid_columns

KINDS = {"number": "double precision", "date": "timestamp", "text": "text", "label": "text"}


class Postgres:
    """A server of its own in a folder, without a network."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs, self.data = folder, programs, folder / "data"
        self.as_user = []
        if os.geteuid() == 0:  # which PostgreSQL refuses
            shutil.chown(folder, "postgres")
            folder.chmod(0o755)
            self.as_user = ["runuser", "-u", "postgres", "--"]
        self._call("initdb", "-D", self.data, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
        options = f"-k {folder} -h '' -c fsync=off"
        self._call("pg_ctl", "-D", self.data, "-w", "-l", folder / "log", "-o", options, "start")

    def _call(self, program, *arguments, **kwargs):
        command = [*self.as_user, str(self.programs / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, cwd=self.folder, check=False, **kwargs)
        assert not done.returncode, done.stderr
        return done.stdout

    def run(self, statements: str) -> list[list[str]]:
        """Names and rows of the last result, as text."""
        options = ["-h", self.folder, "-d", "postgres", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1"]
        said = self._call("psql", *options, input=statements.encode())
        return list(csv.reader(io.StringIO(said.decode())))

    def stop(self):
        self._call("pg_ctl", "-D", self.data, "-m", "immediate", "stop")

    def predictions(self, model, X):
        """What the statement gives, and what the model says."""
        formula = formula_of(model)
        cells = {cell.name: cell for cell in formula.used_cells()}
        expected = model_predictions(model, with_valid_columns(X, formula, set(cells)), formula)
        columns = plain_columns(X, formula.cells, set(cells))
        quoted = ['"' + name.replace('"', '""') + '"' for name in columns]
        types = [_type(cells[name].kind, values) for name, values in columns.items()]
        listed = ", ".join(f"{name} {kind}" for name, kind in zip(quoted, types, strict=True))
        rows = zip(range(expected.n_rows), *columns.values(), strict=True)
        copied = "".join(",".join(map(_cell, row)) + "\n" for row in rows)
        statement = to_sql(model, TABLE, dialect="postgres", keep=[ROW]).rstrip()
        names, *found = self.run(
            f"SET client_min_messages = error; DROP TABLE IF EXISTS {TABLE};\n"
            f"CREATE TABLE {TABLE} ({ROW} integer, {listed});\n"
            f"COPY {TABLE} FROM STDIN WITH (FORMAT csv, NULL '~');\n{copied}\\.\n{statement};\n"
        )
        found.sort(key=lambda row: int(row[0]))
        cells_found = [tuple(None if cell == "" else cell for cell in row) for row in found]
        got = Predictions.of_table(names, cells_found, expected)
        known = {str(label): label for label in expected.labels or []} | {"t": True, "f": False}
        labels = None if got.labels is None else [known.get(label) for label in got.labels]
        return expected, Predictions(got.numbers, labels)


def _type(kind, values) -> str:
    """Booleans as PostgreSQL's own, which the statement has to make texts."""
    booleans = kind == "label" and all(value is None or isinstance(value, bool) for value in values)
    return "boolean" if booleans else KINDS[kind]


def _cell(value) -> str:
    if value is None:
        return "~"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    text = repr(value) if isinstance(value, float) else str(value)
    return '"' + text.replace('"', '""') + '"'


def onnx_predictions(model, X):
    """What onnxruntime gives, and what the model says."""
    import onnxruntime

    formula = formula_of(model)
    expected = model_predictions(model, X, formula)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, feeds(formula, X)), strict=True))
    numbers = {}
    for kind, values in expected.numbers.items():
        one = kind == "probability" and values.shape[1] == 1
        numbers[kind] = (found[kind][:, 1:] if one else found[kind]).reshape(values.shape)
    labels = None
    if expected.labels is not None:  # the first class where the model refuses a row
        refused = expected.refused.tolist()
        labels = [None if gone else label for label, gone in zip(found["label"].tolist(), refused, strict=True)]
    return expected, Predictions(numbers, labels)


def feeds(formula, X):
    """Inputs of the graph, as its documentation states them."""
    if formula.as_array:
        return {"X": np.asarray(X, dtype=np.float64)}
    found = {}
    for cell in cells_in(formula.features):
        values = plain_columns(X, formula.cells, {cell.name})[cell.name]
        if cell.kind in ("text", "label"):
            found[cell.name] = np.array([[_text(value)] for value in values], dtype=object)
        elif cell.kind == "date":
            moments = [np.nan if value is None else np.datetime64(value, "us").astype(np.int64) for value in values]
            found[cell.name] = np.array(moments, dtype=np.float64)[:, None]
        else:
            found[cell.name] = np.array([np.nan if value is None else value for value in values], dtype=float)[:, None]
    return found


def _text(value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
