"""A kernel support vector machine on the sparse rows of a9a."""

from __future__ import annotations

import numpy as np

from benchmarks.kernel_machines import Bent, dual_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload

TABLE = "a9a.gz"
C, GAMMA = 1.0, 0.05


def make(request: Request) -> Bent:
    from sklearn.datasets import load_svmlight_file

    assert request.folder is not None  # the race asks for no table it was not given
    X, y = load_svmlight_file(str(request.folder / TABLE))
    n = 2_000 if request.quick else X.shape[0]
    return Bent(X[:n].tocsr(), (y[:n] > 0).astype(np.int64))


WORKLOAD = Workload(
    description=f"SVC(C={C:g}), RBF kernel, a9a: 32,561×123, CSR.",
    make=make,
    ours=Contender("hiperplano SVC", lambda p: hiperplano.svc(p.X, p.y, C, GAMMA)),
    rivals=(Contender("sklearn SVC", lambda p: sklearn.svc(p.X, p.y, C, GAMMA)),),
    target=3.0,
    accuracy=dual_accuracy(C, GAMMA),
    table=TABLE,
)
