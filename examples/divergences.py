"""Bayes' error of two classes with known distributions, and what divergences tell of it.

Scores of two classes are normal, one unit wide, and `apart` units from each other. The best rule decides by the larger
density; its error is Φ(−apart/2). Kullback and Leibler's divergence has the formula apart²/2, and that of Jensen and
Shannon bounds the error: ½·(1 − JS) ≥ error ≥ ½·(1 − √JS) in bits. With a folder as argument, draws both there.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from hiperplano import bayes_error
from hiperplano.metrics import js_divergence, kl_divergence

GRID = np.linspace(-9.0, 9.0, 4001)


def density(mean):
    heights = np.exp(-0.5 * (GRID - mean) ** 2)
    return heights / heights.sum()


def main():
    found = []
    for apart in (0.5, 1.0, 2.0, 4.0):
        negative, positive = density(-apart / 2), density(apart / 2)
        error = bayes_error([-apart / 2, apart / 2], 1.0).value
        kl = kl_divergence(negative, positive)
        js = js_divergence(negative, positive, base=2)
        found.append((apart, error, js))
        print(
            f"apart {apart:.1f}: error {error:.4f} (formula {ndtr(-apart / 2):.4f}), KL {kl:.4f} nats (formula "
            f"{apart**2 / 2:.4f}), JS {js:.4f} bits, error between {(1 - np.sqrt(js)) / 2:.4f} and {(1 - js) / 2:.4f}"
        )
    if len(sys.argv) > 1:
        from matplotlib import pyplot as plt

        apart, error, js = np.array(found).T
        figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        ax.fill_between(apart, (1 - np.sqrt(js)) / 2, (1 - js) / 2, alpha=0.25, label="bounds by JS")
        ax.plot(apart, error, "o-", lw=2, label="Bayes' error")
        ax.set(xlabel="distance of the means", ylabel="error")
        ax.legend(frameon=False)
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        figure.savefig(Path(sys.argv[1]) / "divergences.png", dpi=80)


if __name__ == "__main__":
    main()
