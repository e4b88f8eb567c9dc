"""No copy of the rows larger than a block: what a fit adds to the memory the data take."""

import subprocess
import sys

import pytest

ROWS, COLUMNS = 300_000, 50
MOST = 150 / 400  # of the size of the rows: 150 MB for 1,000,000 × 50

PROGRAM = """
import resource
import numpy as np
from hiperplano import LeastSquaresClassifier, LinearRegression, Ridge

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

small = np.random.default_rng(0).normal(size=(200, 3))
LinearRegression(solver="qr").fit(small, small[:, 0]).summary()
rng = np.random.default_rng(0)
X = np.empty(({rows}, {columns}), dtype={dtype!r}, order={order!r})
for start in range(0, {rows}, 10_000):
    X[start : start + 10_000] = rng.normal(size=(10_000, {columns}))
y = X[:, 0] * 2.0 + rng.normal(size={rows})
weight = rng.uniform(0.1, 1.0, size={rows})  # rows of weight 0 would be left out by a copy of the others
if {nearness} < 1:
    X[:, 1] = X[:, 0] + {nearness} * X[:, 1]
for fit in {fits}:
    before = peak()
    model = eval(fit)
    print(peak() - before, fit, model.solution_.method, sep=";")
"""

CASES = {
    # A peak is measured once: each line adds what it needs beyond all before it, and the sum counts.
    "plain": {
        "fits": [
            "LinearRegression().fit(X, y)",
            "Ridge().fit(X, y, weight)",
            "LinearRegression(positive=True).fit(X, y)",
            "LeastSquaresClassifier().fit(X, y > 0)",
            "Ridge(solver='cg', tol=1e-2).fit(X, y)",
        ]
    },
    "refined": {"fits": ["LinearRegression().fit(X, y)", "LinearRegression().fit(X, y, weight)"], "nearness": 0.02},
    "orthogonal": {"fits": ["LinearRegression().fit(X, y)"], "nearness": 1e-4, "order": "F"},
    "float32": {"fits": ["LinearRegression().fit(X, y)", "Ridge().fit(X, y, weight)"], "dtype": "float32"},
}


@pytest.mark.parametrize("case", CASES)
def test_a_fit_adds_little_to_the_memory_of_its_rows(case):
    plain = {"rows": ROWS, "columns": COLUMNS, "dtype": "float64", "order": "C", "nearness": 1.0}
    options = plain | CASES[case]
    program = PROGRAM.format(**options)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = [line.split(";") for line in ran.stdout.splitlines()]
    size = ROWS * COLUMNS * (4 if case == "float32" else 8) / 2**20
    assert sum(float(added) for added, _, _ in found) < MOST * size, found
    assert len(found) == len(options["fits"])
    if case in ("refined", "orthogonal"):
        assert case in found[0][2]
