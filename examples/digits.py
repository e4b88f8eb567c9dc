"""Digits by intensity and symmetry: two features that a person can think of, in place of all pixels.

Intensity is the mean ink of an image; asymmetry the mean difference between the image and its mirror images. A 0 is
nearly symmetric, a 5 is not. With a folder as argument, draws the regions of a perceptron with a pocket there.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score

from hiperplano import LinearDiscriminantAnalysis, LogisticRegression, Perceptron, RegionsDisplay


def features(images):
    """Intensity and asymmetry of images of shape (n, 8, 8) with ink from 0 to 16."""
    ink = images / 16.0
    sides = np.abs(ink - ink[:, :, ::-1]).mean(axis=(1, 2))
    ends = np.abs(ink - ink[:, ::-1, :]).mean(axis=(1, 2))
    return np.column_stack([ink.mean(axis=(1, 2)), (sides + ends) / 2])


def main():
    digits = load_digits()
    X, y = features(digits.images), digits.target
    for digit in (0, 5):
        mean = X[y == digit].mean(axis=0)
        print(f"{digit}: intensity {mean[0]:.3f}, asymmetry {mean[1]:.3f}")

    pair = np.isin(y, (0, 5))
    pixels = digits.images.reshape(len(y), -1)
    models = {
        "perceptron": Perceptron(tol=None, max_iter=100),
        "perceptron with pocket": Perceptron(pocket=True, tol=None, max_iter=100),
        "discriminant": LinearDiscriminantAnalysis(),
    }
    print("\n0 or 5, right on digits not seen in the fit:")
    for name, model in models.items():
        print(f"{name}: {cross_val_score(model, X[pair], y[pair]).mean():.3f}")
    many = cross_val_score(LogisticRegression(), pixels[pair], y[pair]).mean()
    print(f"for comparison, logistic regression on all 64 pixels: {many:.3f}")
    if len(sys.argv) > 1:
        model = models["perceptron with pocket"].fit(X[pair], y[pair])
        display = RegionsDisplay.from_estimator(model, X[pair], y[pair], s=12)
        display.ax_.set(xlabel="intensity", ylabel="asymmetry")
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        display.figure_.savefig(Path(sys.argv[1]) / "digits.png", dpi=80)


if __name__ == "__main__":
    main()
