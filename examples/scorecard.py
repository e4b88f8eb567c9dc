"""From a table of loans to points, reasons, a cut-off, and SQL that gives the same scores.

Columns are binned, bins get points, and the sum of an applicant's points ranks by the odds of a default. The statement
for a database is run in DuckDB and SQLite and compared with Python, row by row. With a folder as argument, writes the
statement and the points there.
"""

import sys
from pathlib import Path

from hiperplano import Scorecard, WoEEncoder, load_credit_default, monitor, to_json, to_sql, verify_sql
from hiperplano.metrics import ranking_scores

CODES = {
    "years_in_job": {"special_codes": {"not asked": 999}},
    "late_payments": {"special_codes": {"no history": -1}},
}


def main():
    X, y = load_credit_default(return_X_y=True)
    X = X.drop(columns=["client_id", "application_date"])
    X_new, y_new = X[3000:], y[3000:]
    card = Scorecard(
        event="yes", encoder=WoEEncoder(per_column=CODES), selection="stepwise", criterion="bic", positive=True
    ).fit(X[:3000], y[:3000])
    print(f"variables, as they entered: {', '.join(step.variable for step in card.steps_[1:])}")
    worst = min(card.points().rows(), key=lambda row: row["points"])
    print(f"fewest points: {worst['points']:.0f} for {worst['variable']} in {worst['bin']}")

    ranked = ranking_scores(y_new == "yes", -card.score_points(X_new))
    print(f"new applicants: AUC {ranked.auc:.3f}, KS {ranked.ks:.3f}")
    strategy = card.strategy(X_new, y_new, gain=100, loss=1000)
    cut = strategy.by_profit()
    print(f"cut-off by profit: {cut.score:.0f} points, {cut.approval_rate:.0%} approved, {cut.event_rate:.1%} default")
    refused = X_new[card.score_points(X_new) < cut.score][:1]
    why = card.reasons(refused, k=3)
    print(f"reasons for one refusal: {', '.join(why.variables[0])}")
    print(f"monitoring: {monitor(card, X_new, y_new).verdicts[0]}")

    check = verify_sql(card, X_new)
    print(f"SQL agrees with Python in all {len(X_new)} rows: {check.agrees}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        to_sql(card, "applicants", path=folder / "scorecard.sql")
        to_json(card, path=folder / "scorecard.json")


if __name__ == "__main__":
    main()
