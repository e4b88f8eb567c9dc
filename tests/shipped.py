"""Rows as a cluster holds them: blocks of any size, every call through a serialiser, row vectors out of reach."""

import pickle
from dataclasses import fields, is_dataclass
from itertools import pairwise
from types import FunctionType, MethodType

import cloudpickle
import numpy as np
from scipy import sparse

from hiperplano.data.block import Block
from hiperplano.data.design import Design, add
from hiperplano.data.in_memory import InMemory

LARGEST_STATISTIC = 100_000  # bytes, for the few columns of the tests


class Parts:
    """A row vector: its pieces lie with the blocks, and nothing can be computed with it from outside."""

    def __init__(self, pieces):
        self._pieces = pieces

    def __array__(self, *args, **kwargs):
        raise TypeError("a row vector is opaque: hand it to with_vectors, gather or collect")


class Shipped(Design):
    """Blocks as bytes.

    Parameters
    ----------
    x, y, weight, names
        As `InMemory` takes them.
    seed : int
        Of the sizes of the blocks, from 1 row to a third of all.
    """

    def __init__(self, x, y, weight=None, names=None, seed=0):
        y = np.asarray(y)
        self.one_target = y.ndim == 1
        self.n_rows, self.n_columns = x.shape
        self.n_targets = 1 if y.ndim == 1 else y.shape[1]
        self.dtype, self.names, self.has_weight = x.dtype, names, weight is not None
        self._sparse = sparse.issparse(x)
        self.density = x.nnz / (self.n_rows * self.n_columns) if self._sparse else 1.0
        rng = np.random.default_rng(seed)
        cuts = [0]
        while cuts[-1] < self.n_rows:
            cuts.append(min(self.n_rows, cuts[-1] + int(rng.integers(1, max(2, self.n_rows // 3)))))
        self._cuts = cuts
        whole = InMemory(sparse.csr_array(x) if self._sparse else x, y.reshape(len(y), -1), weight)
        self._blocks = [cloudpickle.dumps(whole.subset(slice(a, b)).block(slice(0, b - a))) for a, b in pairwise(cuts)]
        self._added = [{} for _ in self._blocks]

    @property
    def is_sparse(self):
        return self._sparse

    def _each(self, statistic):
        """The statistic on every block, everything sent there and back."""
        check_statistic(statistic, self.n_rows)
        sent = cloudpickle.dumps(statistic)
        assert len(sent) < LARGEST_STATISTIC, f"{statistic!r:.200} takes {len(sent)} bytes"
        for content, added in zip(self._blocks, self._added, strict=True):
            block = pickle.loads(content)
            vectors = {name: v for name, v in {**block.vectors, **added}.items() if v is not None}
            yield pickle.loads(cloudpickle.dumps(pickle.loads(sent)(Block(block.x, vectors))))

    def fold(self, statistic, combine=add):
        combine = pickle.loads(cloudpickle.dumps(combine))
        total = None
        for part in self._each(statistic):
            total = part if total is None else combine(total, part)
        return total

    def fold_and_map(self, statistic, combine=add):
        total, kept = None, []
        for part, rows in self._each(statistic):
            total = part if total is None else combine(total, part)
            kept.append(rows)
        return total, {name: Parts([rows[name] for rows in kept]) for name in kept[0]}

    def collect(self, vector):
        return np.concatenate(vector._pieces) if isinstance(vector, Parts) else np.asarray(vector)

    def with_vectors(self, **vectors):
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._added = [dict(added) for added in self._added]
        for name, vector in vectors.items():
            for i, (a, b) in enumerate(pairwise(self._cuts)):
                piece = vector._pieces[i] if isinstance(vector, Parts) else None if vector is None else vector[a:b]
                assert piece is None or len(piece) == b - a
                piece = piece[:, None] if name == "y" and piece.ndim == 1 else piece
                new._added[i][name] = piece
            if name == "weight":
                new.has_weight = vector is not None
            if name == "y":
                new.n_targets = new._added[0]["y"].shape[1]
        return new

    def vector(self, name):
        return self.fold_and_map(_Named(name))[1]["values"]

    def row_numbers(self):
        return np.arange(self.n_rows)

    def gather(self, mask):
        chosen = np.flatnonzero(self.collect(mask))
        blocks = []
        for content, added in zip(self._blocks, self._added, strict=True):
            block = pickle.loads(content)
            blocks.append(Block(block.x, {name: v for name, v in {**block.vectors, **added}.items() if v is not None}))
        x = (sparse.vstack if self._sparse else np.concatenate)([block.x for block in blocks])
        vectors = {name: np.concatenate([block.vectors[name] for block in blocks]) for name in blocks[0].vectors}
        vectors["row"] = self.row_numbers()
        x = sparse.csr_array(x) if self._sparse else x
        return InMemory(x, vectors.pop("y"), None, self.one_target, self.names, vectors).subset(chosen)

    def sample(self, size, seed=0):
        mask = np.ones(self.n_rows, dtype=bool)
        if size < self.n_rows:
            mask[:] = False
            mask[np.random.default_rng(seed).choice(self.n_rows, size, replace=False, shuffle=False)] = True
        return self.gather(mask)


class _Named:
    def __init__(self, name):
        self.name = name

    def __call__(self, block):
        return (), {"values": block.vectors[self.name]}


def check_statistic(statistic, n_rows):
    """A module-level function, or a frozen dataclass that holds no array with an entry for each row."""
    if isinstance(statistic, _Named):
        return
    if isinstance(statistic, FunctionType | MethodType):
        assert "<locals>" not in statistic.__qualname__, f"{statistic.__qualname__} is a closure"
        return
    assert is_dataclass(statistic), f"{statistic!r:.200} is no dataclass"
    assert type(statistic).__dataclass_params__.frozen, f"{type(statistic).__name__} is not frozen"
    for field in fields(statistic):
        _check_value(getattr(statistic, field.name), n_rows, f"{type(statistic).__name__}.{field.name}")


def _check_value(value, n_rows, where):
    assert not isinstance(value, Design), f"{where} holds a design"
    if isinstance(value, np.ndarray):
        assert n_rows not in value.shape, f"{where} holds a number for each row: {value.shape}"
    elif is_dataclass(value):
        for field in fields(value):
            _check_value(getattr(value, field.name), n_rows, f"{where}.{field.name}")
    elif isinstance(value, tuple | list):
        for item in value:
            _check_value(item, n_rows, where)
    elif isinstance(value, FunctionType):
        assert "<locals>" not in value.__qualname__, f"{where} holds a closure"
