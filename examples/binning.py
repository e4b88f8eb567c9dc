"""Bins of the credit table: the best ones, by hand, and what weight of evidence is worth on rows not seen.

Age is not linear in the log-odds of most tables, and years_in_job holds 999 where nobody asked; bins take both as they
come. With a folder as argument, draws the bins of one column there.
"""

import sys
from pathlib import Path

from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from hiperplano import BinningDisplay, LogisticRegression, OptimalBinning, WoEEncoder, load_credit_default


def main():
    X, y = load_credit_default(return_X_y=True)
    X = X.drop(columns="client_id")
    binning = OptimalBinning(max_bins=4, special_codes=[999]).fit(X["years_in_job"], y)
    print(binning.table())
    print(f"{binning.status_} Trend: {binning.trend_}.")
    special = {"years_in_job": {"special_codes": [999]}, "late_payments": {"special_codes": [-1]}}
    encoder = WoEEncoder(OptimalBinning(max_bins=5), per_column=special, min_iv=0.02)
    for name, value in encoder.fit(X, y).information_values().items():
        print(f"{name:18} IV {value:.3f}  {encoder.reasons_.get(name, '')}".rstrip())
    model = make_pipeline(encoder, LogisticRegression())
    auc = cross_val_score(model, X, y, scoring="roc_auc")
    print(f"AUC on rows that neither bins nor coefficients saw: {auc.mean():.3f}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        BinningDisplay.from_estimator(binning).figure_.savefig(folder / "binning.png", dpi=80)


if __name__ == "__main__":
    main()
