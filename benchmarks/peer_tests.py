"""Run the tests that scikit-learn ships with the classes of hiperplano in the place of its own.

Copies the tests of the mirrored modules into a temporary folder, replaces the imports, runs them and sorts what fails
by the reviewed list in `peer_tests.toml`. A failure that is not listed is new.

    uv run python -m benchmarks.peer_tests [MODULE ...] [--workers 2] [--document]
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from inspect import isclass
from pathlib import Path
from typing import Any

MODULES = {
    "sklearn.linear_model": ["base", "common", "logistic", "passive_aggressive", "perceptron", "ridge", "sgd"],
    "sklearn.svm": ["sparse", "svm"],
    "sklearn": ["discriminant_analysis", "kernel_ridge"],
}
HOMES = ("linear_model", "svm", "discriminant_analysis", "kernel_ridge")
REVIEWED = Path(__file__).with_suffix(".toml")
PAGE = Path(__file__).parents[1] / "docs" / "compatibility.md"
CATEGORIES = {
    "convention": "Tests that expect another convention",
    "missing": "Tests of what is missing",
    "internals": "Tests that look at private parts of scikit-learn's classes",
}


def mirrored() -> dict[str, Any]:
    """Our classes that bear the name of one of scikit-learn's, by name."""
    import hiperplano

    theirs = {name for home in HOMES for name in dir(__import__(f"sklearn.{home}", fromlist=[home]))}
    found = {name: getattr(hiperplano, name) for name in hiperplano.__all__ if name in theirs}
    return {name: kind for name, kind in found.items() if isclass(kind)}


class _Swap(ast.NodeTransformer):
    """Take classes from hiperplano, and modules from stand-ins that hold its classes."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.module == "sklearn":
            return _split(node, set(HOMES), "stand_ins")
        if node.module in {f"sklearn.{home}" for home in HOMES}:
            return _split(node, self.names, "hiperplano")
        return node


def _split(node: ast.ImportFrom, names: set[str], module: str) -> list[ast.ImportFrom]:
    ours = [alias for alias in node.names if alias.name in names]
    theirs = [alias for alias in node.names if alias.name not in names]
    parts = [ast.ImportFrom(module, ours, 0), ast.ImportFrom(node.module, theirs, node.level)]
    return [part for part in parts if part.names]


def write_tests(folder: Path, wanted: list[str]) -> None:
    """Write the tests with replaced imports, the stand-ins for modules, and scikit-learn's fixtures."""
    names = sorted(mirrored())
    (folder / "stand_ins").mkdir()
    (folder / "stand_ins" / "__init__.py").touch()
    for home in HOMES:
        lines = [f"import sklearn.{home} as theirs", f"from hiperplano import {', '.join(names)}"]
        lines += ["def __getattr__(name):", "    return getattr(theirs, name)"]
        (folder / "stand_ins" / f"{home}.py").write_text("\n".join(lines))
    (folder / "conftest.py").write_text(files("sklearn").joinpath("conftest.py").read_text())
    for package, modules in MODULES.items():
        for module in modules:
            if not wanted or module in wanted:
                source = files(package).joinpath("tests", f"test_{module}.py").read_text()
                tree = _Swap(set(names)).visit(ast.parse(source))
                (folder / f"test_{module}.py").write_text(ast.unparse(ast.fix_missing_locations(tree)))


def run_tests(wanted: list[str], workers: int) -> dict[str, dict[str, Any]]:
    """Outcome, message and our classes used, by test."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tests(folder, wanted)
        results = folder / "results.json"
        root = Path(__file__).parents[1]
        path = os.pathsep.join([name, str(root), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "benchmarks.peer_plugin", "--no-header"]
        command += ["-p", "no:cacheprovider", "--import-mode=importlib", "--rootdir", name, "-n", str(workers), name]
        environment = {**os.environ, "PYTHONPATH": path, "PEER_RESULTS": str(results)}
        subprocess.run(command, cwd=name, env=environment, stdout=subprocess.DEVNULL, check=False)
        found: dict[str, dict[str, Any]] = json.loads(results.read_text())
        return found


@dataclass(frozen=True)
class Entry:
    """A reviewed failure: a test, or with `cases` those of its parameter sets whose id holds one of these texts."""

    test: str
    category: str
    reason: str
    cases: tuple[str, ...] = ()

    def covers(self, test: str) -> bool:
        name, _, case = test.partition("[")
        return name == self.test and (not self.cases or any(part in case for part in self.cases))


def reviewed() -> list[Entry]:
    """The reviewed list."""
    content = tomllib.loads(REVIEWED.read_text())
    return [
        Entry(test["name"], category, group["reason"], tuple(test.get("cases", ())))
        for category in CATEGORIES
        for group in content.get(category, [])
        for test in [{"name": name} if isinstance(name, str) else name for name in group["tests"]]
    ]


def sort_results(results: dict[str, dict[str, Any]], entries: list[Entry]) -> dict[str, tuple[str, str]]:
    """The category of each test that made a model of ours, and the reason or message if it failed."""
    found = {}
    for test, result in results.items():
        if not result["made"]:
            continue
        if result["outcome"] != "failed":
            found[test] = result["outcome"], ""
            continue
        entry = next((entry for entry in entries if entry.covers(test)), None)
        found[test] = (entry.category, entry.reason) if entry else ("new", result["message"])
    return found


def table(found: dict[str, tuple[str, str]]) -> str:
    """Counts, and the reasons of what fails with how many tests each has, as Markdown."""
    counts, reasons = Counter(category for category, _ in found.values()), Counter(found.values())
    lines = [f"scikit-learn {version('scikit-learn')}:", "", "| tests | |", "|---:|---|"]
    words = {"passed": "pass", "skipped": "are skipped by scikit-learn itself", "new": "fail and are not reviewed"}
    lines += [f"| {counts[name]} | {words[name]} |" for name in words if counts[name]]
    for category, heading in CATEGORIES.items():
        rows = sorted(((n, reason) for (of, reason), n in reasons.items() if of == category), reverse=True)
        lines += ["", f"{heading} ({counts[category]}):", "", "| tests | |", "|---:|---|"]
        lines += [f"| {n} | {reason} |" for n, reason in rows]
    return "\n".join(lines)


def write_table(text: str) -> None:
    """Put the table between its marks on the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition("<!-- peers: begin -->")
    after = rest.partition("<!-- peers: end -->")[2]
    PAGE.write_text(f"{before}<!-- peers: begin -->\n{text}\n<!-- peers: end -->{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="such as logistic; all if none")
    parser.add_argument("--workers", type=int, default=2, help="processes (0: none of their own)")
    parser.add_argument("--keep", type=Path, help="write the outcome of every test to this JSON file")
    parser.add_argument("--document", action="store_true", help="write the table of docs/compatibility.md")
    arguments = parser.parse_args()
    results = run_tests(arguments.modules, arguments.workers)
    if arguments.keep:
        arguments.keep.write_text(json.dumps(results, indent=1))
    entries = reviewed()
    found = sort_results(results, entries)
    for test, (category, message) in found.items():
        if category == "new":
            print(f"new: {test}\n    {message.splitlines()[0] if message else ''}")
    failed = [test for test, result in results.items() if result["outcome"] == "failed"]
    names = {test.partition("::")[0] for test in results}
    for entry in entries:
        if entry.test.partition("::")[0] in names and not any(entry.covers(test) for test in failed):
            print(f"passes, though listed: {entry.test}")
    counts = Counter(category for category, _ in found.values())
    for category in ("passed", "skipped", *CATEGORIES, "new"):
        print(f"{category:12} {counts[category]}")
    if arguments.document:
        write_table(table(found))
    return int(counts["new"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
