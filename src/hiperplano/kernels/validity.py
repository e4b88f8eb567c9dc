"""Whether a matrix can be a Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, lapack
from scipy.sparse import issparse

from hiperplano.data.block import Array
from hiperplano.errors import InvalidData
from hiperplano.messages import Message

_ASYMMETRIC = 1e-6  # largest asymmetry, relative to the largest entry, that kernels in float32 cause
_NEGATIVE = 1e-7


@dataclass(frozen=True)
class GramValidity:
    """Whether a matrix is the Gram matrix of some kernel, with evidence. Its truth value is the answer.

    Attributes
    ----------
    valid : bool
        Whether the matrix is symmetric and positive semidefinite, to the tolerance.
    smallest_eigenvalue : float
        Smallest eigenvalue of the symmetric part.
    eigenvector : ndarray of shape (n,)
        Its eigenvector v: vᵀ·K·v, the squared length of Σᵢ vᵢ·φ(xᵢ), is the eigenvalue, which must not be negative.
    asymmetry : float
        The largest |Kᵢⱼ − Kⱼᵢ|.
    pair : tuple of int
        The i and j of that entry.
    """

    valid: bool
    smallest_eigenvalue: float
    eigenvector: Array
    asymmetry: float
    pair: tuple[int, int]
    status: Message

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        return self.status


def is_valid_gram(K: Any, tol: float = 1e-9) -> GramValidity:
    """Check whether a matrix can be a Gram matrix: symmetric, with no negative eigenvalue.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The matrix.
    tol : float, default=1e-9
        Tolerance for rounding errors, relative to the largest entry for symmetry, and to the largest eigenvalue for its
        sign.

    Returns
    -------
    GramValidity
        True or false, with the smallest eigenvalue and its eigenvector as evidence.

    Examples
    --------
    >>> from hiperplano.kernels import is_valid_gram
    >>> bool(is_valid_gram([[2.0, 1.0], [1.0, 2.0]]))
    True
    >>> found = is_valid_gram([[1.0, 2.0], [2.0, 1.0]])
    >>> bool(found), round(found.smallest_eigenvalue, 9)
    (False, -1.0)
    """
    K = square_matrix(K)
    skew = np.abs(K - K.T)
    row, column = np.unravel_index(int(np.argmax(skew)), K.shape)
    asymmetry = float(skew[row, column])
    values, vectors = eigh((K + K.T) / 2)
    smallest, size = float(values[0]), float(np.abs(values).max())
    vector = np.asarray(vectors[:, 0])
    if asymmetry > tol * float(np.abs(K).max()):
        status = Message(
            "Not a Gram matrix: it is not symmetric; K[{i}, {j}] = {left:g} and K[{j}, {i}] = {right:g}.",
            i=int(row), j=int(column), left=float(K[row, column]), right=float(K[column, row]),
        )  # fmt: skip
    elif smallest < -tol * size:
        status = Message(
            "Not a Gram matrix: its smallest eigenvalue is {smallest:.3g}, and a matrix of inner products has none "
            "below 0. The eigenvector of that eigenvalue has its largest entry in row {row}.",
            smallest=smallest,
            row=int(np.abs(vector).argmax()),
        )
    else:
        status = Message("A Gram matrix: symmetric, with a smallest eigenvalue of {smallest:.3g}.", smallest=smallest)
    valid = asymmetry <= tol * float(np.abs(K).max()) and smallest >= -tol * size
    return GramValidity(valid, smallest, vector, asymmetry, (int(row), int(column)), status)


def square_matrix(K: Any) -> Array:
    """A square matrix of finite numbers, in float64."""
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        raise InvalidData(
            "A matrix of shape {shape}; a Gram matrix is square, with one row and one column for each row of the "
            "data. Pass k(x, x′) of every pair.",
            shape=K.shape,
        )
    if not np.isfinite(K).all():
        raise InvalidData("The Gram matrix contains NaN or infinity; every entry must be finite. Correct the kernel.")
    return K


def refuse_invalid_gram(K: Any, owner: str) -> None:
    """Raise an error unless a user's matrix is square, symmetric and positive semidefinite.

    A Cholesky factorisation decides; eigenvalues are computed only if it fails, for the message.
    """
    K = square_matrix(K.toarray() if issparse(K) else K)
    largest = float(np.abs(K).max())
    if largest == 0:
        return
    shifted = K.copy()
    shifted[np.diag_indices(len(K))] += _NEGATIVE * len(K) * largest
    if np.abs(K - K.T).max() <= _ASYMMETRIC * largest and not lapack.dpotrf(shifted, lower=1, overwrite_a=1)[1]:
        return
    found = is_valid_gram(K, _ASYMMETRIC)
    if not found:
        raise InvalidData(
            "{owner}: the precomputed matrix cannot be used. {status} Check how it was computed; a kernel of "
            "hiperplano.kernels computes it from the rows.",
            owner=owner,
            status=found.status,
        )
