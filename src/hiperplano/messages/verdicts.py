"""Sentences of solvers, certificates and warnings in the reader's language.

Solvers speak English, in pieces that this file knows. A text is taken apart into them from left to right, and each is
said again; the longest piece that fits is taken.
"""

from __future__ import annotations

import re
from functools import cache

from hiperplano.messages.catalogue import spoken, words

_ = words("verdicts")


def _pieces() -> tuple[str, ...]:
    """All pieces. They are listed through `_` for the catalogue, in English because nothing else is spoken then."""
    from hiperplano.messages.catalogue import speaking

    with speaking("en"):
        return (
            # how it was solved
            _("Solved by {method}"),
            _("Solved from {method}"),
            _("Solved by {method} in {n} passes"),
            _("Solved by conjugate gradients in {n} steps"),
            _("; the relative gradient is {gap}"),
            _("; no plane has an objective lower by more than {gap} of it."),
            _("; about {n} digits of the coefficients can be trusted."),
            _("; about {n} digits can be trusted."),
            _("The columns are linearly dependent (rank {r} of {d}): the shortest of all best fits was taken; predictions are unique, coefficients are not"),
            _("; the columns are linearly dependent (rank {r} of {d}): others may fit as well"),
            _(" (many coefficients fit equally well: the shortest were taken)"),
            _(" (many coefficients fit equally well: some of them were taken)"),
            _("; many coefficients fit equally well, and the shortest in units of the columns' spread were taken"),
            _(" {k} of {n} columns does not vary and got the coefficient 0."),
            _(" {k} of {n} columns do not vary and got the coefficient 0."),
            _(" The best penalty, {value}, is the smallest of those tried: try others beyond it."),
            _(" The best penalty, {value}, is the largest of those tried: try others beyond it."),
            _(" The best penalty, {value} and {other}, is the smallest and largest of those tried: try others beyond it."),
            _("Conjugate gradients stopped after {n} steps with a relative gradient of {gap}, above tol={tol}."),
            _(" Raise max_iter, or tol if that is accurate enough, or add a penalty (alpha)."),
            _(" Rounding allows no more. Raise tol if that is accurate enough, or add a penalty (alpha)."),
            # discriminants
            _("; classes vary in {r} of {d} directions only, and the shortest coefficients on these were taken"),
            _("; along {k} more no class varies but their means differ: they separate this sample without error, and were left out"),
            _("; rows vary in {r} of {d} directions only, and densities are compared there"),
            _("; {k} of {n} classes do not vary in all directions in which rows do, and were given a standard deviation of {thickness} of the columns' along those"),
            _(" Set shrinkage='auto' to let them count, or drop columns that tell the class by themselves."),
            _(" They are {names}. Set shrinkage='auto', or drop columns that are constant or dependent in a class."),
            # likelihood
            _("Converged by {method} in {n} steps, {passes} passes over the rows"),
            _("; the largest gradient entry is {gap} (columns at unit spread)."),
            _("Converged by Newton on Firth's likelihood in {n} steps; the largest score entry is {gap}."),
            _("Stopped after {n} steps on Firth's likelihood: the largest score entry is {gap}, above tol={tol}. Raise max_iter, or leave out columns that depend on others."),
            _("Stopped after {n} steps by {method}: coefficients grow without end while the largest gradient entry is {gap} (columns at unit spread). The classes are probably separated, so that no finite maximum of the likelihood exists."),
            _("Stopped after {n} steps by {method} because no step lowers the loss any more: the largest gradient entry is {gap} (columns at unit spread), above tol={tol}. Rounding hides what is left: raise tol, or centre columns with very large offsets."),
            _("Stopped after max_iter={n} steps by {method}: the largest gradient entry is {gap} (columns at unit spread), above tol={tol}. Raise max_iter, or tol if that is accurate enough, or strengthen the penalty (smaller C)."),
            _(" Set firth=True, or a finite C."),
            _(" Set a finite C."),
            _("the classes are separated by {names}, so the likelihood has no maximum and coefficients would grow without end; they were stopped."),
            _("the classes are separated in part (quasi-completely) by {names}, so the likelihood has no maximum and coefficients would grow without end; they were stopped."),
            _("fits to some folds stopped after max_iter={n} steps above tol={tol}, so their scores are not final. Raise max_iter, or tol if that is accurate enough."),
            # support vector machines
            _("{method} ended after {n} passes with a relative duality gap of {gap}, above tol={tol}: "),
            _("max_iter={n} passes were made."),
            _("rounding stopped all progress."),
            _(" If columns differ much in scale, standardise them (sklearn.preprocessing.StandardScaler); otherwise raise max_iter, or tol if that is accurate enough."),
            _(" Raise max_iter, or tol if that is accurate enough, or try solver='newton'; a smaller C is easier."),
            _(" Raise max_iter, or tol if that is accurate enough; standardised columns and a smaller C are easier."),
            _("The widest margin was found in {n} passes, with {k} support vectors; no plane has a squared margin wider by more than {gap} of it."),
            _("The search for the widest margin ended after {n} passes with a relative gap of {gap}, above tol={tol}: "),
            _(" Raise max_iter, or tol if that is accurate enough; columns of very different scale lose digits."),
            # one example at a time
            _("Learnt from {n} examples in {passes}, with {counts}"),
            _("; the last chunk was without a mistake."),
            _("; the last chunk was not without a mistake."),
            _("The last of {passes} changed nothing: all examples are answered as the rule asks, with {counts}."),
            _("Stopped after {passes}, as no pass improved by tol={tol} any more, with {counts}."),
            _("Stopped after {passes}, as the gradient grew from pass to pass: the steps are too long, with {counts}."),
            _(" Lower eta0, or bring the columns to unit scale (StandardScaler)."),
            _("Made the {passes} asked for, with {counts}."),
            _("The {passes} of max_iter ended before the improvement fell below tol={tol}, with {counts}."),
            _(" {n} mistakes in the last pass: no plane was found that separates all rows, and there may be none."),
            _(" Raise max_iter, or tol if this is good enough; columns of like scale (StandardScaler) are learnt sooner."),
            # digits
            _("only about {n} digits of the coefficients can be trusted; the columns are nearly dependent (condition {condition}). Leave out columns that follow from others, or {remedy}."),
            _("only about {n} digits can be trusted; columns are nearly dependent in a class (condition {condition}). Leave out columns that follow from others, or set shrinkage='auto'."),
            # certificates
            _("Separable with an intercept: a plane with coefficients for {names} has every row on its own side, the closest at a distance of {margin}."),
            _("Separable through the origin: a plane with coefficients for {names} has every row on its own side, the closest at a distance of {margin}."),
            _("Overlapping with an intercept: weights on {n} rows bring both classes to one point, so no plane separates them."),
            _("Overlapping through the origin: weights on {n} rows bring both classes to one point, so no plane separates them."),
            _("Quasi-separable with an intercept: by {names} {n} rows are told apart without error; the others lie on the plane."),
            _("Quasi-separable through the origin: by {names} {n} rows are told apart without error; the others lie on the plane."),
            # what fields hold
            _("normal equations"),
            _("normal equations, refined"),
            _("orthogonal factorisation, refined"),
            _("minimum-norm solution"),
            _("active set, coefficients ≥ 0"),
            _("singular value decomposition of the rows"),
            _("orthogonal factorisation of the rows"),
            _("sums over classes"),
            _("Newton's method"),
            _("dual coordinate ascent"),
            _("Dual coordinate ascent"),
            _("dual ascent over all classes"),
            _("Dual ascent over all classes"),
            _("gradient with a dynamic rate"),
            _("L-BFGS in the metric of a sample of {n} rows"),
            _("L-BFGS in the metric of all rows"),
            _("Newton in columns made independent"),
            _("L-BFGS in the metric of one Hessian for each class"),
            _("add a penalty (Ridge)"),
            _("1 pass"),
            _("{n} passes"),
            _("{n} updates"),
            _("{n} updates after {k} mistakes"),
            _("{names} and {n} more"),
            _("{names} and others"),
        )  # fmt: skip


_END = r"(?=$|;|\.(?:\s|$)| \(| \d+ of )"
"""Where a field ends that ends its piece."""


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Pieces with their patterns, those with most words of their own first."""
    pieces = sorted(_pieces(), key=lambda piece: -len(re.sub(r"\{\w+\}", "", piece)))
    return tuple((piece, re.compile(_pattern(piece))) for piece in pieces)


def _pattern(piece: str) -> str:
    """A piece with fields that take as little as they can."""
    end = _END if piece.endswith("}") else r"(?=\s|$)" if piece.endswith(".") else ""
    return re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(piece)) + end


def retell(text: str) -> str:
    """A sentence of a solver or a warning in the language now spoken, piece by piece; English where it is unknown.

    Examples
    --------
    >>> from hiperplano.messages.catalogue import speaking
    >>> from hiperplano.messages.verdicts import retell
    >>> with speaking("es"):
    ...     retell("Solved by normal equations; about 14 digits of the coefficients can be trusted.")
    'Resuelto por ecuaciones normales; se puede confiar en unas 14 cifras de los coeficientes.'
    """
    if spoken() == "en":
        return text
    return "".join(said for said, _known in retold(text))


def retold(text: str) -> list[tuple[str, bool]]:
    """The pieces of a text, said again, and whether each was known."""
    said: list[tuple[str, bool]] = []
    model = re.match(r"[A-Z]\w+: (?=\S)", text)
    if model:  # a warning begins with the name of its model
        said.append((model[0], True))
        text = text[model.end() :]
    while text:
        found = next(((piece, match) for piece, pattern in _patterns() if (match := pattern.match(text))), None)
        if found is None and text.startswith("."):
            said.append((".", True))
            text = text[1:]
            continue
        if found is None:
            said.append((text, False))
            break
        piece, match = found
        fields = {name: _field(value) for name, value in match.groupdict().items()}
        said.append((_(piece, **fields) if fields else _(piece), True))
        text = text[match.end() :]
    return said


def _field(value: str) -> str:
    """What stands in a field: words that are known, or numbers and names."""
    for piece, pattern in _patterns():
        match = pattern.fullmatch(value)
        if match:
            return _(piece, **match.groupdict()) if match.groupdict() else _(piece)
    return value
