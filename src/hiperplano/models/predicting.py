"""Predictions for more rows than memory holds, written to a file in blocks."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.data.files import replacing
from hiperplano.data.stream import Stream
from hiperplano.errors import InvalidType, NotInstalled


class PredictsToFile:
    """A model that can write its predictions."""

    def predict_to(self, X: Any, path: str | Path) -> None:
        """Write the predictions for all rows to a Parquet file, a block of rows at a time.

        Its columns are `prediction` and, for a classifier with probabilities, `probability` of each class. The file is
        written completely or not at all.

        Parameters
        ----------
        X : rows of `scan`
            Rows to predict, of which a block is in memory at a time.
        path : str or Path
            Path of the file; an existing file is replaced.
        """
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as problem:
            raise NotInstalled(
                "predict_to writes Parquet with pyarrow, which is not installed. Install it: pip install "
                "'hiperplano[app]'"
            ) from problem
        with replacing(path) as new, closing(_parts(X)) as parts:
            tables = (pa.table(columns) for columns in self._predicted_columns(parts))
            first = next(tables)
            with pq.ParquetWriter(new, first.schema) as writer:
                writer.write_table(first)
                for table in tables:
                    writer.write_table(table.cast(first.schema))

    def _predicted_columns(self, parts: Iterable[Design]) -> Iterator[dict[str, Array]]:
        model: Any = self
        for part in parts:
            predicted = np.asarray(model.predict(part))
            if predicted.ndim == 2:
                yield {f"prediction {k}": predicted[:, k] for k in range(predicted.shape[1])}
                continue
            columns = {"prediction": predicted}
            if hasattr(model, "predict_proba"):
                shares = model.predict_proba(part)
                columns |= {f"probability {label}": shares[:, k] for k, label in enumerate(model.classes_.tolist())}
            yield columns


def _parts(X: Any) -> Generator[Design]:
    if not isinstance(X, Stream):
        raise InvalidType(
            "predict_to takes rows of scan, and this is {kind}. Call predict for rows in memory.", kind=type(X).__name__
        )
    return X.parts()
