"""Products of CSR rows with themselves."""

from __future__ import annotations

import numpy as np

from hiperplano.data.loops.compiled import loop


@loop
def add_products(data, indices, indptr, weights, out):  # type: ignore[no-untyped-def]
    """out += Σᵢ weightsᵢ·xᵢ·xᵢᵀ, above the diagonal and on it; column numbers of a row are sorted."""
    for i in range(len(indptr) - 1):
        last = indptr[i + 1]
        for j in range(indptr[i], last):
            scaled = weights[i] * data[j]
            row = out[np.uint64(indices[j])]
            for k in range(j, last):
                row[np.uint64(indices[k])] += scaled * data[k]
