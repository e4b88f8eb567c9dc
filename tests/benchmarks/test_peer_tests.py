"""The tests of scikit-learn with our classes: what is replaced, what counts, how failures are sorted."""

import ast
from importlib.resources import files

import pytest

from benchmarks.peer_tests import CATEGORIES, MODULES, PAGE, Entry, mirrored, reviewed, sort_results, table, write_tests

SOURCE_NAMES = {"LogisticRegression", "LinearSVC", "RidgeCV", "SGDClassifier"}


def test_classes_are_ours_and_everything_else_is_theirs(tmp_path):
    write_tests(tmp_path, ["logistic", "svm", "sgd"])
    assert set(mirrored()) >= SOURCE_NAMES
    logistic = ast.parse((tmp_path / "test_logistic.py").read_text())
    imports = {
        node.module: [one.name for one in node.names] for node in logistic.body if isinstance(node, ast.ImportFrom)
    }
    assert {"LogisticRegression", "LogisticRegressionCV", "SGDClassifier"} <= set(imports["hiperplano"])
    assert "sklearn.linear_model" not in imports  # all that it took from there is ours
    assert "sklearn.model_selection" in imports
    assert "from stand_ins import" in (tmp_path / "test_sgd.py").read_text()
    assert (tmp_path / "conftest.py").exists()


def test_only_tests_that_make_a_model_count_and_unlisted_failures_are_new():
    results = {
        "test_a.py::test_one[x-1]": {"outcome": "failed", "made": ["Ridge"], "message": "boom"},
        "test_a.py::test_one[y-1]": {"outcome": "failed", "made": ["Ridge"], "message": "boom"},
        "test_a.py::test_two": {"outcome": "passed", "made": ["Ridge"], "message": ""},
        "test_a.py::test_three": {"outcome": "failed", "made": [], "message": "theirs"},
    }
    found = sort_results(results, [Entry("test_a.py::test_one", "convention", "we differ", ("x-",))])
    assert found == {
        "test_a.py::test_one[x-1]": ("convention", "we differ"),
        "test_a.py::test_one[y-1]": ("new", "boom"),
        "test_a.py::test_two": ("passed", ""),
    }
    assert "| 1 | we differ |" in table(found)


def test_every_reviewed_test_exists_and_every_reason_is_on_the_page():
    defined = set()
    for package, modules in MODULES.items():
        for name in modules:
            source = files(package).joinpath("tests", f"test_{name}.py").read_text()
            functions = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
            defined |= {f"test_{name}.py::{one}" for one in functions}
    page = PAGE.read_text(encoding="utf-8")
    for entry in reviewed():
        assert entry.test in defined
        assert entry.category in CATEGORIES
        assert entry.reason in page


@pytest.mark.parametrize("name", sorted(mirrored()))
def test_every_mirrored_class_is_on_the_page(name):
    assert f"`{name}`" in PAGE.read_text(encoding="utf-8")
