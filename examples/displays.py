"""The displays, one of each kind that docs/plots.md shows.

Prints the figures that pictures carry; with a folder as argument, draws the pictures of docs/plots.md there.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, make_blobs
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from hiperplano import LinearRegression, LogisticRegression, Perceptron, RidgeCV, ks_score, load_credit_line, plot
from hiperplano.metrics import population_stability_index


def main():
    data = load_breast_cancer(as_frame=True)
    rows, label = data.data.iloc[:, :10], np.array(["malignant", "benign"])[data.target]
    X, X_new, y, y_new = train_test_split(rows, label, test_size=0.5, random_state=0)
    model = LogisticRegression().fit(X, y == "malignant")
    score = model.predict_proba(X_new)[:, 1]
    shifted = X_new * 1.1  # as if another instrument measured a tenth more
    print(f"KS {ks_score(y_new == 'malignant', score):.3f}")
    drift = population_stability_index(score, model.predict_proba(shifted)[:, 1], bins=5)
    print(f"stability of the scores where all measures grow by a tenth: PSI {drift:.3f}")
    if len(sys.argv) == 1:
        return
    credit, line = load_credit_line(as_frame=True, return_X_y=True)
    plain = LinearRegression().fit(credit, line)
    measures, progress = load_diabetes(return_X_y=True, as_frame=True)
    measures = StandardScaler().set_output(transform="pandas").fit_transform(measures)
    search = RidgeCV(alphas=np.logspace(-1, 5, 50)).fit(measures, progress)
    points, side = make_blobs([25, 25], centers=[[-1.5, 0.0], [3.5, 1.5]], cluster_std=1.0, random_state=3)
    pictures = {
        "ks": plot.KSDisplay.from_predictions(y_new, score, pos_label="malignant"),
        "gains": plot.GainsDisplay.from_predictions(y_new, score, pos_label="malignant"),
        "lift": plot.GainsDisplay.from_predictions(y_new, score, pos_label="malignant", kind="lift"),
        "coefficients": plot.CoefficientDisplay.from_estimator(plain, credit),
        "residuals": plot.ResidualDisplay.from_estimator(plain, credit, line),
        "path": plot.PathDisplay.from_estimator(search, measures, progress),
        "replay": plot.ReplayDisplay.from_estimator(Perceptron(tol=None, random_state=13), points, side),
        "divergence": plot.DivergenceDisplay.from_estimator(model, X_new, shifted, bins=5),
    }
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    for name, display in pictures.items():
        display.figure_.savefig(Path(sys.argv[1]) / f"{name}.png", dpi=80)


if __name__ == "__main__":
    main()
