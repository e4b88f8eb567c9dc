"""Generated tables without pandas: arrays are there, and tables say what to install."""

import sys

import pytest

from hiperplano import load_credit_default, load_credit_line
from hiperplano.errors import NotInstalled


def test_a_table_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)  # importing it now raises ImportError
    assert load_credit_line(return_X_y=True)[0].shape == (400, 5)
    for load in (lambda: load_credit_line(as_frame=True), load_credit_default):
        with pytest.raises(NotInstalled, match=r"pandas cannot be imported.*pip install 'hiperplano\[app\]'"):
            load()
