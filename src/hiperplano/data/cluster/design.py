"""Rows in the partitions of a dask collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, Self

import numpy as np
from dask.delayed import Delayed, delayed
from scipy.sparse import csr_array, vstack

from hiperplano.data.block import Array, Block
from hiperplano.data.cluster.passes import computed, kept, shipped, tree
from hiperplano.data.cluster.tasks import (
    Place,
    Reader,
    Work,
    as_column,
    chosen_rows,
    read_weighted,
    row_values,
    sums,
    sums_and_rows,
    with_weight,
)
from hiperplano.data.design import Design, Rows, RowVector, Statistic, Sums, add
from hiperplano.data.in_memory import InMemory
from hiperplano.messages import Message


@dataclass(frozen=True)
class Pieces:
    """A row vector: one piece for each partition, where that lies.

    Attributes
    ----------
    parts : tuple of Delayed
        Arrays of shape (m,) or (m, k), or mappings that hold them.
    width : tuple of int
        () or (k,).
    key : str, optional
        Under which mappings hold them.
    """

    parts: tuple[Delayed, ...]
    width: tuple[int, ...]
    key: str | None = None

    def arrays(self) -> list[Delayed]:
        """The pieces as arrays."""
        return list(self.parts) if self.key is None else [part[self.key] for part in self.parts]

    def some(self, which: Sequence[int]) -> Pieces:
        """The pieces of some partitions."""
        return replace(self, parts=tuple(self.parts[one] for one in which))


class Cluster(Design):
    """Rows in partitions that Dask's scheduler hands to its workers, with their row vectors.

    A pass is one graph. It runs on the scheduler that is active: threads, processes, or a cluster with a client. Rows
    that were persisted stay where they are, others are read again in every pass. Row vectors stay with the worker that
    made them; only sums travel.

    Parameters
    ----------
    parts : sequence of Delayed
        The rows of every partition, as `reader` takes them.
    lengths : sequence of int
        Rows in every partition, none of them 0.
    reader : Reader
    vectors : mapping of str to Pieces
        With the target "y", of shape (m, targets), and "weight" unless all weights are one.
    places : sequence of Place
        Where partitions lie in the table that came in.
    names, one_target, density
        As in `Design`.
    """

    def __init__(
        self,
        parts: Sequence[Delayed],
        lengths: Sequence[int],
        reader: Reader,
        vectors: dict[str, Pieces],
        places: Sequence[Place],
        names: Array | None = None,
        one_target: bool = False,
        density: float = 1.0,
    ) -> None:
        self._parts, self._lengths, self._reader, self._places = list(parts), list(lengths), reader, list(places)
        self.n_rows, self.n_columns, self.dtype = sum(self._lengths), reader.n_columns, np.dtype(reader.dtype)
        self.names, self.one_target, self.density = names, one_target, density
        self._hold(vectors)

    def _hold(self, vectors: dict[str, Pieces]) -> None:
        self._vectors = vectors
        self.n_targets, self.has_weight = (vectors["y"].width or (1,))[0], "weight" in vectors

    @property
    def is_sparse(self) -> bool:
        return self._reader.sparse

    def fold(self, statistic: Statistic, combine: Callable[[Sums, Sums], Sums] = add) -> Sums:
        work, inputs = self._work(statistic, combine), self._inputs(statistic)
        found: Sums = computed(tree(work, self._each(sums, [work], inputs)), self._places, inputs)
        return found

    def fold_and_map(
        self, statistic: Callable[[Block], tuple[Sums, Rows]], combine: Callable[[Sums, Sums], Sums] = add
    ) -> tuple[Sums, dict[str, RowVector]]:
        work, inputs = self._work(statistic, combine), self._inputs(statistic)
        both = self._each(sums_and_rows, [work], inputs)
        rows = [pair[1] for pair in both]
        total = delayed(_with_widths, pure=False)(tree(work, [pair[0] for pair in both]), rows[0])
        (found, widths), pieces = kept(total, rows, self._places, inputs)
        return found, {name: Pieces(tuple(pieces), width, name) for name, width in widths.items()}

    def map(self, function: Callable[[Block], Array]) -> RowVector:
        work, inputs = self._work(function), self._inputs(function)
        rows = self._each(row_values, [work], inputs)
        (_, widths), pieces = kept(delayed(_with_widths, pure=False)((), rows[0]), rows, self._places, inputs)
        return Pieces(tuple(pieces), widths["values"], "values")

    def _work(self, statistic: Any, combine: Callable[[Sums, Sums], Sums] = add) -> Delayed:
        names = tuple((name, vector.key) for name, vector in self._vectors.items())
        return shipped(Work(statistic, combine, self._reader, names, np.geterr()))

    def _inputs(self, statistic: Any = None) -> list[tuple[Any, ...]]:
        """Of every partition: its rows, None if a statistic does not read them, and its row vectors."""
        read = getattr(statistic, "reads_rows", True)
        columns = [vector.parts for vector in self._vectors.values()]
        return [(part if read else None, *pieces) for part, *pieces in zip(self._parts, *columns, strict=True)]

    def _each(self, task: Callable[..., Any], first: list[Any], inputs: list[tuple[Any, ...]]) -> list[Delayed]:
        run = delayed(task, pure=False)
        whole = zip(self._places, self._lengths, inputs, strict=True)
        return [run(*first, place, length, *given) for place, length, given in whole]

    def collect(self, vector: RowVector) -> Array:
        if not isinstance(vector, Pieces):
            return np.asarray(vector)
        parts = vector.arrays()
        return np.concatenate(computed(parts, self._places, [(part,) for part in parts]))

    def with_vectors(self, **vectors: RowVector | None) -> Self:
        merged = {**self._vectors, **vectors}
        changed = type(self).__new__(type(self))
        changed.__dict__.update(self.__dict__)
        changed._hold({name: self._pieces(vector) for name, vector in merged.items() if vector is not None})
        return changed

    def _pieces(self, vector: RowVector) -> Pieces:
        """A vector of this design as it is; an array on the host is cut, and sent to the workers once."""
        if isinstance(vector, Pieces):
            return vector
        vector = np.asarray(vector)
        cuts = [0, *accumulate(self._lengths)]
        parts = [shipped(vector[start:stop]) for start, stop in pairwise(cuts)]
        return Pieces(tuple(kept(shipped(None), parts, self._places, [])[1]), vector.shape[1:])

    def vector(self, name: str) -> RowVector:
        found = self._vectors[name]
        if name == "y" and not found.width:
            turn = delayed(as_column, pure=False)
            return Pieces(tuple(turn(part) for part in found.arrays()), (1,))
        return found

    def row_numbers(self) -> Array:
        if "row" in self._vectors:
            return self.collect(self._vectors["row"])
        return np.concatenate(
            [place.first + np.arange(n) for place, n in zip(self._places, self._lengths, strict=True)]
        )

    def row_name(self, number: int) -> str:
        first = [place.first for place in self._places]
        place = self._places[int(np.searchsorted(first, number, side="right")) - 1]
        return Message(
            "{row}, which is row {inside} of {place}", row=number, inside=number - place.first, place=place.name()
        )

    def sample(self, size: int, seed: int = 0) -> InMemory:
        if size >= self.n_rows:
            chosen = np.arange(self.n_rows)
        else:
            chosen = np.sort(np.random.default_rng(seed).choice(self.n_rows, size, replace=False, shuffle=False))
        cuts = [0, *accumulate(self._lengths)]
        where = np.searchsorted(chosen, cuts)
        taken = [
            (number, chosen[where[number] : where[number + 1]] - cuts[number]) for number in range(len(self._parts))
        ]
        return self._on_host([(number, which) for number, which in taken if len(which)])

    def gather(self, mask: RowVector) -> InMemory:
        return self.with_vectors(chosen=mask)._on_host([(number, None) for number in range(len(self._parts))])

    def _on_host(self, taken: list[tuple[int, Array | None]]) -> InMemory:
        """Chosen rows of some partitions, as `chosen_rows` takes them."""
        work, inputs, run = self._work(None), self._inputs(), delayed(chosen_rows, pure=False)
        tasks = [
            run(work, which, self._places[number], self._lengths[number], *inputs[number]) for number, which in taken
        ]
        numbers = [number for number, _ in taken]
        found = computed(tasks, [self._places[one] for one in numbers], [inputs[one] for one in numbers])
        rows, vectors = [x for x, _ in found], [named for _, named in found]
        x = csr_array(vstack(rows, format="csr")) if self.is_sparse else np.concatenate(rows)
        joined = {name: np.concatenate([named[name] for named in vectors]) for name in vectors[0]}
        return InMemory(x, joined.pop("y"), None, self.one_target, self.names, joined)

    def weighted_rows(self) -> Design:
        """Rows without weight are left out where they lie."""
        if not self.has_weight:
            return self
        weights = self._vectors["weight"].arrays()
        count = delayed(np.count_nonzero, pure=False)
        counts = computed([count(part) for part in weights], self._places, [(part,) for part in weights])
        if counts == self._lengths:
            return self
        return self._subset([number for number, n in enumerate(counts) if n], counts)

    def _subset(self, numbers: list[int], counts: list[int]) -> Cluster:
        """The rows that have weight, of the partitions that have some."""
        reader, take, read = shipped(self._reader), delayed(with_weight, pure=False), delayed(read_weighted, pure=False)
        named = {name: vector.arrays() for name, vector in self._vectors.items()}
        weights = named["weight"]
        named["row"] = named.get("row") or [shipped(place).row_numbers() for place in self._places]
        filtered = [take(weights[one], parts[one]) for parts in named.values() for one in numbers]
        inputs = [tuple(parts[one] for parts in named.values()) for one in numbers]
        places = [self._places[one] for one in numbers]
        pieces = iter(kept(shipped(None), filtered, places, inputs)[1])
        widths = {"row": (), **{name: vector.width for name, vector in self._vectors.items()}}
        return Cluster(
            [read(reader, self._places[one], self._parts[one], weights[one]) for one in numbers],
            [counts[one] for one in numbers],
            replace(self._reader, code=None),
            {name: Pieces(tuple(next(pieces) for _ in numbers), widths[name]) for name in named},
            places,
            self.names,
            self.one_target,
            self.density,
        )


def _with_widths(total: Sums, rows: Rows) -> tuple[Sums, dict[str, tuple[int, ...]]]:
    """Sums, and the shapes of what is kept for a row."""
    return total, {name: values.shape[1:] for name, values in rows.items()}
