"""Data that would act on a terminal or in a spreadsheet, and outputs that cannot be written or are broken off."""

import io
import os
import random
import resource
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from rich.table import Table
from rich.text import Text

from hiperplano import LinearRegression, load, save
from hiperplano.cli.main import main
from hiperplano.cli.safe_console import safe_console
from hiperplano.messages.printable import printable
from hiperplano.tables.spreadsheet import inert

ESCAPE = "\x1b]0;owned\x07\x1b[31m"
FORMULAS = ["=1+1", "+SUM(A1)", "-2+3", "@cmd", "\t=1", "\r=1", "=HYPERLINK(0)"]
HARMLESS = ["yes", "", "-5", "+3.5", "-1,234.5", "1e-7", "-1e-7", "12%", "a=b", "'quoted"]


def started(folder, *arguments, before=lambda: None):
    """The command in a process of its own, which has everything imported already; its output goes to said.txt."""
    # Ctrl-C while Python itself is busy with the fork would end in the test's own code.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return pid
    code = 130
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        os.chdir(folder)
        said = os.open("said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        before()
        code = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


@pytest.mark.parametrize("code", [*range(0x20), *range(0x7F, 0xA0), 0x202E, 0x2066, 0x200F])
def test_every_control_character_becomes_a_sign(code):
    assert printable(f"a{chr(code)}b") == "a\nb" if code == 10 else chr(code) not in printable(f"a{chr(code)}b")
    assert len(printable(f"a{chr(code)}b")) == 3


def test_other_characters_stay():
    text = "año 2024, 1 ≤ x → «ñ» 日本 \n"
    assert printable(text) == text


@pytest.mark.parametrize("colours", [False, True])
def test_nothing_that_a_console_prints_acts(colours):
    out = io.StringIO()
    console = safe_console(file=out, force_terminal=colours, width=80, color_system="standard" if colours else None)
    table = Table(ESCAPE, title=ESCAPE)
    table.add_row(Text(ESCAPE, style="bold"))
    console.print(table, ESCAPE, Text(ESCAPE))
    console.print(ESCAPE, markup=False)
    assert "\x1b]" not in out.getvalue()
    assert "\x07" not in out.getvalue()
    assert "␛" in out.getvalue()
    assert ("\x1b[1m" in out.getvalue()) == colours  # rich's own codes are there


def test_control_characters_of_a_table_do_not_reach_the_terminal(run, tmp_path):
    rng = random.Random(0)
    lines = [f"{rng.gauss(0, 1)},{rng.choice(['a', ESCAPE[:-5]])},{rng.choice(['no', ESCAPE])}" for _ in range(60)]
    (tmp_path / "t.csv").write_text(f"x\x9b31m,kind,y{ESCAPE[5:]}\n" + "\n".join(lines) + "\n")
    target = f"y{ESCAPE[5:]}"
    for more in ([], ["--json"], ["--lang", "es"]):
        said = run("fit", "t.csv", "-t", target, "--out", "m", *more)
        assert not set(said.out + said.err) & {"\x1b", "\x07", "\x9b"}, more
        assert said.code == 0, said.err
    wrong = run("fit", "t.csv", "-t", f"none{ESCAPE}")
    assert wrong.code
    assert not set(wrong.out + wrong.err) & {"\x1b", "\x07", "\x9b"}
    scored = run("predict", "m/model.skops", "t.csv", "--out", "p.csv")
    assert not set(scored.out + scored.err) & {"\x1b", "\x07", "\x9b"}


def test_formulas_are_written_as_text():
    cells = FORMULAS + HARMLESS + [None]
    table = pa.table({"=name": cells, "number": [-1.5] * len(cells), "kind": pa.array(cells).dictionary_encode()})
    found = inert(table)
    assert found.column_names == ["'=name", "number", "kind"]
    for name in ("'=name", "kind"):
        assert found[name].to_pylist() == [f"'{cell}" for cell in FORMULAS] + HARMLESS + [None]
    assert found["number"].to_pylist() == [-1.5] * len(cells)


def test_predictions_hold_no_formulas_unless_asked_for(run, tmp_path):
    rows = [f"{i % 7},=cmd|{i % 3},{'=yes' if i * 5 % 7 > 3 else 'no'}" for i in range(60)]
    (tmp_path / "t.csv").write_text("x,note,y\n" + "\n".join(rows) + "\n")
    assert run("fit", "t.csv", "-t", "y", "--out", "m").code == 0
    for more, starts in (([], "'="), (["--raw"], "=")):
        assert run("predict", "m/model.skops", "t.csv", "--keep", "--out", "p.csv", *more).code == 0
        import csv

        with open("p.csv", newline="") as file:
            table = list(csv.DictReader(file))
        assert all(row["note"].startswith(f"{starts}cmd") for row in table)
        assert {row["prediction"] for row in table} <= {f"{starts}yes", "no"}
        assert all(float(row["x"]) >= 0 for row in table)


def test_a_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    model = LinearRegression().fit(np.eye(3), np.arange(3.0))
    save(model, tmp_path / "there" / "model.skops")
    (tmp_path / "link.skops").symlink_to(tmp_path / "there" / "model.skops")
    (tmp_path / "new.skops").symlink_to(tmp_path / "there" / "new.skops")  # to nothing yet
    other = LinearRegression().fit(np.eye(3), np.arange(3.0) + 1)
    for link in ("link", "new"):
        save(other, tmp_path / f"{link}.skops")
        assert (tmp_path / f"{link}.skops").is_symlink()
    for name in ("model", "new"):
        assert load(tmp_path / "there" / f"{name}.skops").intercept_ == other.intercept_
    assert sorted(os.listdir(tmp_path / "there")) == ["model.skops", "new.skops"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    lines = "".join(f"{i % 7},{'ab'[i * 5 % 7 > 3]}\n" for i in range(20_000))
    (folder / "t.csv").write_text("x,y\n" + lines)
    (folder / "small.csv").write_text("x,y\n" + lines[:2000].rsplit("\n", 1)[0] + "\n")
    assert main(["fit", str(folder / "small.csv"), "-t", "y", "--out", str(folder / "m"), "--quiet"]) == 0
    (folder / "p.csv").write_text("the old one")
    return folder


PREDICT = ("predict", "m/model.skops", "t.csv", "--out")
forks = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@forks
def test_a_full_disk(fitted):
    """No file may grow beyond 50 kB: the predictions of 20,000 rows do not fit."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))  # noqa: E731
    _, status = os.waitpid(started(fitted, *PREDICT, "p.csv", before=limit), 0)
    assert os.waitstatus_to_exitcode(status) == 1
    said = (fitted / "said.txt").read_text()
    assert "space and permission to write" in said
    assert "Traceback" not in said
    assert (fitted / "p.csv").read_text() == "the old one"
    assert not [name for name in os.listdir(fitted) if name.startswith(".")]


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="asks for a folder in which nobody can write")
def test_a_folder_in_which_nothing_can_be_written(run, fitted, monkeypatch):
    monkeypatch.chdir(fitted)
    said = run("predict", "m/model.skops", "small.csv", "--out", "/sys/p.csv")
    assert said.code == 1
    assert said.err.startswith("Error: ")
    assert "Traceback" not in said.err


@forks
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_stopped_at_any_moment_leaves_whole_files(kind, fitted):
    chance, whole, codes = random.Random(int(kind)), None, []
    for _ in range(6):
        pid = started(fitted, *PREDICT, "out.csv")
        time.sleep(chance.uniform(0.0, 0.3))
        os.kill(pid, kind)  # not waited for yet, so the number is still its own
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        found = (fitted / "out.csv").read_bytes() if (fitted / "out.csv").exists() else None
        whole = whole or found
        assert found == whole
        assert found is None or found.count(b"\n") == 20_001
        left = [name for name in os.listdir(fitted) if name.startswith(".out.csv")]
        assert kind == signal.SIGKILL or not left
    # A library that handles Ctrl-C itself for a moment may leave it to the system, which shells call 130 as well.
    assert set(codes) <= {0, -kind} | ({130} if kind == signal.SIGINT else set())


def test_two_writers_at_once(tmp_path):
    """Whoever reads finds one of the two models, never a mixture."""
    models = [LinearRegression().fit(np.eye(3), np.arange(3.0) + shift) for shift in (0.0, 10.0)]
    path = tmp_path / "model.skops"
    save(models[0], path)
    writers = [threading.Thread(target=lambda m=model: [save(m, path) for _ in range(15)]) for model in models]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert load(path).intercept_ in [model.intercept_ for model in models]
    for writer in writers:
        writer.join()
    assert os.listdir(tmp_path) == ["model.skops"]
