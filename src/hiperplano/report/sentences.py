"""Sentences of residual analyses and of summaries' notes, told again in the language of the page.

They are written in English where the figures are made. Here stands their form, with fields for what changes; a
sentence of that form is taken apart and put together again from the form's translation.
"""

from __future__ import annotations

import re
from functools import cache

from hiperplano.messages.catalogue import speaking, spoken, words

_ = words("report")


def tell_again(text: str) -> str:
    """A sentence in the language now spoken, clause by clause; as it is where a clause has no known form."""
    if spoken() == "en":
        return text
    whole = _told(text)
    if whole is not None:
        return whole
    clauses = [_told(clause) for clause in text.split("; ")]
    return text if None in clauses else "; ".join(clause for clause in clauses if clause is not None)


def _told(clause: str) -> str | None:
    for form, translation in _forms(spoken()):
        found = form.fullmatch(clause)
        if found:
            return translation.format(**found.groupdict())
    return None


@cache
def _forms(language: str) -> list[tuple[re.Pattern[str], str]]:
    with speaking("en"):
        english = _findings() + _notes()
    with speaking(language):
        translated = _findings() + _notes()
    return [(_pattern(form), other) for form, other in zip(english, translated, strict=True)]


def _pattern(form: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", form)
    return re.compile("".join(f"(?P<{part}>.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts)))


def _findings() -> list[str]:
    """Of `evidence.findings`: names and sentences."""
    return [
        _("outlier"),
        _("leverage"),
        _("leverage of 1"),
        _("Cook's distance"),
        _("Durbin-Watson"),
        _("Breusch-Pagan"),
        _("VIF"),
        _("condition"),
        _("the target is fitted exactly: residuals are rounding errors, and say nothing."),
        _("row {row} pulls most on its own fit"),
        _("{k} of {n} rows are above twice the mean, {threshold}: their columns are unusual, whatever their target."),
        _(
            "row {rows}: fitted exactly whatever the target, so it has no studentised residual and no Cook's distance "
            "(NaN)"
        ),
        _("a coefficient depends on such a row alone."),
        _("the largest studentised residual is in row {row}"),
        _("so large a one among {n} rows would be rare by chance (p = {p})."),
        _("among {n} rows that is not unusual (p = {p})."),
        _("row {row} moves the coefficients most when it is left out"),
        _("above 1, look at it."),
        _("below 1, no single row decides the fit."),
        _("p = {p}: no sign that the errors' variance changes with the columns."),
        _("p = {p}: the errors' variance changes with the columns"),
        _("take inference(…, cov='HC3')."),
        _("well below 2: neighbouring rows have similar residuals"),
        _("if rows follow in time, something is missing."),
        _("well above 2: residuals of neighbouring rows alternate in sign."),
        _("near 2: residuals of neighbouring rows are not related."),
        _("{name} is predicted best by the other columns"),
        _("above 10, its coefficient is poorly determined."),
        _("below 10, every coefficient can be told apart."),
        _("of the columns at unit length"),
        _("above 30, some combination of columns hardly varies."),
        _("below 30, no combination of columns is close to constant."),
    ]


def _notes() -> list[str]:
    """Of summaries."""
    return [
        _("{which} does not vary: there is nothing to explain, and nothing to test."),
        _(
            "{which} is fitted exactly: residuals are rounding errors, standard errors made of them mean nothing, and "
            "tests and intervals are left out."
        ),
        _(
            "the fit is penalised ({strength}): its coefficients are drawn towards 0, so p-values and intervals, which "
            "assume that they are right on average, do not hold and are left out"
        ),
        _("standard errors tell the spread, not the bias. Effective degrees of freedom: {df}."),
        _("standard errors tell the spread, not the bias. C=np.inf gives plain maximum likelihood."),
        _(
            "coefficients were held at 0 or above: their distribution is not normal at that border, so p-values and "
            "intervals do not hold and are left out."
        ),
        _("columns are so alike that standard errors have about {digits} digits here"),
        _("inference(model, X, y) makes them from the rows, with all digits."),
        _(
            "Firth's penalised likelihood: intervals and p-values are those of its profile, z is coefficient over "
            "standard error."
        ),
        _(
            "the classes are separated: coefficients were stopped on their way to infinity, and nothing that assumes a "
            "maximum of the likelihood holds. Set firth=True, or a finite C."
        ),
    ]
