"""The design whose rows are partitions of a Dask collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, vstack

from hiperplano.data.block import Array, Block
from hiperplano.data.cluster.parts import Parts, from_host, tasks, tree
from hiperplano.data.cluster.passes import computed, kept
from hiperplano.data.cluster.tasks import (
    Place,
    Reader,
    Work,
    as_column,
    chosen_rows,
    field_of,
    read_weighted,
    row_values,
    rows_alone,
    sums,
    sums_and_rows,
    widths,
    with_weight,
)
from hiperplano.data.design import Design, Rows, RowVector, Statistic, Sums, add
from hiperplano.data.in_memory import InMemory
from hiperplano.messages import Message


@dataclass(frozen=True, eq=False)
class Pieces:
    """A row vector: one piece for each partition, stored with it.

    Attributes
    ----------
    parts : Parts
        Arrays of shape (m,) or (m, k), or mappings that hold them.
    width : tuple of int
        () or (k,).
    name : str, optional
        Key of the arrays in such mappings.
    """

    parts: Parts
    width: tuple[int, ...]
    name: str | None = None

    def arrays(self) -> Parts:
        """The pieces as arrays."""
        return self.parts if self.name is None else self.parts.each(field_of, self.name)


class Cluster(Design):
    """Rows in partitions of a Dask collection, with their row vectors.

    A pass is one graph. It runs on the active scheduler: threads, processes, or a cluster with a client. Persisted rows
    stay in place; others are read again in every pass. Row vectors stay on the worker that computed them; only sums are
    transferred.

    Parameters
    ----------
    parts : Parts
        The rows of every partition, in the form that `reader` expects.
    lengths : sequence of int
        Rows in every partition, none of them 0.
    reader : Reader
    vectors : mapping of str to Pieces
        Row vectors: the target "y", of shape (m, targets), and "weight" unless all weights are one.
    places : sequence of Place
        Positions of the partitions in the input table.
    names, one_target, density, reading_cost
        As in `Design`.
    """

    predicts_lazily = True

    def __init__(
        self,
        parts: Parts,
        lengths: Sequence[int],
        reader: Reader,
        vectors: dict[str, Pieces],
        places: Sequence[Place],
        names: Array | None = None,
        one_target: bool = False,
        density: float = 1.0,
        reading_cost: float = 0.0,
    ) -> None:
        self._parts, self._lengths, self._reader, self._places = parts, list(lengths), reader, list(places)
        self.n_rows, self.n_columns, self.dtype = sum(self._lengths), reader.n_columns, np.dtype(reader.dtype)
        self.names, self.one_target, self.density, self.reading_cost = names, one_target, density, reading_cost
        self._hold(vectors)

    def _hold(self, vectors: dict[str, Pieces]) -> None:
        self._vectors = vectors
        self.n_targets, self.has_weight = (vectors["y"].width or (1,))[0], "weight" in vectors

    @property
    def is_sparse(self) -> bool:
        return self._reader.sparse

    def fold(self, statistic: Statistic, combine: Callable[[Sums, Sums], Sums] = add) -> Sums:
        work, inputs = self._work(statistic, combine), self._inputs(statistic)
        found: Sums = computed(tree(work, self._each(sums, work, inputs)), self._places, inputs)[0]
        return found

    def fold_and_map(
        self, statistic: Callable[[Block], tuple[Sums, Rows]], combine: Callable[[Sums, Sums], Sums] = add
    ) -> tuple[Sums, dict[str, RowVector]]:
        work, inputs = self._work(statistic, combine), self._inputs(statistic)
        both = self._each(sums_and_rows, work, inputs)
        rows, total = both.each(field_of, 1), tree(work, both.each(field_of, 0))
        return self._kept(total, rows, inputs)

    def map(self, function: Callable[[Block], Array]) -> RowVector:
        inputs = self._inputs(function)
        rows = self._each(row_values, self._work(function), inputs)
        return self._kept(from_host("nothing", [()]), rows, inputs)[1]["values"]

    def _kept(self, total: Parts, rows: Parts, inputs: list[Parts]) -> tuple[Sums, dict[str, Pieces]]:
        """Sums in memory, and row vectors that stay on the workers."""
        shapes = rows.some([0]).each(widths)
        wanted = Parts({**total.graph, **shapes.graph}, [*total.keys, *shapes.keys])
        (found, shape_of), stay = kept(wanted, rows, self._places, inputs)
        return found, {name: Pieces(stay, width, name) for name, width in shape_of.items()}

    def _work(self, statistic: Any, combine: Callable[[Sums, Sums], Sums] = add) -> Parts:
        names = tuple((name, vector.name) for name, vector in self._vectors.items())
        return from_host("work", [Work(statistic, combine, self._reader, names, np.geterr())])

    def _inputs(self, statistic: Any = None) -> list[Parts]:
        """The row vectors of every partition, preceded by its rows unless the statistic does not read them."""
        vectors = [vector.parts for vector in self._vectors.values()]
        return [self._parts, *vectors] if getattr(statistic, "reads_rows", True) else vectors

    def _each(self, task: Callable[..., Any], work: Parts, inputs: list[Parts]) -> Parts:
        unread = [] if len(inputs) > len(self._vectors) else [[None] * len(self._lengths)]
        columns = zip(self._places, self._lengths, *unread, *(parts.keys for parts in inputs), strict=True)
        return tasks(task, ([work.keys[0], *column] for column in columns), [work.graph, *(p.graph for p in inputs)])

    def collect(self, vector: RowVector) -> Array:
        if not isinstance(vector, Pieces):
            return np.asarray(vector)
        parts = vector.arrays()
        return np.concatenate(computed(parts, self._places, [parts]))

    def with_vectors(self, **vectors: RowVector | None) -> Self:
        merged = {**self._vectors, **vectors}
        changed = type(self).__new__(type(self))
        changed.__dict__.update(self.__dict__)
        changed._hold({name: self._pieces(vector) for name, vector in merged.items() if vector is not None})
        return changed

    def _pieces(self, vector: RowVector) -> Pieces:
        """A vector of this design unchanged; an array in memory is split, and sent to the workers once."""
        if isinstance(vector, Pieces):
            return vector
        vector = np.asarray(vector)
        parts = from_host("vector", [vector[start:stop] for start, stop in pairwise(self._cuts())])
        return Pieces(kept(from_host("nothing", [()]), parts, self._places, [])[1], vector.shape[1:])

    def _cuts(self) -> list[int]:
        return [0, *accumulate(self._lengths)]

    def vector(self, name: str) -> RowVector:
        found = self._vectors[name]
        return Pieces(found.arrays().each(as_column), (1,)) if name == "y" and not found.width else found

    def row_numbers(self) -> Array:
        if "row" in self._vectors:
            return self.collect(self._vectors["row"])
        return np.concatenate([place.row_numbers() for place in self._places])

    def row_label(self, row: int) -> Any:
        first = [place.first for place in self._places]
        place = self._places[int(np.searchsorted(first, row, side="right")) - 1]
        return Message("{row}, which is row {inside} of {place}", row=row, inside=row - place.first, place=place.name())

    def sample(self, size: int, seed: int = 0) -> InMemory:
        if size >= self.n_rows:
            chosen = np.arange(self.n_rows)
        else:
            chosen = np.sort(np.random.default_rng(seed).choice(self.n_rows, size, replace=False, shuffle=False))
        cuts = self._cuts()
        where = np.searchsorted(chosen, cuts)
        taken = {one: chosen[where[one] : where[one + 1]] - cuts[one] for one in range(len(self._lengths))}
        return self._on_host({one: which for one, which in taken.items() if len(which)})

    def gather(self, mask: RowVector) -> InMemory:
        return self.with_vectors(chosen=mask)._on_host(dict.fromkeys(range(len(self._lengths))))

    def _on_host(self, taken: dict[int, Array | None]) -> InMemory:
        """Selected rows of some partitions, as in `chosen_rows`."""
        work, inputs = self._work(None), [parts.some(list(taken)) for parts in self._inputs()]
        places, lengths = [self._places[one] for one in taken], [self._lengths[one] for one in taken]
        columns = zip(taken.values(), places, lengths, *(parts.keys for parts in inputs), strict=True)
        wanted = tasks(
            chosen_rows, ([work.keys[0], *column] for column in columns), [work.graph, *(p.graph for p in inputs)]
        )
        found = computed(wanted, places, inputs)
        rows, vectors = [x for x, _ in found], [named for _, named in found]
        x = csr_array(vstack(rows, format="csr")) if self.is_sparse else np.concatenate(rows)
        joined = {name: np.concatenate([named[name] for named in vectors]) for name in vectors[0]}
        return InMemory(x, joined.pop("y"), None, self.one_target, self.names, joined)

    def each_as_rows(self) -> Parts:
        """Every partition as rows in memory, without targets, for predictions."""
        sent = from_host("reader", [self._reader, self.names])
        columns = zip(self._places, self._parts.keys, strict=True)
        return tasks(rows_alone, ([*sent.keys, *column] for column in columns), [sent.graph, self._parts.graph])

    @property
    def lengths(self) -> tuple[int, ...]:
        """Rows of every partition."""
        return tuple(self._lengths)

    def weighted_rows(self) -> Design:
        """Drop rows of weight 0 on their workers."""
        if not self.has_weight:
            return self
        weights = self._vectors["weight"].arrays()
        counts = computed(weights.each(np.count_nonzero), self._places, [weights])
        if counts == self._lengths:
            return self
        full = [one for one, n in enumerate(counts) if n]
        return self._with_weight(full, [counts[one] for one in full])

    def _with_weight(self, full: list[int], counts: list[int]) -> Cluster:
        """The rows with nonzero weight, of the partitions that have some."""
        places = [self._places[one] for one in full]
        named = {name: vector.arrays().some(full) for name, vector in self._vectors.items()}
        named.setdefault("row", from_host("row", [place.row_numbers() for place in places]))
        weights, n = named["weight"], len(full)
        pairs = [pair for parts in named.values() for pair in zip(weights.keys, parts.keys, strict=True)]
        taken = tasks(with_weight, pairs, [parts.graph for parts in named.values()])
        stay = kept(from_host("nothing", [()]), taken, [], [])[1]
        width_of = {"row": (), **{name: vector.width for name, vector in self._vectors.items()}}
        reader = from_host("reader", [self._reader])
        rows = zip(places, self._parts.some(full).keys, weights.keys, strict=True)
        return Cluster(
            tasks(
                read_weighted,
                ([reader.keys[0], *row] for row in rows),
                [reader.graph, self._parts.graph, weights.graph],
            ),
            counts,
            self._reader,
            {
                name: Pieces(stay.some(range(place * n, (place + 1) * n)), width_of[name])
                for place, name in enumerate(named)
            },
            places,
            self.names,
            self.one_target,
            self.density,
            self.reading_cost,
        )
