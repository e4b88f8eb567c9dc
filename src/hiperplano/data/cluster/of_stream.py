"""A stream as a `Cluster`, whose workers read its chunks."""

from __future__ import annotations

from itertools import accumulate

from hiperplano.data.cluster.design import Cluster, Pieces
from hiperplano.data.cluster.parts import from_host, tasks
from hiperplano.data.cluster.passes import kept
from hiperplano.data.cluster.tasks import Place, Reader, read_chunk
from hiperplano.data.stream import Stream


def on_workers(stream: Stream) -> Cluster:
    """The rows of a stream as partitions of a cluster, one for each chunk, read by a worker in every pass.

    Workers must see the files under the same names. Targets and weights from the first pass are sent to them once.
    """
    source, sizes = stream.source, stream.source.sizes.tolist()
    full = [chunk for chunk, size in enumerate(sizes) if size]
    starts, sent = [0, *accumulate(sizes)], from_host("source", [source])
    places = [Place(chunk, starts[chunk], sizes[chunk], source.place(chunk, 0)) for chunk in full]
    vectors = {}
    for name, vector in stream.stored_vectors().items():
        pieces = [vector.piece(chunk) for chunk in full]
        stay = kept(from_host("nothing", [()]), from_host(name, pieces), places, [])[1]
        vectors[name] = Pieces(stay, pieces[0].shape[1:])
    return Cluster(
        tasks(read_chunk, ([sent.keys[0], chunk] for chunk in full), [sent.graph]),
        [sizes[chunk] for chunk in full],
        Reader(source.dtype, source.n_columns, source.is_sparse),
        vectors,
        places,
        source.names,
        stream.one_target,
        source.density,
        source.reading_cost,
    )
