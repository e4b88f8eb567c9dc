"""Every example runs without a warning, says what is true, and draws where it is told to."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
DRAWN = {
    "binning": {"binning.png"},
    "circle": {"circle.png"},
    "coding": set(),
    "costs": {"costs.png"},
    "credit_line": set(),
    "digits": {"digits.png"},
    "displays": {
        f"{name}.png" for name in ("ks", "gains", "lift", "coefficients", "residuals", "path", "replay", "divergence")
    },
    "divergences": {"divergences.png"},
    "fisher": {"fisher.png"},
    "kernel_algebra": set(),
    "kernel_machines": {"kernel_perceptron.png", "svc.png"},
    "kernel_ridge": {"kernel_ridge.png"},
    "losses": {"losses.png"},
    "margins": {"margin_planes.png", "margin_strength.png", "margin_widest.png"},
    "odds": {"odds.png", "odds_ks.png"},
    "passive_aggressive": {"passive_aggressive.png"},
    "pegasos": {"pegasos.png"},
    "perceptron": {"perceptron.png"},
    "regions": {"regions.png"},
    "ridge": {"ridge.png"},
    "scorecard": {"scorecard.json", "scorecard.sql"},
    "softmax": {"softmax.png"},
    "step_size": {"step_size.png"},
}


class Said:
    """What an example printed."""

    def __init__(self, text):
        self.lines = text.splitlines()

    def line(self, beginning):
        """The one line that begins so, after its beginning."""
        (found,) = [each for each in self.lines if each.startswith(beginning)]
        return found.removeprefix(beginning)

    def numbers(self, beginning):
        return numbers(self.line(beginning))


def numbers(text):
    return [float(found) for found in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e[-+]\d+)?", text)]


def mistakes_stay_below_the_bound(said):
    rows = [numbers(row) for row in said.lines if row.startswith("margin")]
    assert len(rows) == 4
    for margin, fewest, most, _, _, bound in rows:
        assert 0 < margin < 1
        assert 1 <= fewest <= most <= bound
    bounds = [row[-1] for row in rows]
    assert bounds == sorted(bounds)  # narrower margins allow more
    assert "1.00" in said.line("accuracy on its own rows:")


def losses_bound_the_zero_one_loss_and_only_the_squared_one_minds_far_rows(said):
    margins = said.numbers("margin")
    table = {name: said.numbers(f"{name:14s}") for name in ("0-1", "hinge", "squared hinge", "squared")}
    assert table["hinge"] == [max(0.0, 1 - m) for m in margins]
    assert table["squared"] == [(1 - m) ** 2 / 2 for m in margins]
    for name in ("hinge", "squared hinge"):
        assert all(above >= below for above, below in zip(table[name], table["0-1"], strict=True))
    moved = {name: said.numbers(name) for name in ("LinearSVC", "LogisticRegression", "LeastSquaresClassifier")}
    assert all(abs(after - before) < 0.1 for before, after in list(moved.values())[:2])
    assert moved["LeastSquaresClassifier"][1] > 0.5


def pegasos_comes_near_the_exact_machine_from_above(said):
    excess = [numbers(row)[1] for row in said.lines if "passes" in row]
    assert len(excess) == 12
    assert min(excess) >= 0  # nothing lies below a proved minimum
    assert excess[5] < excess[0] / 100
    assert excess[11] < 1e-3


def the_chosen_penalty_does_best_on_new_rows(said):
    weak, chosen, strong = [numbers(row) for row in said.lines[3:6]]
    assert chosen[0] == said.numbers("leave-one-out chooses lambda = alpha/n =")[0]
    assert weak[1] > chosen[1] > strong[1]  # coefficients shrink
    assert weak[2] < chosen[2] < strong[2]  # and fit their own rows worse
    assert chosen[3] < min(weak[3], strong[3])


def fishers_direction_is_the_best_and_the_eigenvalue_says_so(said):
    fisher, component = (said.numbers(name) for name in ("Fisher's u", "first principal component"))
    assert fisher[0] > component[0]
    assert said.numbers("largest eigenvalue of W^-1 F:") == [fisher[0]]
    low, high, cutoff = said.numbers("centroids at")
    assert low < cutoff < high


def intervals_of_odds_cover_the_truth(said):
    for name in ("debt_ratio_10", "years_in_job", "age_10"):
        row = [each for each in said.lines if each.startswith(name)][-1]
        ratio, low, high, truth = numbers(row.removeprefix(name))
        assert low < ratio < high
        assert low <= truth <= high
    mean, share = said.numbers("mean probability")
    assert mean == share  # maximum likelihood with an intercept


def softmax_probabilities_sum_to_one_and_odds_are_exponentials(said):
    shares = [said.numbers(f"{name:12s}")[1] for name in ("setosa", "versicolor", "virginica")]
    assert sum(shares) == pytest.approx(1.0, abs=2e-3)
    odds, ratio = said.numbers("odds of virginica against versicolor:")
    assert odds == ratio == pytest.approx(shares[2] / shares[1], rel=0.01)
    assert said.numbers("right on flowers not seen in the fit:")[0] > 0.9


def a_scorecard_ranks_new_applicants_and_sql_agrees(said):
    assert set(said.line("variables, as they entered: ").split(", ")) >= {"debt", "late_payments", "purpose"}
    auc, ks = said.numbers("new applicants:")
    assert 0.65 < auc < 0.9
    assert 0.25 < ks < 0.7
    _, approved, rate = said.numbers("cut-off by profit:")
    assert 0 < approved < 100
    assert rate < 8  # of all applicants 8% default
    assert said.line("SQL agrees with Python in all 1000 rows: ") == "True"


def only_binary_rules_leave_regions_open(said):
    rest, one, way = (
        said.numbers(f"{name}:")[0] for name in ("one-versus-rest", "one-versus-one", "one K-way discriminant")
    )
    assert rest > one > 0
    assert way == 0


def costs_are_saved_by_looking_at_them(said):
    for name in ("most probable class:", "least expected cost:"):
        missed, alarms, cost, _ = said.numbers(name)
        assert cost == 10 * missed + alarms
    plain, careful = (said.numbers(name) for name in ("most probable class:", "least expected cost:"))
    assert careful[0] < plain[0]
    assert careful[2] < plain[2]
    assert said.numbers("Bayes' cut-off")[0] == round(1 / 11, 3)


def two_features_tell_a_zero_from_a_five(said):
    zero, five = (said.numbers(f"{digit}: intensity") for digit in (0, 5))
    assert five[1] > 1.5 * zero[1]
    plain, pocket, pixels = (
        numbers(said.line(name).rpartition(":")[2])[0]
        for name in ("perceptron:", "perceptron with pocket:", "for comparison")
    )
    assert 0.85 < plain <= pocket < pixels


def margins_grow_with_the_penalty(said):
    rows = [numbers(row.replace(" of ", " ")) for row in said.lines[1:5]]
    widths, beyond = [row[1] for row in rows], [row[2] for row in rows]
    assert widths == sorted(widths)
    assert beyond == sorted(beyond)
    assert said.numbers("widest margin of separable groups:")[0] == said.numbers("nearest row:")[0]


def displays_print_their_figures(said):
    assert 0.5 < said.numbers("KS ")[0] < 1
    assert said.numbers("stability")[0] > 0.1


def the_readmes_example_prints_a_table(said):
    assert said.numbers("years_in_job")[0] == pytest.approx(60_000, rel=0.1)  # the value it was made with


def a_circle_is_a_plane_of_squares(said):
    assert said.line("in the plane: ") == "Overlapping"
    assert said.line("with squares: ") == "Separable"
    assert said.numbers("centre: ") == pytest.approx([1.0, -0.5], abs=0.05)
    assert said.numbers("radius: ")[0] == pytest.approx(1.5, abs=0.05)


def codes_need_a_reference_and_an_order_is_no_code(said):
    assert said.line("columns and rank of 1-of-K: ") == "3 and 2"
    assert said.numbers("predictions with and without the reference's column differ by at most ")[0] < 1e-10
    assert said.numbers("blue: ")[0] == pytest.approx(20, abs=1)  # the means that it was made with
    assert said.numbers("R² of the codes: ")[0] > 0.9 > 0.2 > said.numbers("R² of one number: ")[0]


def divergences_bound_the_error(said):
    for row in said.lines:
        _, error, formula, kl, kl_formula, _, low, high = numbers(row.partition("apart")[2])
        assert error == pytest.approx(formula, abs=2e-4)
        assert kl == pytest.approx(kl_formula, rel=1e-3)
        assert low <= error <= high


def limited_steps_bear_wrong_labels(said):
    worst = {name: said.numbers(f"{name}: ")[0] for name in ("PA", "PA-I", "PA-II")}
    assert worst["PA"] < worst["PA-II"] < worst["PA-I"]
    assert said.numbers("PA-I: ")[1] > 0.95


def steps_beyond_the_border_diverge(said):
    words = [row.partition("the loss ")[2].partition(",")[0] for row in said.lines if row.startswith("step of")]
    assert words == ["shrinks", "shrinks", "shrinks", "grows"]


def rules_make_kernels_and_a_sigmoid_is_none(said):
    values = [float(row.split("of two rows: ")[1].split()[0]) for row in said.lines if "of two rows" in row]
    assert values[1] == values[4]
    assert values[3] == pytest.approx(values[2] ** 2, abs=2e-4)
    assert said.line("features of the last: 9; their products are the kernel: ") == "True"
    verdicts = [row.split(": ")[1] for row in said.lines if "Gram matrix" in row]
    assert verdicts == ["A Gram matrix", "A Gram matrix", "Not a Gram matrix"]


def kernel_and_features_agree_and_the_chosen_penalty_does_best(said):
    assert said.numbers("(K + alpha)·a = y against ridge on 7 features:")[0] < 1e-6
    rows = [
        numbers(row) for row in said.lines[said.lines.index("alpha     training error   error on new rows") + 1 :][:3]
    ]
    assert rows[0][1] < rows[1][1] < rows[2][1]
    assert rows[1][2] == min(row[2] for row in rows)


def the_machine_with_one_optimum_does_best(said):
    *perceptrons, best, machine = said.lines
    assert len(perceptrons) == 2
    assert best.startswith("best of the grid")
    accuracy = float(machine.split("accuracy on new rows ")[1].split(";")[0])
    assert accuracy >= max(float(line.rsplit(" ", 1)[1]) for line in perceptrons)


def bins_tell_of_the_target_and_others_confirm_it(said):
    assert any(line.startswith("The best of all partitions") for line in said.lines)
    values = [float(line.split(" IV ")[1].split()[0]) for line in said.lines if " IV " in line]
    assert values == sorted(values, reverse=True)
    assert said.numbers("AUC on rows that neither bins nor coefficients saw: ")[0] > 0.7


CHECKS = {
    "binning": bins_tell_of_the_target_and_others_confirm_it,
    "kernel_algebra": rules_make_kernels_and_a_sigmoid_is_none,
    "kernel_machines": the_machine_with_one_optimum_does_best,
    "kernel_ridge": kernel_and_features_agree_and_the_chosen_penalty_does_best,
    "circle": a_circle_is_a_plane_of_squares,
    "coding": codes_need_a_reference_and_an_order_is_no_code,
    "divergences": divergences_bound_the_error,
    "passive_aggressive": limited_steps_bear_wrong_labels,
    "step_size": steps_beyond_the_border_diverge,
    "costs": costs_are_saved_by_looking_at_them,
    "credit_line": the_readmes_example_prints_a_table,
    "digits": two_features_tell_a_zero_from_a_five,
    "displays": displays_print_their_figures,
    "fisher": fishers_direction_is_the_best_and_the_eigenvalue_says_so,
    "losses": losses_bound_the_zero_one_loss_and_only_the_squared_one_minds_far_rows,
    "margins": margins_grow_with_the_penalty,
    "odds": intervals_of_odds_cover_the_truth,
    "pegasos": pegasos_comes_near_the_exact_machine_from_above,
    "perceptron": mistakes_stay_below_the_bound,
    "regions": only_binary_rules_leave_regions_open,
    "ridge": the_chosen_penalty_does_best_on_new_rows,
    "scorecard": a_scorecard_ranks_new_applicants_and_sql_agrees,
    "softmax": softmax_probabilities_sum_to_one_and_odds_are_exponentials,
}


def test_all_are_known_here():
    assert {path.stem for path in EXAMPLES} == set(DRAWN) == set(CHECKS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_it_is_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_it_runs_says_what_is_true_and_draws_only_where_told(path, tmp_path, monkeypatch, capsys):
    """In this process, where warnings are errors: a new one would import everything again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path), str(tmp_path / "new" / "folder")])
    runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr()
    assert not said.err
    CHECKS[path.stem](Said(said.out))
    assert {each.name for each in tmp_path.rglob("*.*")} == DRAWN[path.stem]


def test_one_runs_from_a_terminal_and_draws_nothing_unless_asked(tmp_path):
    path = next(path for path in EXAMPLES if path.stem == "perceptron")
    command = [sys.executable, "-W", "error", path]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr
    assert not list(tmp_path.iterdir())
