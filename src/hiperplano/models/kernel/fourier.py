"""Random Fourier features: a kernel of differences as an expectation of cosines."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.kernels import RBF, Kernel, Laplacian
from hiperplano.kernels.width import width


def has_frequencies(kernel: Kernel) -> bool:
    """Whether the distribution of frequencies of a kernel is known."""
    return isinstance(kernel, RBF | Laplacian)


def frequencies(kernel: Kernel, n_columns: int, count: int, rng: np.random.Generator) -> Array:
    """Draw ω with k(x, x′) = E cos(ω·(x − x′)), of shape (n_columns, count).

    The distribution is normal for radial basis functions, in orthogonal directions, which lowers the variance (Yu and
    others 2016), and Cauchy for the Laplacian kernel.
    """
    if isinstance(kernel, Laplacian):
        return np.asarray(width(kernel) * rng.standard_cauchy((n_columns, count)))
    blocks = []
    for _ in range(-(-count // n_columns)):
        turn, _ = np.linalg.qr(rng.normal(size=(n_columns, n_columns)))
        blocks.append(turn * np.sqrt(rng.chisquare(n_columns, size=n_columns)))
    return np.asarray(np.sqrt(2 * width(kernel)) * np.hstack(blocks)[:, :count])
