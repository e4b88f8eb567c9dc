"""Losses as functions of the margin y·score, and what each makes of an outlier.

The 0-1 loss counts mistakes and cannot be minimised by slopes; the others stand in for it. An example far on the right
side costs nothing under the hinge, a little under the logistic loss, and very much under the squared loss. With a
folder as argument, draws them there.
"""

import sys
from pathlib import Path

import numpy as np

from hiperplano import LeastSquaresClassifier, LinearSVC, LogisticRegression, losses

LOSSES = {
    "0-1": losses.ZeroOne(),
    "perceptron": losses.Perceptron(),
    "hinge": losses.Hinge(),
    "squared hinge": losses.SquaredHinge(),
    "logistic": losses.Logistic(),
    "squared": losses.Squared(),
}


def main():
    margins = np.array([-2.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    print("margin        " + "".join(f"{m:8.1f}" for m in margins))
    for name, loss in LOSSES.items():
        print(f"{name:14s}" + "".join(f"{value:8.3f}" for value in loss.value(np.ones(6), margins) + 0.0))

    # Two groups, and then 20 more rows of the second group, far on its own side.
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-1, 0.5, size=(50, 1)), rng.normal(1, 0.5, size=(50, 1))])
    far = np.concatenate([X, rng.normal(15, 0.5, size=(20, 1))])
    print("\ncut-off, and where 20 rows far on their own side move it:")
    for model in (LinearSVC(loss="hinge"), LogisticRegression(), LeastSquaresClassifier()):
        cuts = []
        for rows in (X, far):
            fitted = model.fit(rows, np.arange(len(rows)) >= 50)
            cuts.append(-float(fitted.intercept_[-1]) / float(fitted.coef_[-1, 0]))
        print(f"{type(model).__name__:24s}{cuts[0]:6.2f} -> {cuts[1]:.2f}")
    if len(sys.argv) > 1:
        from matplotlib import pyplot as plt

        across = np.linspace(-2.5, 3.0, 500)
        figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        for (name, loss), style in zip(LOSSES.items(), ("k-", "C0-.", "C1-", "C1--", "C2-", "C3:"), strict=True):
            ax.plot(across, loss.value(np.ones(500), across), style, lw=2, label=name)
        ax.set(xlabel="margin, y · score", ylabel="loss", ylim=(-0.1, 4))
        ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.62, 1.0), ncols=2)
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        figure.savefig(Path(sys.argv[1]) / "losses.png", dpi=80)


if __name__ == "__main__":
    main()
