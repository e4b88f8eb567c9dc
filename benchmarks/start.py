"""Time the first fit of a new interpreter: `uv run python -m benchmarks.start [--repeats N]`.

A script that fits a small table waits for imports and compiled loops, not for the fit. Shown is the median of several
fresh processes, which take turns: with nothing compiled yet, as on the first day; with the loops kept on disk; and
beside them what cannot be less, an interpreter that calls one trivial loop kept by numba, and scikit-learn's.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.machine import KEEP_COMPILED

FIT = """
import numpy as np
from {library} import {model}
X = np.random.default_rng(0).normal(size=(1000, 20))
{model}().fit(X, (X[:, 0] > 0).astype(int))
"""
TRIVIAL_LOOP = """
from numba import njit

@njit(cache=True)
def total(values):
    found = 0.0
    for value in values:
        found += value
    return found
"""
CALL = "import numpy as np, trivial_loop\ntrivial_loop.total(np.ones(3))"


def seconds(program: str, folder: str) -> float:
    """Until a new interpreter has run a program; compiled loops are kept in the folder."""
    places = {"NUMBA_CACHE_DIR": folder, "PYTHONPATH": folder}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | KEEP_COMPILED | places)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    programs = {
        "hiperplano Perceptron": FIT.format(library="hiperplano", model="Perceptron"),
        "hiperplano LogisticRegression": FIT.format(library="hiperplano", model="LogisticRegression"),
        "a trivial loop of numba": CALL,
        "sklearn Perceptron": FIT.format(library="sklearn.linear_model", model="Perceptron"),
        "sklearn LogisticRegression": FIT.format(library="sklearn.linear_model", model="LogisticRegression"),
    }
    first: list[float] = []
    later: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "trivial_loop.py").write_text(TRIVIAL_LOOP)
            first.append(seconds(programs["hiperplano Perceptron"], folder))
            seconds(CALL, folder)
            for name, program in programs.items():
                later[name].append(seconds(program, folder))
    print(f"{'hiperplano Perceptron, nothing compiled yet':44}{median(first):6.2f} s")
    for name, times in later.items():
        print(f"{name:44}{median(times):6.2f} s")


if __name__ == "__main__":
    main()
