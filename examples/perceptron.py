"""The perceptron, the mistakes it makes, and how many it can make at most.

Applicants with two figures each, separable with a margin. The bound (R/γ)² holds for every order of the rows; the
mistakes really made depend on it. With a folder as argument, draws the steps there.
"""

import sys
from pathlib import Path

import numpy as np

from hiperplano import Perceptron, ReplayDisplay, mistake_bound


def applicants(margin, n=60, seed=0):
    """Two figures, and "approve" on one side of a line; rows nearer to it than `margin` are left out."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    distance = (X @ [2.0, -1.0] + 0.5) / np.sqrt(5.0)
    kept = np.abs(distance) > margin
    return X[kept], np.where(distance[kept] > 0, "approve", "refuse")


def main():
    for margin in (0.4, 0.2, 0.1, 0.05):
        X, y = applicants(margin)
        bound = mistake_bound(X, y)
        made = [Perceptron(tol=None, random_state=seed).fit(X, y).solution_.mistakes for seed in range(20)]
        print(
            f"margin {bound.margin:.3f}: {min(made)} to {max(made)} mistakes in 20 orders; "
            f"the bound (R/margin)^2 is {bound.bound:.0f}"
        )
    X, y = applicants(0.2)
    model = Perceptron(tol=None, random_state=0).fit(X, y)
    print(f"\n{model.solution_}")
    print(f"accuracy on its own rows: {model.score(X, y):.2f}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        ReplayDisplay.from_estimator(model, X, y).figure_.savefig(folder / "perceptron.png", dpi=80)


if __name__ == "__main__":
    main()
