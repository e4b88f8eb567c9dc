"""What stands on a page is what other libraries compute."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from scipy.stats import ks_2samp, norm
from sklearn.datasets import load_iris
from sklearn.metrics import (
    brier_score_loss,
    confusion_matrix,
    mean_absolute_error,
    precision_recall_fscore_support,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.multiclass import OneVsRestClassifier

from hiperplano import (
    CostSensitiveClassifier,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    ambiguous,
    diagnose,
    load_credit_line,
    population_stability_index,
    write_report,
)
from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.metrics import auc_interval
from tests.report.pages import COSTS, coded, credit, credit_model
from tests.report.reading import read


@pytest.fixture(scope="module")
def loans():
    return credit_model()


@pytest.fixture(scope="module")
def page(loans, tmp_path_factory):
    model, training, (X, y) = loans
    path = tmp_path_factory.mktemp("page") / "report.html"
    told = {"Command": "hiperplano fit loans.csv", "Seed": 7}
    return read(write_report(path, model, X, y, training=training, positive="default", costs=COSTS, provenance=told))


def key_figures(page):
    return {div.one("dt").text: div.number for div in page.one("dl", class_="key-figures").all("div")}


def test_the_key_numbers_are_those_of_scikit_learn_and_scipy(page, loans):
    model, _, (X, y) = loans
    positive, p = (y == "default").to_numpy(), model.predict_proba(X)[:, 0]
    found = key_figures(page)
    assert found["AUC"] == pytest.approx(roc_auc_score(positive, p), abs=1e-12)
    assert found["KS"] == pytest.approx(ks_2samp(p[positive], p[~positive]).statistic, abs=1e-12)
    decided = p > 1 / 9  # a default costs 8, a refusal 1
    cost = np.mean(np.where(positive, np.where(decided, 0.0, 8.0), np.where(decided, 1.0, 0.0)))
    assert found["Mean cost"] == pytest.approx(cost, abs=1e-12)
    everybody = f"{8 * positive.mean():.5g}"
    assert f"per row; {everybody} if paid were decided for everybody" in page.one("dl", class_="key-figures").text
    doubt = auc_interval(positive, p)
    assert f"95% interval: {doubt.low:.3f} – {doubt.high:.3f}" in page.one("dl", class_="key-figures").text
    caption = next(each.text for each in page.all("figcaption") if each.text.startswith("Calibration"))
    assert f"Brier score {brier_score_loss(positive, p):.4f}" in caption


def test_coefficients_are_those_of_the_positive_class(page, loans):
    model = loans[0]
    summary = model[-1].summary()
    rows = page.table("coefficients")
    names = list(model[:-1].get_feature_names_out())
    for j, name in enumerate(["intercept", *names]):
        coef, se, z, p, low, high, odds, *_ = (cell.number for cell in rows[name])
        assert coef == pytest.approx(-summary.coef[j])  # the model's second class is 'paid'
        assert se == pytest.approx(summary.se[j])
        assert z == pytest.approx(coef / se)
        assert p == pytest.approx(2 * norm.sf(abs(z)))
        assert (low, high) == pytest.approx((coef - norm.ppf(0.975) * se, coef + norm.ppf(0.975) * se))
        assert odds == pytest.approx(np.exp(coef))


def test_the_confusion_table_is_that_of_the_cutoff_for_the_costs(page, loans):
    model, _, (X, y) = loans
    decided = np.where(model.predict_proba(X)[:, 0] > 1 / 9, "default", "paid")  # a default costs 8, a refusal 1
    expected = confusion_matrix(y, decided, labels=["paid", "default"])
    rows = page.table("confusion")
    assert [[cell.number for cell in rows[label][:2]] for label in ("paid", "default")] == expected.tolist()
    assert page.one("dd", id="rate-total").number == expected[0, 1] + 8 * expected[1, 0]


def test_the_data_of_the_slider_are_counts_at_every_cutoff(page, loans):
    model, _, (X, y) = loans
    positive, p = (y == "default").to_numpy(), model.predict_proba(X)[:, 0]
    data = json.loads(page.one("script", id="cutoff-data").text)
    cutoffs = np.array(data["cutoffs"])
    assert len(cutoffs) > 100
    assert (np.diff(cutoffs) > 0).all()
    above = p[:, None] > cutoffs
    assert data["tp"] == above[positive].sum(axis=0).tolist()
    assert data["fp"] == above[~positive].sum(axis=0).tolist()
    assert data["fn"] == (~above[positive]).sum(axis=0).tolist()
    assert data["tn"] == (~above[~positive]).sum(axis=0).tolist()


def test_bands_are_those_of_the_sorted_scores(page, loans):
    model, _, (X, y) = loans
    order = np.argsort(-model.predict_proba(X)[:, 0])
    positive = (y == "default").to_numpy()[order]
    rows = list(page.table("bands").values())
    assert [row[1].number for row in rows] == [len(y) / 10] * 10
    assert [row[2].number for row in rows] == positive.reshape(10, -1).sum(axis=1).tolist()
    gained = positive.reshape(10, -1).sum(axis=1).cumsum() / positive.sum()
    assert [row[4].number for row in rows] == pytest.approx(gained.tolist())


def test_columns_are_described(page, loans):
    X = loans[1][0]
    rows = page.table("columns")
    assert list(rows) == list(X.columns)
    low, median, mean, high = (cell.number for cell in rows["income"][3:])
    known = X["income"].dropna()
    assert (low, median, high) == (known.min(), known.median(), known.max())
    assert mean == pytest.approx(known.mean())
    assert rows["income"][1].number == pytest.approx(X["income"].isna().mean())
    largest = X["housing"].value_counts(normalize=True)
    assert f"{largest.index[0]} ({100 * largest.iloc[0]:.0f}%)" in rows["housing"][3].text


def test_stability_is_the_index_of_bands_and_categories(page, loans):
    (before, _), (after, _) = loans[1], loans[2]
    rows = page.table("stability")
    edges = np.quantile(before["age"], np.arange(1, 10) / 10)
    counts = [np.bincount(np.searchsorted(edges, each["age"], side="right"), minlength=11) for each in (before, after)]
    expected = population_stability_index(*counts, bins=None, smoothing=0.5)
    assert rows["age"][0].number == pytest.approx(expected)
    shares = [each["housing"].value_counts().sort_index().to_numpy() for each in (before, after)]
    expected = population_stability_index(*(np.append(share, 0) for share in shares), bins=None, smoothing=0.5)
    assert rows["housing"][0].number == pytest.approx(expected)
    assert {cells[2].text.strip() for cells in rows.values()} == {"stable"}


def test_training_and_validation_stand_side_by_side(page, loans):
    model, training, validation = loans
    auc = page.table("side-by-side")["AUC"]
    for cell, (X, y) in zip(auc[:2], (training, validation), strict=True):
        assert cell.number == pytest.approx(roc_auc_score(y == "paid", model.predict_proba(X)[:, 1]))


def test_the_certificate_and_the_origin_are_told(page, loans):
    model = loans[0]
    assert model[-1].solution_.status in page.one("section", id="certificate").text
    assert "classes overlap" in page.one("section", id="certificate").text
    origin = page.table("provenance")
    assert origin["Command"][0].text == "hiperplano fit loans.csv"
    assert origin["Seed"][0].text == "7"
    assert page.table("versions")["numpy"][0].text == np.__version__


def test_a_regression(tmp_path):
    X, y = load_credit_line(as_frame=True, return_X_y=True)
    model = LinearRegression().fit(X[:300], y[:300])
    page = read(write_report(tmp_path / "page.html", model, X[300:], y[300:], training=(X[:300], y[:300])))
    predicted = model.predict(X[300:])
    found = key_figures(page)
    assert found["R²"] == pytest.approx(r2_score(y[300:], predicted))
    assert found["RMSE"] == pytest.approx(root_mean_squared_error(y[300:], predicted))
    assert found["MAE"] == pytest.approx(mean_absolute_error(y[300:], predicted))
    analysis = diagnose(model, X[:300], y[:300])
    shown = {name: cells[0].number for name, cells in page.table("diagnosis").items()}
    assert shown == {finding.name: finding.value for finding in analysis.findings}
    titles = [svg.all("title")[0].text for svg in page.all("svg", class_="chart")]
    assert titles[:4] == [
        "Residuals against predictions",
        "Actual against predicted",
        "Normal quantiles of the residuals",
        "Leverage and studentised residuals",
    ]
    coef = page.table("coefficients")["income"][0].number
    assert coef == pytest.approx(model.coef_[list(X).index("income")])


def test_many_classes(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LinearDiscriminantAnalysis().fit(X[::2], names[::2])
    page = read(write_report(tmp_path / "page.html", model, X[1::2], names[1::2], costs=1 - np.eye(3)))
    decided = model.predict(X[1::2])
    expected = confusion_matrix(names[1::2], decided)
    rows = page.table("confusion")
    assert [[cell.number for cell in rows[label]] for label in model.classes_] == expected.tolist()
    precision, recall, f1, _ = precision_recall_fscore_support(names[1::2], decided)
    for k, cells in enumerate(page.table("by-class").values()):
        assert [cell.number for cell in cells[1:]] == pytest.approx([recall[k], precision[k], f1[k]])


@pytest.mark.parametrize("model", [OneVsRestClassifier(LeastSquaresClassifier()), LinearSVC()], ids=["rest", "svm"])
def test_the_share_of_ambiguous_rows(model, tmp_path):
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    share = np.mean((model.decision_function(X) > 0).sum(axis=1) != 1)
    if isinstance(model, OneVsRestClassifier):
        share = ambiguous(model, X).mean()
    text = read(write_report(tmp_path / "page.html", model, X, y)).one("section", id="validation").text
    assert f"On {100 * share:.1f}% of the rows" in text


def test_softmax_has_one_table_of_classes_and_the_differences_folded(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(C=10.0).fit(X, y)
    page = read(write_report(tmp_path / "page.html", model, X, y))
    rows = page.table("coefficients")
    assert [cell.number for cell in rows["x1"]] == pytest.approx(model.coef_[:, 1])
    assert [cell.number for cell in rows["intercept"]] == pytest.approx(model.intercept_)
    signs = [cell.attributes.get("data-sign") == "minus" for cell in rows["x1"]]
    assert signs == (model.coef_[:, 1] < 0).tolist()
    folded = page.one("section", id="coefficients").one("details")
    for block in range(2):
        contrast = folded.table(f"contrast-{block}")
        assert contrast["x1"][0].number == pytest.approx(model.coef_[block + 1, 1] - model.coef_[0, 1])
        assert contrast["x1"][1].number == pytest.approx(model.summary().se[block, 2])
    assert "penalised" in page.one("section", id="coefficients").text


def test_a_tuned_cutoff_is_the_one_shown(tmp_path):
    X, y = credit()
    codes = (y == "default").astype(int)
    model = coded(CostSensitiveClassifier(LinearSVC(C=1e-6), costs=[[0, 8], [1, 0]], threshold="tuned"))
    model.fit(X[:800], codes[:800])
    page = read(write_report(tmp_path / "page.html", model, X[800:], codes[800:]))
    expected = confusion_matrix(codes[800:], model.predict(X[800:]))
    rows = page.table("confusion")
    assert [[cell.number for cell in rows[label][:2]] for label in ("0", "1")] == expected.tolist()


def test_polars_and_numpy_give_the_page_of_pandas(tmp_path):
    X, y = credit(400)
    X["income"] = X["income"].fillna(0.0)
    numbers = X[["age", "income", "debt_ratio"]]
    pages = []
    for table in (numbers, pl.DataFrame(numbers.to_dict("list")), numbers.to_numpy()):
        model = LogisticRegression().fit(table, y)
        page = read(write_report(tmp_path / "page.html", model, table, y, training=(table, y)))
        pages.append([node.attributes["value"] for node in page.all("data")])
    assert pages[0] == pages[1] == pages[2]


def test_polars_categories_and_dates(tmp_path):
    X, y = credit(300)
    table = pl.DataFrame(X.to_dict("list")).with_columns(
        pl.col("income").fill_nan(None), since=pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 10, 26), eager=True)
    )
    model = coded(LogisticRegression()).fit(X, y)
    rows = read(write_report(tmp_path / "page.html", model, table, y, training=(table, y))).table("columns")
    assert rows["since"][3].text.strip() == "2020-01-01"
    assert rows["income"][1].number == pytest.approx(X["income"].isna().mean())
    largest = X["housing"].value_counts(normalize=True)
    assert f"{largest.index[0]} ({100 * largest.iloc[0]:.0f}%)" in rows["housing"][3].text


def test_validation_of_one_class_is_told_and_not_drawn(loans, tmp_path):
    model, training, (X, y) = loans
    paid = (y == "paid").to_numpy()
    page = read(write_report(tmp_path / "page.html", model, X[paid], y[paid], training=training))
    assert "All validation rows are of class paid" in page.one("section", id="validation").text
    assert not page.all("svg", aria_labelledby="roc-title roc-desc")


def test_headings_are_in_order_and_everything_has_its_name(page):
    levels = [int(node.name[1]) for node in page.walk() if re.fullmatch(r"h[1-6]", node.name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    labels = {node.attributes["for"] for node in page.all("label")}
    assert {node.attributes["id"] for node in page.all("input")} == labels
    ids = [node.attributes["id"] for node in page.walk() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        assert link.attributes["href"].removeprefix("#") in ids
    for table in page.all("table"):
        assert table.one("caption").text
        assert all(cell.attributes["scope"] in ("row", "col") for cell in table.all("th"))
    for picture in page.all("svg", role="img"):
        named = picture.attributes.get("aria-labelledby", "").split()
        assert all(name in ids for name in named)
        assert named or picture.attributes["aria-label"]
    assert len(page.all("main")) == len(page.all("nav")) == len(page.all("header")) == 1


def test_nothing_on_the_page_points_outside(page):
    for node in page.walk():
        for name in ("src", "href", "action", "data", "xlink:href"):
            assert node.attributes.get(name, "#").startswith(("#", "data:,"))
    assert "url(" not in page.one("style").text
    assert "@import" not in page.one("style").text


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"language": "fr"}, "language='fr'"),
        ({"positive": "maybe"}, "positive='maybe'"),
        ({"costs": [[0, 1]]}, "costs has shape"),
        ({"costs": [[0, 1], [1, 0], [2, 2]]}, r"costs has shape \(3, 2\)"),
        ({"training": 3}, "training must be a pair"),
    ],
)
def test_refusals_leave_the_old_page(loans, tmp_path, wrong, message):
    model, _, (X, y) = loans
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(InvalidParameter, match=message):
        write_report(path, model, X, y, **wrong)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_label_that_is_no_class_is_refused(loans, tmp_path):
    model, _, (X, y) = loans
    with pytest.raises(InvalidTarget, match="not one of the classes"):
        write_report(tmp_path / "page.html", model, X, y.replace("paid", "late"))


def test_a_folder_is_refused_before_any_work(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "page.html"):
        with pytest.raises(InvalidParameter, match="folder"):
            write_report(path, None, None, None)


def test_the_verdict_comes_first_with_its_uncertainty(page, loans):
    model, (before, past), (X, y) = loans
    section = page.all("section")[0]
    assert section.attributes["id"] == "verdict"
    words = {row.one("dt").text: row.one("dd").text for row in section.one("dl", class_="verdict").all("div")}
    assert list(words) == ["Cost", "Discrimination", "Overfitting", "Calibration", "Stability", "What to do next"]
    areas = [
        auc_interval((labels == "default").to_numpy(), model.predict_proba(rows)[:, 0])
        for rows, labels in ((before, past), (X, y))
    ]
    gap, spread = areas[0].auc - areas[1].auc, np.hypot(areas[0].se, areas[1].se)
    low, high = gap - norm.ppf(0.975) * spread, gap + norm.ppf(0.975) * spread
    told = re.search(r"difference of ([−\d.]+) \(95% interval ([−\d.]+) – ([−\d.]+)\)", words["Overfitting"])
    assert [float(each.replace("−", "-")) for each in told.groups()] == pytest.approx([gap, low, high], abs=6e-4)
    p, positive = model.predict_proba(X)[:, 0], (y == "default").to_numpy()
    z = np.sum((positive - p) * (1 - 2 * p)) / np.sqrt(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))  # Spiegelhalter 1986
    level = (positive.mean() - p.mean()) / np.sqrt(np.mean(p * (1 - p)) / len(p))
    chance = min(1.0, 2 * 2 * norm.sf(max(abs(z), abs(level))))
    assert f"(p = {chance:.3f} that such differences are chance)" in words["Calibration"]


def test_a_formula_is_written_where_it_is_short(tmp_path):
    X, y = credit()
    model = coded(LogisticRegression(C=np.inf)).fit(X, y)
    text = read(write_report(tmp_path / "page.html", model, X, y)).one("div", class_="formula").text
    names = model[:-1].get_feature_names_out()
    assert all(f"·{name}" in text for name in names)
