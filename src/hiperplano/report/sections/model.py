"""The model in one sentence, and its formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.language.catalogue import words
from hiperplano.report.blocks import Block, Formula, Section, Words
from hiperplano.report.figures import measure
from hiperplano.report.sections.coefficients import Coefficients
from hiperplano.report.subject import Subject

_ = words("report")

_MOST_TERMS = 8  # of the written formula; the table has all


def model_section(subject: Subject, found: Coefficients | None) -> Section:
    """What kind of model it is."""
    blocks: list[Block] = [Words(sentence(subject))]
    if found is not None:
        blocks.append(_formula(subject, found))
    blocks.append(Words(_parameters(subject.anatomy.linear)))
    return Section("model", _("Model"), blocks)


def sentence(subject: Subject) -> str:
    """The model in one sentence."""
    linear, decider = subject.anatomy.linear, subject.anatomy.decider
    told = _kinds().get(type(linear).__name__)
    if told is None:
        told = _("A model of the class {name}.", name=type(linear).__name__)
    if linear is not decider:
        told += " " + _("It decides by what mistakes cost, not by what is most probable.")
    if subject.anatomy.coder is not None:
        told += " " + _("Columns are coded by the steps of a pipeline first.")
    return told


def _kinds() -> dict[str, str]:
    squares = _(
        "Least squares: the prediction is a weighted sum of the columns, with the least sum of squared residuals."
    )
    ridge = _("Ridge regression: least squares with a penalty on large coefficients.")
    logistic = _(
        "Logistic regression: the log-odds are a weighted sum of the columns, with the coefficients under which the "
        "observed classes are most likely."
    )
    online = _("It learns from one row at a time.")
    machine = _(
        "Linear support vector machine: the plane with a wide margin between the classes, where rows inside the margin "
        "or beyond it are paid for."
    )
    return {
        "LinearRegression": squares,
        "Ridge": ridge,
        "RidgeCV": ridge + " " + _("The penalty is chosen by cross-validation."),
        "LeastSquaresClassifier": _(
            "Least squares on 1-of-K coded classes: the class with the largest sum is decided."
        ),
        "LogisticRegression": logistic,
        "LogisticRegressionCV": logistic + " " + _("The penalty is chosen by cross-validation."),
        "LinearDiscriminantAnalysis": _(
            "Linear discriminant analysis: classes are taken as Gaussian clouds of one shape, and the boundary between "
            "two of them is a plane."
        ),
        "QuadraticDiscriminantAnalysis": _(
            "Quadratic discriminant analysis: classes are taken as Gaussian clouds, each with a shape of its own, so "
            "boundaries are curved and no column has a single coefficient."
        ),
        "LinearSVC": machine,
        "HardMarginSVC": _("Maximum-margin plane: the plane between two separable classes that is furthest from both."),
        "LinearSVR": _("Linear support vector regression: residuals inside a tube around the prediction cost nothing."),
        "Perceptron": _("Perceptron: a plane that is moved by every row on its wrong side.") + " " + online,
        "PassiveAggressiveClassifier": _(
            "Passive-aggressive classifier: every row moves the plane just as far as it needs to be on the right side."
        )
        + " "
        + online,
        "PassiveAggressiveRegressor": _(
            "Passive-aggressive regression: every row moves the prediction just as far as it needs to be close enough."
        )
        + " "
        + online,
        "Pegasos": machine + " " + online,
        "SGDClassifier": _("A linear classifier fitted by stochastic gradient descent.") + " " + online,
        "SGDRegressor": _("A linear regression fitted by stochastic gradient descent.") + " " + online,
    }


def _parameters(linear: Any) -> str:
    changed = {name: value for name, value in linear.get_params(deep=False).items() if value is not None}
    listed = ", ".join(f"{name}={_brief(value)}" for name, value in changed.items())
    return _("Parameters: {listed}.", listed=listed)


def _brief(value: Any) -> str:
    text = repr(value) if not isinstance(value, float) else f"{value:g}"
    return text if len(text) <= 40 else f"{text[:39]}…"


def _formula(subject: Subject, found: Coefficients) -> Formula:
    """The sum with its largest terms; what a score becomes."""
    lines = [_score_line(subject, found, 0)]
    where = ""
    if len(found.blocks) > 1:
        where = _("The score of {block}; the others have the same form.", block=found.blocks[0])
    if subject.task == "regression":
        return Formula(lines, where)
    if subject.task == "two classes":
        second = subject.classes[1]
        if type(subject.anatomy.linear).__name__ in (
            "LogisticRegression",
            "LogisticRegressionCV",
            "LinearDiscriminantAnalysis",
        ):
            lines.append(f"P({subject.target} = {second}) = 1 / (1 + exp(−s))")
        else:
            lines.append(_("s > 0 means {label}", label=second))
    return Formula(lines, where)


def _score_line(subject: Subject, found: Coefficients, block: int) -> str:
    order = np.argsort(-np.abs(found.effect[block]), kind="stable")
    kept = order[:_MOST_TERMS]
    terms = [_term(found.coef[block][j], found.names[j]) for j in kept.tolist()]
    name = subject.target if subject.task == "regression" else "s"
    first = measure(found.intercept[block]).text
    more = len(order) - len(kept)
    rest = " + …" if more > 0 else ""
    return f"{name} = {first} {' '.join(terms)}{rest}"


def _term(coef: float, name: str) -> str:
    return f"{'−' if coef < 0 else '+'} {measure(abs(coef)).text}·{name}"
