"""The model in one sentence, and its formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.messages.catalogue import translator
from hiperplano.report.blocks import Block, Code, Details, Formula, Paragraph, Section
from hiperplano.report.coefficients import Coefficients
from hiperplano.report.model_descriptions import describe_model
from hiperplano.report.number_format import significant
from hiperplano.report.subject import Subject

_ = translator("report")

# Models whose probability is a logistic function of the score.
_LOGISTIC = ("LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis")
_MOST_TERMS = 8  # most terms of the formula; the table holds all


def model_section(subject: Subject, found: Coefficients | None) -> Section:
    """The kind of model."""
    blocks: list[Block] = [Paragraph(_sentence(subject))]
    if found is not None and len(found.names) <= _MOST_TERMS and len(found.blocks) == 1:
        blocks.append(_formula(subject, found))
    blocks.append(Details(_("Parameters"), [Code(_parameters(subject.parts.linear))]))
    return Section("model", _("Model"), blocks)


def _sentence(subject: Subject) -> str:
    linear, final_step = subject.parts.linear, subject.parts.final_step
    kind = describe_model(linear)
    sentence = _("{name}. {sentence}", name=kind.name, sentence=kind.sentence)
    if linear is not final_step:
        sentence += " " + _("It decides by expected cost, not by the most probable class.")
    if subject.parts.transformer is not None:
        sentence += " " + _("Columns are first encoded by the steps of a pipeline.")
    return sentence


def _parameters(linear: Any) -> str:
    given = ", ".join(f"{name}={_brief(value)}" for name, value in linear.get_params(deep=False).items())
    return f"{type(linear).__name__}({given})"


def _brief(value: Any) -> str:
    text = repr(value) if not isinstance(value, float) else f"{value:g}"
    return text if len(text) <= 60 else f"{text[:59]}…"


def _formula(subject: Subject, found: Coefficients) -> Formula:
    """The sum, the largest terms first, and the decision."""
    order = np.argsort(-np.abs(found.effect[0]), kind="stable").tolist()
    name = subject.target if subject.task == "regression" else "s"
    terms = " ".join(_term(found.coef[0][j], found.names[j]) for j in order)
    lines = [f"{name} = {significant(found.intercept[0]).text} {terms}"]
    if subject.task == "two classes":
        if type(subject.parts.linear).__name__ in _LOGISTIC:
            lines.append(f"P({subject.target} = {subject.positive}) = 1 / (1 + exp(−s))")
        else:
            lines.append(_("s > 0: {label}", label=subject.positive))
    where = _("[…] is 1 where it holds and 0 elsewhere.") if any(" = " in each for each in found.names) else ""
    return Formula(lines, where)


def _term(coef: float, name: str) -> str:
    column = f"[{name}]" if " = " in name else name
    return f"{'−' if coef < 0 else '+'} {significant(abs(coef)).text}·{column}"
