"""What tests and doctests share: pictures are drawn without a screen, and closed again."""

import os
import sys

import pytest

os.environ["MPLBACKEND"] = "agg"


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
