"""Canonical axes of classes: how well they separate, what they consist of, and tests of significance."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from scipy.special import chdtrc, fdtrc

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.solvers.discriminant.linear import DiscriminantSolution
from hiperplano.stats.summary import coefficient_names


@dataclass(frozen=True, repr=False)
class CanonicalAxes:
    """The axes along which classes differ most, compared with their spread.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    classes : list of str
        Labels of the classes, sorted.
    eigenvalues : ndarray of shape (axes,)
        λ of W⁻¹F: variation between classes over variation within classes, along each axis.
    shares : ndarray of shape (axes,)
        Shares of the sum of the eigenvalues.
    correlations : ndarray of shape (axes,)
        Canonical correlations √(λ/(1+λ)), of the axis with the classes.
    wilks : ndarray of shape (axes,)
        Wilks' Λ = Π 1/(1+λ) over this axis and all after it. Small if they separate the classes.
    chi2, chi2_df, chi2_p : ndarray of shape (axes,)
        Bartlett's χ² test that this axis and all after it separate nothing in the population.
    f, f_df1, f_df2, f_p : ndarray of shape (axes,)
        Rao's F test of the same, more accurate in small samples; exact for up to three classes or up to two columns.
    coefficients : ndarray of shape (d, axes)
        Scores are (x − centre)·coefficients; their variance within classes is 1.
    standardised : ndarray of shape (d, axes)
        Coefficients times the columns' standard deviations within classes, which are comparable between columns.
    structure : ndarray of shape (d, axes)
        Correlations of each column with each axis, within classes.
    centroids : ndarray of shape (classes, axes)
        Scores of the class means.
    total, between, within : ndarray of shape (d, d)
        The scatter matrices T = F + W.
    notes : tuple of Message
        Caveats for the interpretation of the numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hiperplano import LinearDiscriminantAnalysis
    >>> axes = LinearDiscriminantAnalysis().fit(*load_iris(return_X_y=True)).axes()
    >>> axes.structure.round(2).tolist()
    [[0.22, 0.31], [-0.12, 0.86], [0.71, 0.17], [0.63, 0.74]]
    """

    names: list[str]
    classes: list[str]
    eigenvalues: Array
    shares: Array
    correlations: Array
    wilks: Array
    chi2: Array
    chi2_df: Array
    chi2_p: Array
    f: Array
    f_df1: Array
    f_df2: Array
    f_p: Array
    coefficients: Array
    standardised: Array
    structure: Array
    centroids: Array
    total: Array = field(repr=False)
    between: Array = field(repr=False)
    within: Array = field(repr=False)
    notes: tuple[str, ...] = ()

    def tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """Title, headings and rows of text of each part.

        Returns
        -------
        list of (title, headings, rows)
            Ready to be printed.
        """
        numbers = [f"axis {j + 1}" for j in range(len(self.eigenvalues))]
        tests = zip(
            numbers, self.eigenvalues, self.shares, self.correlations, self.wilks, self.chi2, self.chi2_df, self.chi2_p,
            self.f, self.f_df1, self.f_df2, self.f_p, strict=True,
        )  # fmt: skip
        headings = ["", "eigenvalue", "share", "correlation", "Wilks", "chi2", "df", "p", "F", "df1", "df2", "p"]
        rows = [
            [name, *(_text(value, places) for value, places in zip(row, _PLACES, strict=True))] for name, *row in tests
        ]
        parts = [("Canonical axes (each test: this axis and all after it)", headings, rows)]
        for title, index, values in (
            ("Standardised coefficients", self.names, self.standardised),
            ("Structure: correlations of columns with axes inside classes", self.names, self.structure),
            ("Centroids", self.classes, self.centroids),
        ):
            body = [[name, *(f"{value:.4f}" for value in row)] for name, row in zip(index, values, strict=True)]
            parts.append((title, ["", *numbers], body))
        return parts

    def __str__(self) -> str:
        lines: list[str] = []
        for title, headings, rows in self.tables():
            widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]
            lines += [*([""] if lines else []), title]
            for row in [headings, *rows]:
                cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
                lines.append("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        html = []
        for title, headings, rows in self.tables():
            head = "".join(f"<th>{escape(cell)}</th>" for cell in headings)
            body = "".join(
                f"<tr><th>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>"
                for row in rows
            )
            html.append(
                f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            )
        return "".join(html) + "".join(f"<p><em>Note: {escape(note)}</em></p>" for note in self.notes)


_PLACES = ("g", "4", "4", "4", "2", "0", "p", "2", "0", "1", "p")


def _text(value: float, places: str) -> str:
    if np.isnan(value):
        return "–"
    if places == "p":
        return "<0.0001" if value < 1e-4 else f"{value:.4f}"
    return f"{value:.5g}" if places == "g" else f"{value:.{places}f}"


def canonical_axes(model: Any) -> CanonicalAxes:
    """The axes of a fitted linear discriminant, from the quantities stored by its fit."""
    solution: DiscriminantSolution = model.solution_
    names = coefficient_names(model, False)
    total = float(solution.weight.sum())
    covariance = solution.covariance
    freedom = total - len(solution.weight) if model.unbiased else total
    within = covariance * freedom
    sample_mean = solution.weight @ solution.means / total
    apart = solution.means - sample_mean
    between = (apart * solution.weight[:, None]).T @ apart
    spread = np.sqrt(covariance.diagonal())
    values = solution.eigenvalues
    notes: list[Message] = []
    tested = values
    if solution.shrinkage.any():
        notes.append(Message("the covariance inside classes is shrunk: the tests do not hold and are left out."))
        tested = np.full_like(values, np.nan)
    elif not np.allclose(solution.priors, solution.weight / total):
        notes.append(
            Message(
                "priors differ from the sample's shares: axes are those of a population with these priors, tests those "
                "of the sample."
            )
        )
        tested = _sample_eigenvalues(solution, apart, total, len(values), model.unbiased)
    if solution.ignored:
        notes.append(
            Message(
                "{n} directions without variance inside classes, along which their means differ, are left out: they "
                "separate this sample without error.",
                n=solution.ignored,
            )
        )
    tests = _tests(tested, total, solution.rank, len(solution.weight))
    with np.errstate(divide="ignore", invalid="ignore"):
        structure = np.where(spread[:, None] > 0, covariance @ solution.scalings / spread[:, None], 0.0)
    return CanonicalAxes(
        names=names,
        classes=[str(label) for label in model.classes_],
        eigenvalues=values,
        shares=values / values.sum() if len(values) else values,
        correlations=np.sqrt(values / (1.0 + values)),
        **tests,
        coefficients=solution.scalings,
        standardised=solution.scalings * spread[:, None],
        structure=structure,
        centroids=(solution.means - solution.centre) @ solution.scalings,
        total=within + between,
        between=between,
        within=within,
        notes=tuple(notes),
    )


def _sample_eigenvalues(
    solution: DiscriminantSolution, apart: Array, total: float, count: int, unbiased: bool
) -> Array:
    """Eigenvalues of W⁻¹F with the sample shares as priors."""
    whitened = np.sqrt(solution.weight / total)[:, None] * (apart @ solution.whitening.matrix)
    values = np.linalg.svd(whitened, compute_uv=False)[:count] ** 2
    return values * (total / (total - len(solution.weight))) if unbiased else values


def _tests(values: Array, n: float, p: int, n_classes: int) -> dict[str, Array]:
    """Wilks' Λ of each axis and all after it, with Bartlett's χ² and Rao's F.

    Without the first k axes, p − k columns and classes − 1 − k contrasts remain.
    """
    k = np.arange(len(values))
    columns, contrasts = p - k, n_classes - 1 - k
    log_wilks = -np.cumsum(np.log1p(values)[::-1])[::-1]
    chi2_df = (columns * contrasts).astype(float)
    reach = n - 1 - (p + n_classes) / 2  # Bartlett's factor; the same for the residual axes
    chi2 = -reach * log_wilks
    square = columns**2 + contrasts**2 - 5.0
    power = np.sqrt(np.where(square > 0, (chi2_df**2 - 4.0) / np.where(square > 0, square, 1.0), 1.0))
    df2 = reach * power - chi2_df / 2 + 1.0
    root = np.exp(log_wilks / power)
    with np.errstate(divide="ignore", invalid="ignore"):
        f = (1.0 - root) / root * df2 / chi2_df
        valid = (df2 > 0) & (reach > 0)
        f, df2 = np.where(valid, f, np.nan), np.where(valid, df2, np.nan)
        chi2 = np.where(reach > 0, chi2, np.nan)
        f_p = np.where(valid, fdtrc(chi2_df, np.where(valid, df2, 1.0), np.where(valid, f, 0.0)), np.nan)
    chi2_p = np.where(np.isnan(chi2), np.nan, chdtrc(chi2_df, np.nan_to_num(chi2)))
    return {
        "wilks": np.exp(log_wilks),
        "chi2": chi2,
        "chi2_df": chi2_df,
        "chi2_p": chi2_p,
        "f": f,
        "f_df1": chi2_df,
        "f_df2": df2,
        "f_p": f_p,
    }
