"""Margins: what the planes at 1/‖w‖ say, what λ does to them, and the widest margin of all.

Prints how many rows lie beyond their margin plane as λ grows; with a folder as argument, draws the pictures of
docs/svm.md there.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from hiperplano import HardMarginSVC, LinearSVC, MarginDisplay, margin


def groups(apart):
    return make_blobs([40, 40], centers=[[-apart, 0.0], [apart, 1.0]], cluster_std=1.0, random_state=3)


def machine(strength, X, y):
    """λ on the mean loss is C = 1/(λ·n) on the sum."""
    return LinearSVC(C=1 / (strength * len(y)), loss="hinge").fit(X, y)


def main():
    X, y = groups(1.3)
    print("lambda     1/|w|   beyond their margin plane   wrong side")
    for strength in (0.001, 0.01, 0.1, 1.0):
        model = machine(strength, X, y)
        width, distances = 1 / np.linalg.norm(model.coef_), margin(model, X, y)
        print(f"{strength:<8}{width:8.3f}{np.sum(distances < width):14d} of {len(y)}{np.sum(distances < 0):19d}")
    apart, label = groups(3.5)
    widest = HardMarginSVC().fit(apart, label)
    print(f"\nwidest margin of separable groups: {widest.margin_:.3f}, held by rows {widest.support_.tolist()}")
    print(f"nearest row: {margin(widest, apart, label).min():.3f}")
    if len(sys.argv) > 1:
        from matplotlib import pyplot as plt

        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        display = MarginDisplay.from_estimator(machine(0.01, X, y), X, y)
        display.figure_.savefig(folder / "margin_planes.png", dpi=80)
        figure, panels = plt.subplots(1, 2, figsize=(10.4, 4.9), layout="constrained")
        for panel, strength in zip(panels, (0.001, 0.3), strict=True):
            MarginDisplay.from_estimator(machine(strength, X, y), X, y, ax=panel)
            panel.set_xlabel(f"λ = {strength}")
        figure.savefig(folder / "margin_strength.png", dpi=80)
        MarginDisplay.from_estimator(widest, apart, label).figure_.savefig(folder / "margin_widest.png", dpi=80)


if __name__ == "__main__":
    main()
