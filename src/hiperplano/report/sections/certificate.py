"""The end of the fit: the solver's status, separability, condition."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.errors import HiperplanoError
from hiperplano.messages import translate
from hiperplano.messages.catalogue import translator
from hiperplano.report.blocks import Block, Cell, Notice, Paragraph, Section, Table
from hiperplano.report.columns import row_count
from hiperplano.report.number_format import decimal, significant
from hiperplano.report.subject import Subject
from hiperplano.solvers.separation.search import program_work
from hiperplano.stats.separability import separability

_ = translator("report")

_MOST_CELLS = 2**22  # rows × columns up to which separability is checked,
_MOST_WORK = 3e7  # and work of its linear programs, which take well under a second
_ILL = 1e4


def certificate_section(subject: Subject) -> Section:
    """The solver's status, separability, condition."""
    solution = getattr(subject.parts.linear, "solution_", None)
    blocks: list[Block] = []
    if solution is None:
        blocks.append(Paragraph(_("The model does not say how its fit ended.")))
    else:
        blocks.append(Notice(translate(solution.status), "good" if solution.converged else "bad"))
        blocks.append(Table(_("How the fit ended"), [_("Fact"), _("Value")], _facts(solution), name="solution"))
        blocks += _condition(solution)
    if subject.task == "two classes":
        blocks.append(_separability(subject))
    return Section("certificate", _("Certificate"), blocks)


def _facts(solution: Any) -> list[list[Cell]]:
    names = {
        "method": _("Method"),
        "kernel": _("Kernel"),
        "n_support": _("Support vectors"),
        "violation": _("Largest violation of the optimality conditions"),
        "n_iter": _("Steps or passes"),
        "objective": _("Minimised function"),
        "gap": _("Relative distance to the optimum, at most"),
        "converged": _("Converged"),
        "rank": _("Independent columns"),
        "condition": _("Condition number of the columns"),
        "digits": _("Decimal digits to trust"),
        "gradient_norm": _("Largest entry of the gradient"),
        "passes": _("Passes over the rows"),
        "strength": _("Strength of the penalty, on the mean loss"),
        "deviance": _("Deviance"),
        "null_deviance": _("Null deviance"),
        "dual_objective": _("Proved lower bound"),
        "mistakes": _("Mistakes while learning"),
        "updates": _("Rows that moved the plane"),
        "examples": _("Rows learnt from"),
        "clean": _("Last pass without mistake"),
        "unbounded": _("Coefficients were still growing"),
        "margin": _("Margin"),
        "approximation_cost": _("Share of the minimised function that an exact fit would save, at most (estimated)"),
    }
    rows: list[list[Cell]] = []
    for name, label in names.items():
        value = getattr(solution, name, None)
        if value is None or (isinstance(value, float) and np.isnan(value)):
            continue
        rows.append([label, _shown(value)])
    return rows


def _shown(value: Any) -> Cell:
    if isinstance(value, bool | np.bool_):
        return _("yes") if value else _("no")
    if isinstance(value, str):
        return translate(value)
    return (
        significant(value) if np.ndim(value) == 0 else ", ".join(significant(one).text for one in np.ravel(value)[:8])
    )


def _condition(solution: Any) -> list[Block]:
    condition = getattr(solution, "condition", None)
    if condition is None:
        return []
    if condition > _ILL:
        sentence = _(
            "The columns are nearly collinear (condition number {c}): single coefficients are poorly determined.",
            c=significant(condition).text,
        )
        return [Notice(sentence, "bad")]
    return [Paragraph(_("The columns are not collinear (condition number {c}).", c=significant(condition).text))]


def _separability(subject: Subject) -> Block:
    rows = subject.fitted_on
    cells = row_count(rows.design) * len(subject.names)
    if cells > _MOST_CELLS or program_work(rows.n, len(subject.names)) > _MOST_WORK:
        sentence = _(
            "Whether a plane separates the classes was not tested: the table has {n} numbers, and the test could "
            "take long.",
            n=significant(cells).text,
        )
        return Paragraph(sentence)
    try:
        found = separability(rows.design, rows.y, bool(getattr(subject.parts.linear, "fit_intercept", True)))
    except HiperplanoError as problem:
        return Paragraph(translate(problem))
    if type(found).__name__ == "Overlapping":
        sentence = _(
            "The classes overlap: no plane separates them, and likelihoods have a maximum with finite coefficients."
        )
        return Notice(sentence, "good")
    if type(found).__name__ == "Separable":
        sentence = _(
            "A plane separates the classes without a mistake (distance of the closest row: {margin}). A perfect fit "
            "is suspicious: look for a column that leaks the target.",
            margin=decimal(getattr(found, "margin", np.nan), 4).text,
        )
        return Notice(sentence, "bad")
    sentence = _(
        "A plane separates the classes except for rows on the plane itself: some coefficients have no finite optimum."
    )
    return Notice(sentence, "bad")
