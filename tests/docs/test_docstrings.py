"""Docstrings of public names: every parameter described, and what comes back."""

import inspect

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

import hiperplano
from hiperplano import metrics

PUBLIC = {name: getattr(module, name) for module in (metrics, hiperplano) for name in sorted(module.__all__)}
CLASSES = {
    name: thing for name, thing in PUBLIC.items() if inspect.isclass(thing) and not issubclass(thing, BaseException)
}
FUNCTIONS = {name: thing for name, thing in PUBLIC.items() if inspect.isfunction(thing)} | {
    f"{name}.{method}": function
    for name, cls in CLASSES.items()
    for method, function in inspect.getmembers(
        cls, lambda member: inspect.isfunction(member) or inspect.ismethod(member)
    )
    if not method.startswith("_") and function.__module__.startswith("hiperplano")
}


def undescribed(thing, doc, sections):
    """Parameters of the signature that the docstring does not name, or names without a word on them."""
    described = {
        name.strip().lstrip("*")
        for section in sections
        for entry in doc[section]
        for name in entry.name.split(",")
        if " ".join(entry.desc).strip()
    }
    named = (name for name in inspect.signature(thing).parameters if name not in ("self", "cls"))
    return [name for name in named if name not in described]


@pytest.mark.parametrize("name", CLASSES)
def test_every_parameter_of_a_class_is_described(name):
    cls = CLASSES[name]
    assert undescribed(cls, ClassDoc(cls), ("Parameters", "Attributes")) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_of_a_function_is_described_and_what_it_returns(name):
    function = FUNCTIONS[name]
    doc = FunctionDoc(function)
    assert undescribed(function, doc, ("Parameters",)) == []
    if inspect.signature(function).return_annotation not in (None, "None"):
        assert doc["Returns"], f"{name} says nothing of what it returns"
