"""Whether an array is sparse, without importing SciPy to find out."""

from __future__ import annotations

import sys
from typing import Any


def is_sparse(x: Any) -> bool:
    """SciPy's `issparse`, without its import: who has a sparse matrix has imported it."""
    if "scipy.sparse" not in sys.modules:
        return False
    from scipy.sparse import issparse

    return bool(issparse(x))
