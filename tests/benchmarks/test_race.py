"""The race's machinery, on toy workloads with contenders that do what the test says."""

import json
import warnings
from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import issparse
from threadpoolctl import threadpool_info

from benchmarks import machine
from benchmarks import race as race_module
from benchmarks.memory import extra_memory, weigh
from benchmarks.outcome import Measured, Outcome
from benchmarks.race import main, race
from benchmarks.results import merge, read
from benchmarks.table import plain
from benchmarks.timing import Plan
from benchmarks.workload import Accuracy, Answer, Contender, Request, Workload, load_workload, workload_names

MEGABYTE = 10**6


class Stage:
    """A clock that only contenders move, and a log of who ran."""

    def __init__(self):
        self.now = 0.0
        self.log = []

    def clock(self):
        return self.now

    def contender(self, name, seconds, distance=0.0):
        """Takes the given times one after the other, the last one again and again."""
        times = list(seconds)

        def solve(problem):
            if problem == "small":
                return Answer()
            self.log.append(name)
            self.now += times.pop(0) if len(times) > 1 else times[0]
            return Answer(figures={"distance": distance})

        return Contender(name, solve)

    def workload(self, ours, *rivals, **rest):
        judge = Accuracy("as told", lambda _, answers: [a.figures["distance"] for a in answers], equal=1e-6)
        return Workload(
            "A toy.",
            lambda r: "small" if r.quick else "full",
            ours,
            rivals,
            **{"target": 2.0, "accuracy": judge} | rest,
        )

    def race(self, ours, *rivals, rounds=3, budget=inf, shortest=0.0, weigh=None, threads=(1,), **rest):
        plan = Plan(rounds, budget, shortest, self.clock, threads)
        return race("toy", self.workload(ours, *rivals, **rest), Request(), plan, lambda _: None, weigh)


@pytest.fixture
def stage():
    return Stage()


@pytest.fixture(autouse=True)
def neighbours(monkeypatch):
    """Cores that other programs take, as the test says, not as the machine says."""
    said = SimpleNamespace(cores=0.0)
    monkeypatch.setattr(race_module, "Neighbours", lambda: SimpleNamespace(cores=lambda: said.cores))
    return said


def failing(name, problem="no such library"):
    def solve(_):
        raise ImportError(problem)

    return Contender(name, solve)


def test_contenders_take_turns(stage):
    stage.race(stage.contender("a", [1]), stage.contender("b", [1]), stage.contender("c", [1]), rounds=4)
    assert stage.log == ["a", "b", "c"] * 4


def test_seconds_are_the_median_of_the_rounds(stage):
    outcome = stage.race(stage.contender("a", [5, 1, 2]), stage.contender("b", [3, 100, 4]))
    assert outcome.ours.runs == (5, 1, 2)
    assert outcome.ours.seconds == 2
    assert outcome.rivals[0].seconds == 4
    assert outcome.ratio(outcome.best_rival) == 2
    assert outcome.reached


def test_short_fits_are_repeated_within_a_turn(stage):
    outcome = stage.race(stage.contender("a", [0.25]), stage.contender("b", [1]), rounds=3, shortest=1)
    once = ["a"] * 4 + ["b"]
    assert stage.log == ["a", *once, *once, *once]  # one more at first, to see how many are needed
    assert outcome.ours.runs == (0.25, 0.25, 0.25)


def test_a_slow_contender_is_not_repeated_beyond_its_budget(stage):
    outcome = stage.race(stage.contender("a", [1]), stage.contender("b", [10]), stage.contender("c", [100]), budget=25)
    assert [len(one.runs) for one in (outcome.ours, *outcome.rivals)] == [3, 2, 1]
    assert outcome.best_rival.name == "b"


def test_each_contender_keeps_the_faster_number_of_threads(stage):
    def threaded(name, seconds):
        """Takes the given seconds at one and at two threads."""

        def solve(problem):
            if problem == "full":
                threads = max(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
                stage.log.append((name, threads))
                stage.now += seconds[threads - 1]
            return Answer(figures={"distance": 0.0})

        return Contender(name, solve)

    outcome = stage.race(threaded("a", (3, 2)), threaded("b", (4, 5)), threads=(2, 1))
    first = [("a", 2), ("a", 1), ("a", 2), ("b", 2), ("b", 1), ("b", 2)]  # the first fit may compile something
    assert stage.log == first + [("a", 2), ("b", 1)] * 2
    assert (outcome.ours.runs, outcome.ours.threads) == ((2, 2, 2), 2)
    assert (outcome.best_rival.runs, outcome.best_rival.threads) == ((4, 4, 4), 1)
    assert "2.0× (2 and 1 threads)" in plain([outcome])
    outcome = stage.race(threaded("a", (1, 1)), threaded("b", (90, 90)), threads=(2, 1), budget=100)
    assert outcome.rivals[0].threads == 2, "one fit exhausts the budget"


def test_an_inaccurate_rival_is_shown_but_does_not_count(stage):
    outcome = stage.race(stage.contender("a", [2]), stage.contender("wrong", [1], 0.1), stage.contender("b", [6]))
    assert not outcome.lost
    assert outcome.best_rival.name == "b"
    assert outcome.rivals[0].seconds == 1


def test_ours_must_be_as_accurate_as_the_best_rival(stage):
    outcome = stage.race(stage.contender("a", [1], 0.1), stage.contender("b", [9]), stage.contender("c", [9], 1.0))
    assert outcome.less_accurate
    assert outcome.reached is None
    assert stage.log == ["a", "b", "c"], "no round after the one that showed it"


@pytest.mark.parametrize(
    ("ours", "rival", "less_accurate", "counts"),
    [
        (0.0, 0.0, False, True),
        (9e-7, 0.0, False, True),  # equal enough
        (2e-6, 0.0, True, True),
        (0.0, 2e-6, False, False),
        (0.1, 0.2, False, False),  # neither is good: ours is better
        (0.2, 0.1, True, True),
        (nan, 0.0, True, True),
        (0.0, nan, False, False),
        (inf, inf, True, True),  # wrong is wrong
        (None, None, False, True),  # nothing to judge
    ],
)
def test_verdict_on_accuracy(ours, rival, less_accurate, counts):
    outcome = Outcome("toy", "", 1.0, Measured("a", (1.0,), ours), (Measured("b", (1.0,), rival),), equal=1e-6)
    assert outcome.less_accurate is less_accurate
    assert outcome.counts(outcome.rivals[0]) is counts


def test_a_rival_that_fails_is_noted_and_the_race_goes_on(stage):
    outcome = stage.race(stage.contender("a", [1]), failing("b"), stage.contender("c", [3]))
    assert stage.log == ["a", "c"] * 3
    assert outcome.rivals[0].note == "failed: ImportError: no such library"
    assert outcome.best_rival.name == "c"


def test_no_race_without_ours(stage):
    outcome = stage.race(failing("a"), stage.contender("b", [1]))
    assert outcome.failed
    assert outcome.lost
    assert stage.log == []


def test_warnings_of_a_contender_are_noted(stage):
    def solve(_):
        stage.now += 1
        warnings.warn("did not  converge\nat all", UserWarning, stacklevel=1)
        return Answer(figures={"distance": 0.0})

    outcome = stage.race(stage.contender("a", [1]), Contender("b", solve))
    assert outcome.rivals[0].note == "warned: UserWarning: did not converge at all"


def test_a_busy_machine_is_told_and_judges_no_target(stage, neighbours):
    neighbours.cores = 0.7
    outcome = stage.race(stage.contender("a", [1]), stage.contender("b", [9]))
    assert outcome.disturbed
    assert outcome.reached is None
    assert "BUSY MACHINE: other programs took 0.7 cores" in plain([outcome])
    assert "9.0× (1 and 1 threads), BUSY MACHINE" in plain([outcome])
    neighbours.cores = 0.05
    assert stage.race(stage.contender("a", [1]), stage.contender("b", [9])).reached


def test_work_of_children_is_not_the_neighbours(monkeypatch):
    mine, all_processors = SimpleNamespace(user=1.0, system=1.0, children_user=5.0, children_system=1.0), [10]
    monkeypatch.setattr(machine.os, "times", lambda: mine)
    monkeypatch.setattr(machine.os, "sysconf", lambda _: 1)
    monkeypatch.setattr(
        machine.Neighbours,
        "_STAT",
        SimpleNamespace(exists=lambda: True, read_text=lambda: f"cpu {all_processors[0]} 0 0 999 999 0 0 0 0\ncpu0"),
    )
    time = iter([100.0, 110.0])
    monkeypatch.setattr(machine, "perf_counter", lambda: next(time))
    neighbours = machine.Neighbours()
    mine.children_user += 12.0
    all_processors[0] += 15
    assert neighbours.cores() == pytest.approx(0.3)


def test_memory_is_asked_for_by_place_but_not_beyond_the_budget(stage):
    contenders = (stage.contender("a", [1]), stage.contender("b", [30]), stage.contender("c", [2]))
    outcome = stage.race(*contenders, budget=20, weigh=lambda place: 100 + place)
    assert [one.memory for one in (outcome.ours, *outcome.rivals)] == [100, None, 102]
    assert stage.race(*contenders, weighed=False, weigh=lambda place: 1).ours.memory is None


def test_extra_memory_of_a_known_allocation():
    known = 200 * MEGABYTE
    hidden = np.ones(2 * known // 8)
    del hidden  # an earlier, higher peak must not hide what follows
    # Linux counts resident pages by processor and adds up late: for each that took part 32 pages, or more where
    # there are many processors, may be missing.
    lag = 2 * MEGABYTE
    assert extra_memory(lambda: None) <= lag
    assert extra_memory(lambda: np.ones(known // 8).sum()) == pytest.approx(known, abs=lag)
    assert extra_memory(lambda: np.ones(known // 8)) == pytest.approx(known, abs=lag)


def test_a_fit_is_weighed_in_a_process_of_its_own():
    X = load_workload("linear_regression").make(Request(quick=True)).X
    assert X.nbytes <= weigh("linear_regression", 1, Request(quick=True)) < 10 * X.nbytes  # the rival copies X


def outcome_of(name, **changes):
    figures = {"ours": Measured("a", (1.0, 3.0), 0.0, 5), "rivals": (Measured("b", (9.0,), inf, None, "note"),)}
    return Outcome(**{"workload": name, "description": "A toy.", "target": 2.0} | figures | changes)


def test_results_are_merged_by_workload(tmp_path):
    here, there = {"CPU": "one"}, {"CPU": "two"}
    merge(tmp_path, here, [outcome_of("x"), outcome_of("y")])
    merge(tmp_path, there, [outcome_of("y", target=7.0), outcome_of("z")])
    assert read(tmp_path) == {
        "x": (here, outcome_of("x")),
        "y": (there, outcome_of("y", target=7.0)),
        "z": (there, outcome_of("z")),
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.json", "results.md"]
    text = (tmp_path / "results.json").read_text()
    assert json.loads(text, parse_constant=pytest.fail)["x"]["outcome"]["rivals"][0]["distance"] == "inf"
    page = (tmp_path / "results.md").read_text()
    assert page.index("## CPU one") < page.index("| x |") < page.index("## CPU two") < page.index("| y |")
    assert page.count("- `y`:") == 1


def run_main(monkeypatch, tmp_path, workloads, *arguments):
    monkeypatch.setattr(race_module, "workload_names", lambda: sorted(workloads))
    monkeypatch.setattr(race_module, "load_workload", workloads.__getitem__)
    return main([*arguments, "--no-memory", "--output", str(tmp_path)])


def test_main_refuses_a_worse_answer_and_says_so(stage, monkeypatch, tmp_path, capsys):
    good = stage.workload(stage.contender("a", [1]), stage.contender("b", [1]), target=10.0**9)
    worse = stage.workload(stage.contender("a", [1], 0.5), stage.contender("b", [1]))
    assert run_main(monkeypatch, tmp_path, {"good": good}) == 0, "a target that is not reached is no failure"
    assert "NOT REACHED" in capsys.readouterr().out
    assert run_main(monkeypatch, tmp_path, {"good": good, "worse": worse}, "worse") == 1
    shown = capsys.readouterr().out
    assert "OURS IS LESS ACCURATE: 5.0e-01, b 0.0e+00" in shown
    assert "×  " not in shown.splitlines()[1].replace("2×", ""), "no ratio beside it"
    page = (tmp_path / "results.md").read_text()
    assert "OURS IS LESS ACCURATE" in page
    assert "NOT REACHED" in page, "the row of the other workload stays"


def test_main_knows_its_workloads(stage, monkeypatch, tmp_path, capsys):
    assert run_main(monkeypatch, tmp_path, {"x": None}, "y") == 2
    assert "No workload y; there are: x." in capsys.readouterr().err


def test_main_leaves_out_tables_it_was_not_given(stage, monkeypatch, tmp_path, capsys):
    real = stage.workload(stage.contender("a", [1]), stage.contender("b", [1]), table="rows.csv")
    assert run_main(monkeypatch, tmp_path, {"real": real}) == 0
    assert "give its folder with --data" in capsys.readouterr().err
    assert run_main(monkeypatch, tmp_path, {"real": real}, "--data", str(tmp_path)) == 0
    assert "holds no rows.csv" in capsys.readouterr().err
    assert stage.log == []
    (tmp_path / "rows.csv").touch()
    assert run_main(monkeypatch, tmp_path, {"real": real}, "--data", str(tmp_path)) == 0
    assert "real *" in capsys.readouterr().out


def test_a_quick_run_keeps_nothing(stage, monkeypatch, capsys):
    kept = []
    monkeypatch.setattr(race_module, "merge", lambda *rows: kept.append(rows))
    toy = stage.workload(stage.contender("a", [1]), stage.contender("b", [1]), accuracy=None)
    monkeypatch.setattr(race_module, "workload_names", lambda: ["toy"])
    monkeypatch.setattr(race_module, "load_workload", lambda _: toy)
    assert main(["--quick"]) == 0
    assert "toy (quick)" in capsys.readouterr().out
    assert kept == []


@pytest.mark.parametrize("name", workload_names())
def test_every_workload_makes_the_same_data_again(name):
    workload = load_workload(name)
    assert workload.rivals or workload.memory_limit  # where nobody else finishes, memory is judged
    if workload.table is None:
        try:
            first, second = (workload.make(Request(quick=True)) for _ in range(2))
        except ModuleNotFoundError as problem:
            pytest.skip(f"a rival is part of the data, and is not installed: {problem}")
        for one, other in zip(first or (), second or (), strict=True):
            if hasattr(one, "fit"):
                continue  # a fitted model is judged by its predictions
            np.testing.assert_array_equal(*(part.toarray() if issparse(part) else part for part in (one, other)))
