"""What tests and doctests share: bytecode is kept; pictures are drawn without a screen, and closed again."""

import gc
import os
import sys

import pytest

os.environ["MPLBACKEND"] = "agg"
# Threads of BLAS that wait for work keep a core busy by default, which another worker needs: a singular value
# decomposition then takes ten times as long. Their number stays as it is.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
# Else every worker, and every program that a test starts, would compile what it imports again: 10 to 40 seconds each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_collection_finish():
    """What the collection of tests made stays until the end: the garbage collector need not go through it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
