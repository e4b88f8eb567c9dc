"""The real program in a process of its own: help, speed of help, the demo, exit codes, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import skops.io
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from hiperplano import load
from hiperplano.cli.main import main

HIPERPLANO = [sys.executable, "-m", "hiperplano.cli.main"]
HEAVY = ("numpy", "scipy", "sklearn", "pyarrow", "pandas", "polars", "matplotlib", "numba", "jinja2")


def program(*arguments, **options):
    return subprocess.run([*HIPERPLANO, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


def test_help_imports_nothing_heavy():
    """What makes it quick: tables, numbers and pictures are imported when there is work for them."""
    code = (
        "import sys\nfrom hiperplano.cli.main import main\n"
        "assert main(['--help']) == main(['fit', '--help']) == 0\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_the_demo_ends_well(tmp_path):
    ran = program("demo", "--out", "here", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == [
        "credit.csv", "model.skops", "report.html", "scorecard"
    ]  # fmt: skip
    assert "Open here/report.html in a browser" in ran.stdout
    assert ran.stderr == ""


def _shout(rows):
    return rows


def test_the_program_trusts_what_the_library_trusts(tmp_path, run):
    rng = np.random.default_rng(0)
    rows = "".join(f"{a},{b},{a + 2 * b + e}\n" for a, b, e in rng.normal(size=(60, 3)))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    assert run("fit", "t.csv", "-t", "y", "-m", "ridge", "--out", ".").code == 0
    assert [type(step).__name__ for step in load(tmp_path / "model.skops")] == ["Coding", "StandardScaler", "Ridge"]
    assert program("predict", "model.skops", "t.csv", "--out", "p.csv", cwd=tmp_path).returncode == 0
    skops.io.dump(make_pipeline(FunctionTransformer(_shout)), tmp_path / "strange.skops")
    refused = run("predict", "strange.skops", "t.csv", "--out", "p.csv")
    assert refused.code == 1
    assert "types that are not trusted: tests.cli.test_program._shout" in refused.err


def test_exit_codes(run):
    assert run("fit", "no.csv", "-t", "y").code == 1
    assert run("--version").out.startswith("hiperplano 0.")
    assert program("fit", "--nonsense").returncode == 2  # codes of `main` are those of the program


def test_ctrl_c_leaves_no_half_written_file(tmp_path):
    """Stopped while the model is being written: the old file stays, nothing else does."""
    (tmp_path / "model.skops").write_text("the old one")
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i % 7},{'ab'[i * 5 % 7 > 3]}\n" for i in range(60)))
    code = (
        "import os, sys, time\n"
        "def slowly(handle):\n    print('writing', flush=True); time.sleep(60)\n"
        "os.fsync = slowly\n"
        "from hiperplano.cli.main import main\n"
        "sys.exit(main(['fit', 't.csv', '-t', 'y', '--out', '.', '--quiet']))\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout.readline() == "writing\n"
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 130
    assert said.startswith("Error: Stopped.")
    assert "Traceback" not in said
    assert (tmp_path / "model.skops").read_text() == "the old one"
    assert sorted(os.listdir(tmp_path)) == ["model.skops", "t.csv"]


def test_without_the_packages_of_the_app_it_says_what_to_install(monkeypatch, capsys):
    for name in [
        name for name in sys.modules if name.partition(".")[0] == "typer" or name.startswith("hiperplano.cli.")
    ]:
        if name != "hiperplano.cli.main":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["--help"]) == 1
    assert "pip install 'hiperplano[app]'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["demo", "fit", "compare", "predict", "evaluate", "report", "separable"])
@pytest.mark.parametrize("language", ["en", "es"])
def test_every_command_has_help_in_both_languages(command, language, run):
    out = run(command, "--help", "--lang", language)
    assert out.code == 0
    assert ("Usage:" in out.out) == (language == "en")
    assert ("Uso:" in out.out) == (language == "es")


def test_the_texts_of_help_are_in_the_language(run):
    """In turns: what was built for one language is not shown in the other."""
    for language, said in [("en", "Fit a model to a table"), ("es", "Ajusta un modelo a una tabla")] * 2:
        assert said in run("--help", "--lang", language).out
