"""Ridge and its path: what a penalty does to coefficients, to the training error and to the validation error.

Polynomials of degree 12 through 25 noisy points of a wave: without a penalty the curve follows the noise. With a
folder as argument, draws the path there.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from hiperplano import PathDisplay, RidgeCV


def wave(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 1))
    return x, np.sin(3 * x[:, 0]) + 0.3 * rng.normal(size=n)


def main():
    x, y = wave(25, seed=0)
    x_new, y_new = wave(1000, seed=1)
    powers = make_pipeline(PolynomialFeatures(12, include_bias=False), StandardScaler())
    rows, rows_new = powers.fit_transform(x), powers.transform(x_new)

    model = RidgeCV(alphas=np.logspace(-9, 4, 60)).fit(rows, y)
    print(f"leave-one-out chooses lambda = alpha/n = {model.alpha_ / len(y):.1e}\n")
    print("lambda    length of coef   training error   error on new rows")
    for alpha in (model.alphas[0], model.alpha_, 100.0):
        fit = RidgeCV(alphas=[alpha]).fit(rows, y)
        seen, unseen = np.mean((y - fit.predict(rows)) ** 2), np.mean((y_new - fit.predict(rows_new)) ** 2)
        length = np.linalg.norm(fit.coef_)
        print(f"{alpha / len(y):<10.1e}{length:14.3f}{seen:17.3f}{unseen:20.3f}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        PathDisplay.from_estimator(model, rows, y).figure_.savefig(folder / "ridge.png", dpi=80)


if __name__ == "__main__":
    main()
