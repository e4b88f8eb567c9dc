"""What a user sees: names, docstrings, parameters."""

import inspect
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import hiperplano
from tests.registry import (
    BINNED,
    DETECTORS,
    ESTIMATORS,
    ONE_COLUMN,
    ONLINE,
    SEPARABLE_ONLY,
    TRANSFORMERS,
    WITHOUT_COEFFICIENTS,
)

PUBLIC = [getattr(hiperplano, name) for name in hiperplano.__all__]
CLASSES = [thing for thing in PUBLIC if inspect.isclass(thing)]
PUBLIC_ESTIMATORS = [thing for thing in CLASSES if issubclass(thing, BaseEstimator)]
CALLABLE = [thing for thing in PUBLIC if not inspect.isclass(thing)]


def name_of(thing):
    return thing.__name__


def sections(docstring):
    """Headings of a numpydoc docstring and their text."""
    lines = inspect.cleandoc(docstring).splitlines()
    starts = [i for i in range(len(lines) - 1) if lines[i] and re.fullmatch(r"-{3,}", lines[i + 1])]
    ends = [*starts[1:], len(lines)]
    return {lines[i]: "\n".join(lines[i + 2 : end]) for i, end in zip(starts, ends, strict=True)}


def documented(text):
    """Names before a colon, or alone on an unindented line, separated by commas."""
    heads = [line.split(" : ")[0].lstrip("*") for line in text.splitlines() if line and not line.startswith(" ")]
    return {name.strip() for head in heads for name in head.split(",")}


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name not in ("self", "args", "kwargs")]


def test_names_are_sorted_and_are_those_of_the_lazy_table():
    assert hiperplano.__all__ == sorted(hiperplano.__all__)
    assert list(hiperplano._HOME) == hiperplano.__all__


@pytest.mark.parametrize("name", hiperplano.__all__)
def test_names_load_and_are_listed(name):
    thing = getattr(hiperplano, name)
    assert thing.__name__ == name
    assert thing.__module__ == f"hiperplano.{hiperplano._HOME[name]}"
    assert dir(hiperplano).count(name) == 1


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'LinearRegresion'"):
        hiperplano.LinearRegresion  # noqa: B018


@pytest.mark.parametrize("thing", PUBLIC, ids=name_of)
def test_public_things_have_a_docstring_with_an_example(thing):
    assert thing.__doc__
    summary = inspect.cleandoc(thing.__doc__).splitlines()[0]
    assert summary.endswith((".", "?"))
    assert ">>> " in sections(thing.__doc__).get("Examples", "")


@pytest.mark.parametrize("thing", CALLABLE + CLASSES, ids=name_of)
def test_public_parameters_are_documented(thing):
    if inspect.isclass(thing) and not issubclass(thing, BaseEstimator):
        wanted, found = parameters(thing), documented(sections(thing.__doc__).get("Attributes", ""))
    else:
        wanted, found = parameters(thing), documented(sections(thing.__doc__).get("Parameters", ""))
    assert not set(wanted) - found


@pytest.mark.parametrize("thing", PUBLIC_ESTIMATORS, ids=name_of)
def test_public_methods_document_their_parameters(thing):
    for name, method in inspect.getmembers(thing, inspect.isfunction):
        if name.startswith("_") or not method.__module__.startswith("hiperplano"):
            continue
        assert method.__doc__, name
        found = documented(sections(method.__doc__).get("Parameters", ""))
        assert not set(parameters(method)) - found, name


@pytest.mark.filterwarnings("ignore::hiperplano.errors.SeparationWarning")  # a column tells the class
@pytest.mark.parametrize("thing", PUBLIC_ESTIMATORS, ids=name_of)
def test_fitted_attributes_are_documented(thing):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    one_column = thing in {type(entry.estimator) for entry in ONE_COLUMN}
    model = thing().fit(X[:, 0] if one_column else X, y)
    learned = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert not learned - documented(sections(thing.__doc__)["Attributes"])


@pytest.mark.parametrize("thing", PUBLIC_ESTIMATORS, ids=name_of)
def test_init_only_stores(thing):
    """Each parameter as the very object that was given, nothing else, and no check before `fit`."""
    given = {name: object() for name in parameters(thing)}
    assert vars(thing(**given)) == given
    assert all(getattr(thing(**given), name) is value for name, value in given.items())


@pytest.mark.parametrize("entry", ESTIMATORS + WITHOUT_COEFFICIENTS, ids=str)
def test_fit_changes_no_parameter(entry):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    model = clone(entry.estimator)
    before = dict(model.get_params())
    model.fit(X, y)
    assert all(model.get_params()[name] is value for name, value in before.items())


def test_every_public_estimator_is_in_the_registry():
    every = ESTIMATORS + ONLINE + WITHOUT_COEFFICIENTS + SEPARABLE_ONLY + TRANSFORMERS + BINNED + DETECTORS + ONE_COLUMN
    assert {type(entry.estimator) for entry in every} == set(PUBLIC_ESTIMATORS)


def test_a_misspelt_name_brings_the_right_one():
    with pytest.raises(AttributeError, match="LogisticRegresion") as caught:
        hiperplano.LogisticRegresion  # noqa: B018
    assert caught.value.obj is hiperplano  # what Python needs to ask "Did you mean: 'LogisticRegression'?"
    assert caught.value.name == "LogisticRegresion"
