"""Every example runs from a terminal, without a warning."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


def test_the_example_of_the_readme_is_among_them():
    assert "credit_line.py" in [path.name for path in EXAMPLES]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_it_runs_and_prints(path):
    done = subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert done.stdout.strip()
