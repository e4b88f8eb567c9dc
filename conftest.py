"""What tests and doctests share: bytecode is kept; pictures are drawn without a screen, and closed again."""

import gc
import os
import sys

import pytest

os.environ["MPLBACKEND"] = "agg"
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
