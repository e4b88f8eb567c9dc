"""Twenty generated tables of the kinds people have, each through look, fit, compare, predict and evaluate."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from hiperplano import load

N = 240


def _base(seed, n=N):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.lognormal(10, 0.5, n).round(0),
            "age": rng.integers(18, 80, n),
            "ratio": rng.beta(2, 5, n).round(4),
            "city": rng.choice(["north", "south", "east"], n),
        }
    )
    score = 4 * (frame["ratio"] - 0.3) + 0.8 * (frame["city"] == "south") - 0.02 * (frame["age"] - 45)
    return rng, frame, score.to_numpy()


def _two(score, rng, yes="yes", no="no"):
    return np.where(rng.random(len(score)) < 1 / (1 + np.exp(-score)), yes, no)


def table(number):
    """A frame, its target, and how it is written."""
    rng, frame, score = _base(number)
    name = "y"
    if number % 4 == 3:
        frame[name] = (50_000 * (score + rng.normal(0, 0.4, N)) + 200_000).round(2)
    elif number % 4 == 2:
        frame[name] = pd.qcut(score + rng.normal(0, 0.5, N), 3, labels=["c", "a", "b"]).astype(str)
    else:
        frame[name] = _two(2 * score, rng)
    changes = [
        lambda f: f,  # plain
        lambda f: f.assign(income=f["income"].where(rng.random(N) > 0.2)),  # gaps
        lambda f: f.assign(code=np.where(rng.random(N) < 0.1, -9, np.where(rng.random(N) < 0.1, -8, f["age"]))),
        lambda f: f.assign(zip=[f"{v:05d}" for v in rng.integers(1, 60, N)]),  # postcodes
        lambda f: f.assign(day=pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D")),
        lambda f: f.assign(client_id=np.arange(1000, 1000 + N), constant=1),
        lambda f: f.assign(mood=rng.choice(["Dissatisfied", "neutral", "Satisfied"], N)),
        lambda f: f.assign(double=2 * f["income"], total=f["income"] + f["age"]),
        lambda f: f.assign(many=rng.choice([f"shop {i}" for i in range(80)], N)),
        lambda f: f.assign(flag=rng.random(N) < 0.5),
    ]
    return changes[number % 10](frame), name


def write(frame, path, number):
    """In the ways of offices: separators, decimal commas, workbooks, row names, Parquet."""
    style = number % 5
    if style == 1:
        path = path.with_suffix(".csv")
        frame.to_csv(path, index=False, sep=";", decimal=",", encoding="cp1252")
    elif style == 2:
        path = path.with_suffix(".xlsx")
        frame.to_excel(path, index=False)
    elif style == 3:
        path = path.with_suffix(".csv")
        frame.to_csv(path)  # with row names
    elif style == 4:
        path = path.with_suffix(".parquet")
        frame.to_parquet(path)
    else:
        path = path.with_suffix(".csv")
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("number", range(20))
def test_a_table_goes_through_all_commands(number, run, tmp_path):
    frame, target = table(number)
    file = write(frame, tmp_path / f"table{number}", number)
    looked = json.loads(run("look", file, "-t", target, "--json").out)
    assert looked["rows"] == N
    language = "es" if number % 2 else "en"
    out = run(
        "fit",
        file,
        "-t",
        target,
        "--json",
        "-o",
        tmp_path,
        "--lang",
        language,
        *(["--no-report"] if number > 7 else []),
    )
    assert out.code == 0, out.err
    facts = json.loads(out.out)
    assert facts["verdict"]["next"]["text"]
    own = {fact["name"] for fact in facts["columns"]}
    assert own == set(frame.columns) - {target}
    assert any(name.startswith(("ratio", "age")) for name in (each["name"] for each in facts["coefficients"]))
    models = ("ridge", "svm") if number % 4 == 3 else ("lda", "logistic")
    compared = run("compare", file, "-t", target, "--folds", 2, "-m", models[0], "-m", models[1], "--json")
    assert compared.code == 0, compared.err
    found = json.loads(compared.out)
    assert [each["name"] for each in found["models"]] == ["constant", *models]
    assert found["chosen"] in models
    predicted = run("predict", tmp_path / "model.skops", file, "-o", tmp_path / "p.csv", "--json")
    assert predicted.code == 0, predicted.err
    scores = pd.read_csv(tmp_path / "p.csv")
    assert len(scores) == N
    evaluated = json.loads(run("evaluate", tmp_path / "model.skops", file, "--json").out)
    assert evaluated["rows"] == N
    if number % 4 in (0, 1):
        right = (scores["prediction"].astype(str) == frame[target].astype(str)).mean()
        assert evaluated["measures"]["accuracy"] == pytest.approx(right, abs=1e-12)
    summary = getattr(load(tmp_path / "model.skops")[-1], "summary", None)
    if summary is not None:
        names = [name for name in summary().names if name != "intercept"]
        assert set(names) == {each["name"] for each in facts["coefficients"]} - {"intercept"}
