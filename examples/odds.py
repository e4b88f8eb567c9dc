"""Logistic regression: log-odds, odds ratios, and how far they can be trusted.

Made-up loans whose defaults follow a known rule: each 10 points of debt ratio multiply the odds of default by 1.8, each
year in the job by 0.9. The intervals should cover that. With a folder as argument, draws the odds ratios there.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from hiperplano import CoefficientDisplay, KSDisplay, LogisticRegression, ks_score

TRUE = {"debt_ratio_10": np.log(1.8), "years_in_job": np.log(0.9), "age_10": 0.0}


def loans(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "debt_ratio_10": rng.normal(3, 1, n),
            "years_in_job": rng.exponential(5, n),
            "age_10": rng.normal(4, 1.2, n),
        }
    )
    score = X @ pd.Series(TRUE) - 3.2
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "default", "paid")


def main():
    X, y = loans()
    model = LogisticRegression(C=np.inf).fit(X, y == "default")
    table = model.summary()
    print(table)
    print("\nodds ratio, its interval, and the truth:")
    for name, ratio, low, high in zip(table.names, table.odds_ratio, table.odds_low, table.odds_high, strict=True):
        if name in TRUE:
            print(f"{name:14s}{ratio:6.2f}  ({low:.2f} to {high:.2f})  {np.exp(TRUE[name]):.2f}")
    probability = model.predict_proba(X)[:, 1]
    print(f"\nmean probability {probability.mean():.4f}, share of defaults {np.mean(y == 'default'):.4f}")
    print(f"KS {ks_score(y == 'default', probability):.3f}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        CoefficientDisplay.from_estimator(model, odds=True).figure_.savefig(folder / "odds.png", dpi=80)
        KSDisplay.from_predictions(y, probability, pos_label="default").figure_.savefig(folder / "odds_ks.png", dpi=80)


if __name__ == "__main__":
    main()
