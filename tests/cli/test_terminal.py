"""What is said, and where."""

from __future__ import annotations

import io
import json
import warnings

import numpy as np
from rich.console import Console

from hiperplano.cli.terminal import Terminal
from hiperplano.errors import SeparationWarning
from hiperplano.messages import Message
from hiperplano.messages.catalogue import use_language


def at_a_screen(**options):
    terminal = Terminal(**options)
    terminal.progress = Console(file=io.StringIO(), force_terminal=True)
    return terminal


def test_progress_is_shown_beside_the_output_and_only_to_people(capsys):
    for options, shown in (({}, True), ({"as_json": True}, False), ({"quiet": True}, False)):
        terminal = at_a_screen(**options)
        with terminal.progress_bar("reading", steps=2) as step:
            step("fitting")
            step()
        assert ("fitting" in terminal.progress.file.getvalue()) == shown
    plain = Terminal()
    with plain.progress_bar("reading") as step:
        step()
    assert capsys.readouterr() == ("", "")


def test_json_has_no_numbers_that_json_does_not_know(capsys):
    terminal = Terminal(as_json=True)
    terminal.results = {"a": float("nan"), "b": np.array([1.0, np.inf]), "c": np.int64(3), "d": {1: ("x",)}}
    terminal.finish()
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [1.0, None], "c": 3, "d": {"1": ["x"]}, "notes": []}


def test_warnings_of_the_library_become_notes_once(capsys):
    terminal = Terminal()
    with terminal.capture_warnings():
        for _ in range(2):
            warnings.warn("the classes are separated", SeparationWarning, stacklevel=1)
        warnings.warn("something of another library", DeprecationWarning, stacklevel=1)
    terminal.finish()
    assert capsys.readouterr().out == "• the classes are separated\n"


def test_notes_are_translated_for_people_and_english_for_machines(capsys):
    note = Message("{n:,} of {all:,} rows have no value in {name} and were left out.", n=3, all=9, name="y")
    with use_language("es"):
        for terminal in (Terminal(), Terminal(as_json=True)):
            with terminal.capture_warnings():
                warnings.warn(note, SeparationWarning, stacklevel=1)
            terminal.finish()
    people, machines = capsys.readouterr().out.split("\n", 1)
    assert people == "• 3 de 9 filas no tienen valor en y y quedaron fuera."
    assert json.loads(machines)["notes"] == [note]


def test_json_is_english_in_every_language(run, tables):
    english, spanish = (
        json.loads(run("fit", tables / "credit.csv", "-t", "default", "--no-report", "--json", "--lang", language).out)
        for language in ("en", "es")
    )
    for name in ("columns", "notes", "solution"):
        assert spanish[name] == english[name]


def test_names_with_brackets_are_printed_as_they_are(run, tmp_path):
    (tmp_path / "t.csv").write_text(
        "[red]x[/red],y\n" + "".join(f"{i % 7},{'ab'[i * 5 % 7 > 3]}\n" for i in range(80)), encoding="utf-8"
    )
    out = run("fit", "t.csv", "-t", "y", "--no-report")
    assert out.code == 0, out.err
    assert "[red]x[/red]" in out.out
