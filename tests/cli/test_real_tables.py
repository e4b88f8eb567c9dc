"""Tables as offices write them: what is read of them, and what a person is told."""

from __future__ import annotations

import json

import numpy as np
import pytest

RNG = np.random.default_rng(0)
N = 300
INCOME = RNG.lognormal(13, 0.5, N).round(2)
DEBT = (INCOME * RNG.random(N)).round(2)
BAD = RNG.random(N) < 0.1 + 0.6 * DEBT / INCOME


def spanish(number):
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


@pytest.fixture
def office(tmp_path):
    """Semicolons, parted thousands, decimal commas, Latin letters, dashes, days before months, a lost target."""
    rows = ["cédula;ingreso;deuda;región;alta;pago"]
    for i in range(N):
        debt = "-" if i % 29 == 0 else spanish(DEBT[i])
        paid = "" if i % 100 == 7 else ("malo" if BAD[i] else "bueno")
        region = ("Ñuble", "Lima; centro", "Sur")[i % 3]
        rows.append(f'{1000 + i};{spanish(INCOME[i])};{debt};"{region}";{1 + i % 28:02d}/{1 + i % 12:02d}/24;{paid}')
    (tmp_path / "oficina ñ 2024.csv").write_bytes("\r\n".join([*rows, ""]).encode("cp1252"))
    return "oficina ñ 2024.csv"


def test_amounts_are_numbers_and_rows_without_a_target_are_told(run, office):
    found = json.loads(run("fit", office, "-t", "pago", "--no-report", "--json").out)
    kinds = {column["name"]: (column["kind"], column["missing"]) for column in found["columns"]}
    assert kinds == {
        "cédula": ("identifier", 0),
        "ingreso": ("numeric", 0),
        "deuda": ("numeric", 11),
        "región": ("nominal", 0),
        "alta": ("date", 0),
    }
    assert found["target"]["positive"] == "malo"
    assert found["rows"] == N - 3
    assert "3 of 300 rows have no value in pago and were left out." in found["notes"]


def test_every_command_tells_of_what_it_left_out(run, office):
    assert run("fit", office, "-t", "pago", "--no-report", "--lang", "es").code == 0
    told = "3 de 300 filas no tienen valor en pago y quedaron fuera."
    model = "hiperplano-out/model.skops"
    for arguments in (
        ("compare", office, "-t", "pago", "--model", "lda"),
        ("evaluate", model, office),
        ("report", model, office, "-o", "r.html"),
        ("separable", office, "-t", "pago"),
    ):
        outcome = run(*arguments, "--lang", "es")
        assert outcome.code == 0, outcome.err
        assert told in outcome.out, arguments
    assert (
        "Columnas que quedaron fuera: cédula (identificador)"
        in run("compare", office, "-t", "pago", "--model", "lda", "--lang", "es").out
    )
    assert "alta (días)" in run("fit", office, "-t", "pago", "--no-report", "--lang", "es").out


def test_an_amount_can_be_the_target(run, office):
    found = json.loads(run("fit", office, "-t", "ingreso", "--no-report", "--json", "--drop", "pago").out)
    assert found["target"]["task"] == "regression"


def test_new_tables_may_be_written_in_another_way(run, office, tmp_path):
    run("fit", office, "-t", "pago", "--no-report", "--quiet")
    english = [f'"{INCOME[i]:,.2f}","{DEBT[i]:,.2f}",Sur,2024-01-{1 + i % 28:02d}' for i in range(5)]
    plain = [f"{INCOME[i]},{DEBT[i]},Sur,2024-01-{1 + i % 28:02d}" for i in range(5)]
    scores = []
    for rows in (english, plain):
        (tmp_path / "new.csv").write_text("\n".join(["ingreso,deuda,región,alta", *rows, ""]), encoding="utf-8")
        assert run("predict", "hiperplano-out/model.skops", "new.csv", "-o", "s.csv").code == 0
        scores.append((tmp_path / "s.csv").read_text())
    assert scores[0] == scores[1]


def test_doubts_are_told_where_scores_are_made(run, office, tmp_path):
    run("fit", office, "-t", "pago", "--no-report", "--quiet")
    (tmp_path / "new.csv").write_text("ingreso;deuda;región;alta\n950.123;123.456;Sur;2024-01-01\n", encoding="utf-8")
    outcome = run("predict", "hiperplano-out/model.skops", "new.csv", "-o", "s.csv")
    assert "Column 'ingreso': 950.123 was read as a number below a thousand." in outcome.out


def test_odds_ratios_of_large_numbers_do_not_look_like_one(run, office):
    rows = run("fit", office, "-t", "pago", "--no-report").out.splitlines()
    [ratio] = [line.split()[-1] for line in rows if line.strip().startswith("deuda ") and "numeric" not in line]
    [coefficient] = [
        fact["coefficient"]
        for fact in json.loads(run("fit", office, "-t", "pago", "--no-report", "--json").out)["coefficients"]
        if fact["name"] == "deuda"
    ]
    assert abs(coefficient) < 1e-5
    assert float(ratio) - 1 == pytest.approx(coefficient, rel=0.05)


def test_called_with_nothing_the_command_shows_its_help_and_no_error(run):
    outcome = run()
    assert outcome.code == 2
    assert "Error" not in outcome.out + outcome.err


def test_more_columns_than_rows(run, tmp_path):
    cells = np.random.default_rng(0).random((60, 150))
    rows = [",".join([*(f"{cell:.4f}" for cell in row), "yn"[i % 2]]) for i, row in enumerate(cells)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join([*(f"c{j}" for j in range(150)), "y"]), *rows, ""]))
    found = run("fit", "wide.csv", "-t", "y", "--no-report", "--json")
    assert found.code == 0, found.err
    assert json.loads(found.out)["model"]["name"] == "logistic-l2"
