"""Where things may be: imports between packages, sizes of files, nothing of one machine in what is tracked."""

import re
import subprocess
import sys
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_packages_import_only_packages_below(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert lint_imports(config_filename="pyproject.toml", no_cache=True) == EXIT_STATUS_SUCCESS


def test_no_modules_import_each_other_in_a_circle():
    graph = grimp.build_graph("hiperplano", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the modules


def test_the_import_contract_covers_every_package():
    packages = {path.name for path in (ROOT / "src" / "hiperplano").iterdir() if (path / "__init__.py").exists()}
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("layers = [")[1]
    missing = [package for package in packages if not re.search(rf"\b{package}\b", contract)]
    assert not missing


def test_source_files_are_short():
    lengths = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert not {path: length for path, length in lengths.items() if length > 400}
    assert sorted(lengths.values())[len(lengths) // 2] <= 160


def test_a_folder_has_at_most_a_dozen_files():
    files = Counter(path.parent.relative_to(ROOT) for path in SOURCES if path.name != "__init__.py")
    assert not {folder: count for folder, count in files.items() if count > 12}


def test_tracked_files_hold_no_machine_paths():
    slash = "/"
    homes = re.compile("|".join(f"{slash}{place}{slash}\\w" for place in ("home", "Users", "root", "work", "tmp")))
    found = []
    for path in tracked_files():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in homes.finditer(text)]
    assert not found


def test_no_lock_or_cache_is_tracked():
    names = {path.name for path in tracked_files()}
    assert not names & {"uv.lock", "poetry.lock", "Pipfile.lock"}
    assert not [path for path in tracked_files() if "__pycache__" in path.parts or path.suffix == ".pyc"]


LEAST_SQUARES = """
import sys
import hiperplano
assert "sklearn" not in sys.modules and "numpy" not in sys.modules, "importing the package must cost nothing"
import numpy as np
from hiperplano import LinearRegression, Ridge
X = np.arange(12.0).reshape(6, 2) ** 2
LinearRegression().fit(X, X.sum(axis=1)).summary()
Ridge(solver="cg").fit(X, X.sum(axis=1)).predict(X)
print(*[name for name in ("numba", "pandas", "polars", "matplotlib", "dask") if name in sys.modules])
"""


def test_least_squares_loads_nothing_it_does_not_need():
    """Numba above all, whose import takes longer than most fits."""
    ran = subprocess.run([sys.executable, "-c", LEAST_SQUARES], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    # scikit-learn itself may load pandas where it is installed; the others are ours to avoid.
    assert "numba" not in ran.stdout.split()
    assert not {"polars", "matplotlib", "dask"} & set(ran.stdout.split())
