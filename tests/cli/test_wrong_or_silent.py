"""What the command must not pass over in silence, each on a table of the kind that showed it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Reference

from hiperplano import MarginDisplay, ResidualDisplay, diagnose, inference, load, replay, signed_distance

N = 400


def table(seed=0, n=N):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.lognormal(10, 0.4, n).round(2),
            "age": rng.integers(18, 80, n),
            "city": rng.choice(list("NSE"), n),
        }
    )
    score = 0.05 * (frame["age"] - 45) + (frame["city"] == "S")
    return rng, frame.assign(y=np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "bad", "good"))


def fitted(run, frame, *more, target="y"):
    frame.to_csv("t.csv", index=False)
    out = run("fit", "t.csv", "-t", target, "--json", "--no-report", *more)
    assert out.code == 0, out.err
    return json.loads(out.out)


def test_indicators_that_say_the_same_are_one_and_p_values_stay(run):
    rng, frame = table()
    gone = rng.random(N) < 0.2
    more = {f"q{j}": np.where(gone, np.nan, rng.normal(size=N).round(3)) for j in range(13)}
    found = fitted(run, frame.assign(**more))
    assert sum(name.endswith(" missing") for name in found["left_out"]) == 12
    assert found["left_out"]["q5 missing"] == ["q0 missing"]
    assert all(np.isfinite(each["p"]) for each in found["coefficients"])
    assert any("12 columns follow from others and were left out: q1 missing" in note for note in found["notes"])
    names = [each["name"] for each in found["coefficients"]]
    assert "q0 missing" in names


def test_predict_flags_what_the_fit_has_not_seen(run, tmp_path):
    _, frame = table()
    fitted(run, frame)
    new = frame.drop(columns="y").head(20).copy()
    new.loc[3, "income"] *= 1000
    new["city"] = "X"
    new.to_csv("new.csv", index=False)
    facts = json.loads(run("predict", "hiperplano-out/model.skops", "new.csv", "-o", "p.csv", "--json").out)
    assert facts["unlike"] == {"income": 1, "city": 20}
    assert facts["unlike_rows"] == 20
    assert any("city: 20 of 20 rows (100.0%) hold categories that the fit never saw: 'X'" in n for n in facts["notes"])
    flags = pd.read_csv("p.csv")["unlike the fit"]
    assert "income outside" in flags[3]
    assert flags[0] == "city unseen"
    strict = run("predict", "hiperplano-out/model.skops", "new.csv", "-o", "q.csv", "--strict")
    assert strict.code == 1
    assert "income: 1 of 20 rows" in strict.err
    assert not (tmp_path / "q.csv").exists()
    new.drop(columns="age").to_csv("less.csv", index=False)
    out = run("predict", "hiperplano-out/model.skops", "less.csv", "-o", "p.csv")
    assert "taken as missing in every row: age" in " ".join(out.out.split())
    assert run("predict", "hiperplano-out/model.skops", "less.csv", "-o", "p.csv", "--strict").code == 1


def test_an_order_names_every_value(run):
    rng, frame = table()
    frame = frame.assign(grade=rng.choice(list("abc"), N))
    frame.to_csv("t.csv", index=False)
    out = run("fit", "t.csv", "-t", "y", "--order", "grade=a,b")
    assert out.code == 1
    assert "--order grade: the column also holds 'c'" in out.err
    assert f"({(frame['grade'] == 'c').sum()} rows)" in out.err
    assert run("fit", "t.csv", "-t", "y", "--order", "grade=c,a,b", "--no-report").code == 0
    assert (
        "--kind: no column 'grad'; did you mean 'grade'?"
        in run("fit", "t.csv", "-t", "y", "--kind", "grad=nominal").err
    )


def test_cross_validation_shuffles_and_tells_its_choice(run):
    """Rows sorted by the target and by a column that drifts would make unshuffled folds differ from each other."""
    _, frame = table()
    found = fitted(run, frame.sort_values(["y", "age"]), "-m", "logistic-cv")
    [note] = [note for note in found["notes"] if "chosen by cross-validation" in note]
    model = load("hiperplano-out/model.skops")[-1]
    assert note.startswith(f"C = {float(np.ravel(model.C_)[0]):g} ")
    assert model.cv.shuffle


def test_rows_are_those_of_the_file(run, tmp_path):
    rng, frame = table()
    frame["price"] = 3.0 * frame["age"] + rng.normal(size=N)
    frame.loc[5, "price"] = np.nan
    frame.loc[211, "price"] = 9_000.0
    frame.to_csv("t.csv", index=False)
    assert run("fit", "t.csv", "-t", "price", "--validation", 0, "--quiet", "-o", tmp_path).code == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "the largest studentised residual is in row 212" in page
    model = load(tmp_path / "model.skops")
    kept = frame.dropna(subset="price")
    assert "in row 211;" in str(diagnose(model, kept.drop(columns="price"), kept["price"]))


def test_names_are_those_of_the_table_everywhere(run):
    x, z = np.random.default_rng(0).normal(size=(2, 120))
    frame = pd.DataFrame({"weight": x, "height": z, "y": np.where(x + z > 0, "b", "a")})
    out = run_with(run, frame, "-m", "logistic")
    assert "by 'weight', 'height'" in out
    assert "x0" not in out
    assert "Choose --model firth or --model logistic-l2." in out
    assert "firth=True" not in out
    out = run_with(run, frame)  # Firth's is taken, and is not advised any more
    assert "Firth's was used" in out
    assert "Choose --model firth" not in out
    assert load("hiperplano-out/model.skops")[-1].summary().names == ["intercept", "weight", "height"]


def run_with(run, frame, *more):
    frame.to_csv("t.csv", index=False)
    out = run("fit", "t.csv", "-t", "y", "--no-report", *more)
    assert out.code == 0, out.err
    return " ".join(out.out.split())


def test_special_codes_count_as_missing_in_every_output(run, tmp_path):
    rng, frame = table()
    frame = frame.assign(a=rng.integers(0, 50, N), b=rng.integers(0, 50, N), c=rng.integers(0, 50, N))
    frame.loc[:39, "a"] = -9
    frame.loc[:59, "b"] = np.repeat([-9, -8, -7], 20)
    found = fitted(run, frame)
    missing = {each["name"]: each["missing"] for each in found["columns"]}
    assert (missing["a"], missing["b"], missing["c"]) == (40, 60, 0)
    names = [each["name"] for each in found["coefficients"]]
    assert "b missing" in names
    looked = {each["name"]: each for each in json.loads(run("look", "t.csv", "--json").out)["columns"]}
    assert (looked["b"]["missing"], looked["b"]["low"]) == (60, frame["b"][60:].min())
    assert "15.0%" in run("look", "t.csv").out
    said = " ".join(run("fit", "t.csv", "-t", "y", "-o", tmp_path).out.split())
    assert "taken as missing values: a (-9), b (-9, -8, -7). If they are amounts, give --missing a=" in said
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ">−9<" not in page
    run("report", tmp_path / "model.skops", "t.csv", "-o", "again.html", "-q")
    assert ">−9<" not in (tmp_path / "again.html").read_text(encoding="utf-8")
    given = fitted(run, frame.assign(city=frame["city"].replace("E", "?!")), "--missing", "*=-9,-8,-7,?!")
    missing = {each["name"]: each["missing"] for each in given["columns"]}
    assert (missing["a"], missing["b"], missing["city"]) == (40, 60, (frame["city"] == "E").sum())
    none = fitted(run, frame, "--missing", "b=")
    assert {each["name"]: each["missing"] for each in none["columns"]}["b"] == 0


def test_a_target_that_is_a_sum_is_told(run):
    _, frame = table()
    found = fitted(run, frame.assign(total=2 * frame["income"] + 5 * frame["age"]), "--drop", "y", target="total")
    assert found["verdict"]["accuracy"]["tone"] == "bad"
    assert "follows exactly from the columns (R² of 1)" in found["verdict"]["accuracy"]["text"]


def test_codes_of_categories_are_asked_for(run):
    rng, frame = table()
    found = fitted(run, frame.assign(marital=rng.integers(1, 5, N), children=rng.integers(0, 5, N)))
    [note] = [note for note in found["notes"] if note.startswith("Few whole numbers")]
    assert "amounts: marital. If they are codes of categories, give --kind marital=nominal" in note


@pytest.mark.parametrize(
    "words", [("Very dissatisfied", "dissatisfied", "SATISFIED"), ("frío", "templado", "caliente")]
)
def test_words_of_satisfaction_and_temperature_have_an_order(words, run):
    rng, frame = table()
    found = fitted(run, frame.assign(mood=rng.choice(words, N)))
    assert {each["name"]: (each["kind"], each["why"]) for each in found["columns"]}["mood"] == (
        "ordered", " < ".join(words)
    )  # fmt: skip


def test_validation_on_nothing_on_a_file_out_of_time_and_by_group(run):
    rng, frame = table()
    every = fitted(run, frame, "--validation", 0)
    assert every["validation"] is None
    assert every["training"]["base_rate"] == pytest.approx((frame["y"] == "bad").mean())
    assert "no rows were held out" in every["verdict"]["overfitting"]["text"]
    table(1)[1].to_csv("other.csv", index=False)
    found = fitted(run, frame, "--validation", "other.csv")
    assert found["validation"]["base_rate"] == pytest.approx((table(1)[1]["y"] == "bad").mean())
    frame["day"] = pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.permutation(N), "D")
    found = fitted(run, frame, "--split-by", "day")
    late = frame.sort_values("day").tail(120)
    assert found["validation"]["base_rate"] == pytest.approx((late["y"] == "bad").mean())
    assert "day (days)" not in [each["name"] for each in found["coefficients"]]
    frame["shop"] = rng.choice([f"shop {k}" for k in range(10)], N)
    found = fitted(run, frame, "--split-by", "shop")
    assert any("validated on 3 of 10 groups of shop" in note for note in found["notes"])


def test_overfitting_is_said(run):
    rng, frame = table(n=160)
    noise = pd.DataFrame(rng.normal(size=(160, 40)), columns=[f"n{j}" for j in range(40)])
    found = fitted(run, frame.join(noise), "-m", "logistic-l2")
    assert found["verdict"]["overfitting"]["tone"] == "bad"
    assert "The model overfits. AUC" in found["verdict"]["overfitting"]["text"]
    assert "fewer columns" in found["verdict"]["next"]["text"]
    honest = fitted(run, table(n=2000)[1])
    assert honest["verdict"]["overfitting"]["tone"] == "good"


def test_figures_take_the_pipeline(run):
    rng, frame = table()
    fitted(run, frame, "--validation", 0, "--drop", "city")
    X, y = frame[["income", "age"]], frame["y"]
    model = load("hiperplano-out/model.skops")
    assert inference(model, X, y).names == ["intercept", "income", "age"]
    distance = signed_distance(model, X)
    coef = model[-1].coef_[0]
    np.testing.assert_allclose(distance, model.decision_function(X) / np.linalg.norm(coef))
    assert MarginDisplay.from_estimator(model, X, y).coef.shape == (2,)
    price = 3 * frame["age"] + rng.normal(size=N)
    fitted(run, frame.assign(price=price).drop(columns=["y", "city"]), "--validation", 0, target="price")
    model = load("hiperplano-out/model.skops")
    assert diagnose(model, X, price).names == ["income", "age"]
    assert len(ResidualDisplay.from_estimator(model, X, price).residuals) == N
    fitted(run, frame, "-m", "perceptron", "--validation", 0, "--drop", "city")
    model = load("hiperplano-out/model.skops")
    assert next(iter(replay(model, X, y))).coef.shape == (2,)


def test_regressors_with_units_of_their_own_are_not_worse_than_least_squares(run):
    rng, frame = table()
    price = 1e5 + 9_000 * frame["age"] + rng.normal(0, 2e4, N)
    frame.drop(columns="y").assign(price=price).to_csv("t.csv", index=False)
    facts = json.loads(run("compare", "t.csv", "-t", "price", "--json").out)
    error = {each["name"]: each["measures"]["rmse"]["mean"] for each in facts["models"]}
    for name in ("svm", "sgd", "passive-aggressive"):
        assert error[name] < 1.1 * error["least-squares"]
    assert error["constant"] > 5 * error["least-squares"]
    assert all("training" in each["measures"]["rmse"] for each in facts["models"])


def test_only_models_with_probabilities_are_recommended_where_they_are_asked_for(run):
    _, frame = table()
    frame.to_csv("t.csv", index=False)
    asked = ["compare", "t.csv", "-t", "y", "-m", "least-squares", "-m", "svm", "-m", "logistic", "--json"]
    assert json.loads(run(*asked).out)["chosen"] == "least-squares"
    assert json.loads(run(*asked, "--probabilities").out)["chosen"] == "logistic"


def test_strengths_cutoffs_weights_and_columns(run):
    _, frame = table()
    numbers = frame[["income", "age", "y"]]
    found = fitted(run, numbers, "--C", 0.01, "--validation", 0)
    X = (numbers[["income", "age"]] - numbers[["income", "age"]].mean()) / numbers[["income", "age"]].std(ddof=0)
    reference = Reference(C=0.01, tol=1e-10).fit(X, numbers["y"] == "bad")
    told = {each["name"]: each["coefficient"] for each in found["coefficients"]}
    expected = reference.coef_[0] / numbers[["income", "age"]].std(ddof=0).to_numpy()
    assert [told["income"], told["age"]] == pytest.approx(expected.tolist(), rel=1e-5)
    for cutoff in (0.3, 0.8):
        fitted(run, frame, "--cutoff", cutoff)
        run("predict", "hiperplano-out/model.skops", "t.csv", "-o", "p.csv")
        scores = pd.read_csv("p.csv")
        assert ((scores["probability bad"] >= cutoff) == (scores["prediction"] == "bad")).all()
    balanced = fitted(run, frame, "--class-weight", "bad=1,good=1")
    assert balanced["coefficients"] == fitted(run, frame)["coefficients"]
    twice = frame.assign(w=np.where(frame["age"] > 50, 2, 1))
    repeated = pd.concat([frame, frame[frame["age"] > 50]], ignore_index=True)
    weighted = fitted(run, twice, "--weight", "w", "--validation", 0)["coefficients"]
    expected = fitted(run, repeated, "--validation", 0)["coefficients"]
    assert [each["name"] for each in weighted] == [each["name"] for each in expected]
    np.testing.assert_allclose(
        [each["coefficient"] for each in weighted], [each["coefficient"] for each in expected], rtol=1e-6
    )
    only = fitted(run, frame, "--only", "age")
    assert [each["name"] for each in only["coefficients"]] == ["intercept", "age"]
    assert "--alpha: the model logistic has no such parameter" in run(
        "fit", "t.csv", "-t", "y", "-m", "logistic", "--alpha", 1
    ).err  # fmt: skip


def test_a_fit_is_repeated_from_its_options(run, tmp_path):
    _, frame = table()
    first = fitted(
        run, frame, "-m", "logistic-l2", "--C", 0.5, "--drop", "city", "--seed", 3, "--save-config", "c.json"
    )
    kept = json.loads((tmp_path / "c.json").read_text())
    assert (kept["model"], kept["c"], kept["drop"], kept["target"]) == ("logistic-l2", 0.5, ["city"], "y")
    again = run("fit", "t.csv", "--config", "c.json", "--json")
    assert json.loads(again.out)["coefficients"] == first["coefficients"]
    other = run("fit", "t.csv", "--config", "c.json", "--json", "--C", 5)
    assert json.loads(other.out)["coefficients"] != first["coefficients"]
    (tmp_path / "d.json").write_text('{"modle": "svm"}')
    assert "options that there are not: modle" in run("fit", "t.csv", "-t", "y", "--config", "d.json").err


def test_terms_are_made_and_named(run):
    _, frame = table()
    frame["day"] = pd.date_range("2020-01-01", periods=N)
    terms = ["log(income)", "age^2", "spline(age, 4)", "age*city", "weekday(day)", "income*age"]
    found = fitted(run, frame, *(part for term in terms for part in ("--term", term)))
    names = [each["name"] for each in found["coefficients"]] + list(found["left_out"])
    for name in ("log(income)", "age^2", "spline(age, 4) 1", "spline(age, 4) 2", "age*city [S]", "income*age"):
        assert name in names
    assert sum(name.startswith("weekday(day) = ") for name in names) == 6
    model = load("hiperplano-out/model.skops")
    coded = model[0].transform(frame)
    np.testing.assert_allclose(coded["log(income)"], np.log(frame["income"]))
    if "age*city [S]" in coded:
        np.testing.assert_allclose(coded["age*city [S]"], frame["age"] * (frame["city"] == "S"))
    bad = run("fit", "t.csv", "-t", "y", "--term", "log(city)")
    assert "--term log(city): 'city' is not one of the columns that fit it" in bad.err


def test_selection_keeps_its_steps(run):
    rng, frame = table()
    frame = frame.assign(noise=rng.normal(size=N), other=rng.normal(size=N))
    found = fitted(run, frame, "--select", "bic", "--validation", 0)
    gone = [step["left_out"] for step in found["selection"]]
    assert {"noise", "other"} <= set(gone)
    assert "age" not in gone
    assert all(step["after"] < step["before"] for step in found["selection"])
    names = [each["name"] for each in found["coefficients"]]
    assert not set(gone) & set(names)
    last = load("hiperplano-out/model.skops")[-1].summary().stats  # what other code calls BIC
    assert found["selection"][-1]["after"] == pytest.approx(last["bic"])


def test_evaluate_shows_the_fit_beside_the_new_rows(run):
    _, frame = table()
    fitted(run, frame)
    older = table(5)[1]
    older["age"] = (older["age"] + 25).clip(upper=95)
    older.to_csv("new.csv", index=False)
    facts = json.loads(run("evaluate", "hiperplano-out/model.skops", "new.csv", "--json").out)
    assert facts["fit"]["training"]["rows"] == 280
    assert facts["measures"]["psi"] > 0.25
    assert facts["verdict"]["calibration"]["text"]
    shown = run("evaluate", "hiperplano-out/model.skops", "new.csv").out
    for words in ("training", "validation", "PSI of the score", "base rate", "Gini"):
        assert words in shown
