"""A formula as one SELECT: cells, features, scores, probabilities, label, each stage a common table expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.export.formula import Cell, Formula, KernelScores, LinearScores, QuadraticScores
from hiperplano.export.sql.dialects import LARGEST, Dialect, Expression, extreme, identifier, total
from hiperplano.export.sql.features import FeatureWriter
from hiperplano.export.sql.link import one_versus_rest, sigmoid, softmax
from hiperplano.export.sql.lookups import merged_lookups


@dataclass
class Query:
    """A chain of stages; each selects from the previous one and passes its columns on.

    Attributes
    ----------
    carried : list of str
        Columns that the next stage can use.
    """

    dialect: Dialect
    source: Expression
    fence: bool
    stages: list[tuple[str, Expression]] = field(default_factory=list)
    carried: list[str] = field(default_factory=list)

    def add(self, name: str, made: Mapping[str, Expression], drop: Sequence[str] = ()) -> None:
        """Add a stage.

        Parameters
        ----------
        made : mapping of str to expression
            New columns.
        drop : sequence of str
            Columns that no later stage needs.
        """
        kept = [column for column in self.carried if column not in drop]
        chosen: list[Expression] = [exp.column(column) for column in kept]
        chosen += [exp.alias_(expression, column, copy=False) for column, expression in made.items()]
        query = exp.select(*chosen, copy=False).from_(self._last(), copy=False)
        while name == self.source.name or any(name == known for known, _ in self.stages):
            name += "_"
        self.stages.append((name, query))
        self.carried = [*kept, *made]

    def _last(self) -> Expression:
        return exp.to_table(self.stages[-1][0]) if self.stages else self.source

    def select(self, outputs: Mapping[str, Expression]) -> Expression:
        """The statement that selects the outputs of the last stage."""
        chosen = [exp.alias_(each, identifier(name), copy=False) for name, each in outputs.items()]
        query = exp.select(*chosen, copy=False).from_(self._last(), copy=False)
        for name, stage in self.stages:
            query = query.with_(name, as_=stage, materialized=True if self.fence else None, copy=False)
        return query


def statement(
    formula: Formula, source: Expression, dialect: Dialect, columns: Mapping[str, str], keep: Sequence[str]
) -> Expression:
    """The SELECT of a model's outputs.

    Parameters
    ----------
    source : expression
        The table.
    columns : mapping of str to str
        Name in the table of each column of the model.
    keep : sequence of str
        Columns of the table to pass on.
    """
    if isinstance(formula.scores, KernelScores):
        raise NotAvailable(
            "a kernel machine has no SQL statement: it compares each row with {n} others. Use to_onnx.",
            n=len(formula.scores.fitted),
        )
    several = formula.scores.n_scores > 1
    query = Query(dialect, source, fence=dialect.fence and several)
    holders = {cell: f"c{number + 1}" for number, cell in enumerate(_in_order(formula))}
    kept = {f"k{number + 1}": exp.column(identifier(name)) for number, name in enumerate(keep)}
    cells = {holder: dialect.cell(cell, exp.column(identifier(columns[cell.name]))) for cell, holder in holders.items()}
    query.add("cells", kept | cells)
    writer = FeatureWriter(dialect, holders)
    _add_scores(query, formula, writer, list(cells))
    passed = {name: exp.column(f"k{number + 1}") for number, name in enumerate(keep)}
    outputs = _decided(query, formula)
    twice = sorted({name.casefold() for name in passed} & {name.casefold() for name in outputs})
    if twice:
        raise InvalidParameter(
            "keep names {name!r}, and so does an output of the model. Rename the column of the table in a view.",
            name=twice[0],
        )
    return query.select(passed | outputs)


def _in_order(formula: Formula) -> list[Cell]:
    place = {cell.name: number for number, cell in enumerate(formula.cells)}
    return sorted(formula.used_cells(), key=lambda cell: (place[cell.name], cell.kind, cell.codes))


def _add_scores(query: Query, formula: Formula, writer: FeatureWriter, cells: list[str]) -> None:
    """Add stages that end with the scores r1, r2, …, which are all finite or all NULL."""
    scores, dialect = formula.scores, query.dialect
    if isinstance(scores, LinearScores) and scores.n_scores == 1:
        terms = merged_lookups(formula.features, scores.coef[0])
        parts = [writer.weighted(weight, feature) for weight, feature in terms]
        made = {"r1": total([dialect.double(scores.intercept[0]), *parts])}
        if formula.points is not None:
            made["points"] = writer.write(formula.points)
        query.add("scores", made, drop=cells)
    else:
        used = formula.used_features()
        names = {j: f"f{j + 1}" for _, j in used}
        query.add("features", {names[j]: writer.write(feature) for feature, j in used}, drop=cells)
        if isinstance(scores, LinearScores):
            _add_linear(query, scores, names)
        elif isinstance(scores, QuadraticScores):
            _add_quadratic(query, scores, names)
    raw = [name for name in query.carried if name.startswith("r")]
    whole = exp.LTE(this=exp.Abs(this=total(map(exp.column, raw))), expression=dialect.number(LARGEST))
    if len(raw) == 1:
        query.add("finite_scores", {"s1": exp.Case().when(whole, exp.column("r1"))}, drop=raw)
    else:
        top = exp.Case().when(whole, extreme(exp.Greatest, [exp.column(name) for name in raw]))
        query.add("largest_score", {"top": top})


def _add_linear(query: Query, scores: LinearScores, names: Mapping[int, str]) -> None:
    dialect = query.dialect
    made = {}
    for k, (row, constant) in enumerate(zip(scores.coef.tolist(), scores.intercept.tolist(), strict=True)):
        terms = [
            exp.Mul(this=dialect.number(row[j]), expression=exp.column(name)) for j, name in names.items() if row[j]
        ]
        made[f"r{k + 1}"] = total([dialect.double(constant), *terms])
    query.add("scores", made, drop=list(names.values()))


def _add_quadratic(query: Query, scores: QuadraticScores, names: Mapping[int, str]) -> None:
    """Add the coordinates of the row in each class, then their squares."""
    dialect, coordinates = query.dialect, {}
    for k, (mean, matrix) in enumerate(zip(scores.means, scores.whitening, strict=True)):
        for i, column in enumerate(matrix.T.tolist()):
            terms = []
            for j, name in names.items():
                centred = exp.paren(exp.Sub(this=exp.column(name), expression=dialect.number(mean[j])))
                terms += [exp.Mul(this=dialect.number(column[j]), expression=centred)] if column[j] else []
            coordinates[f"z{k + 1}_{i + 1}"] = total([dialect.double(0.0), *terms])
    query.add("coordinates", coordinates, drop=list(names.values()))
    classes = []
    for k, constant in enumerate(scores.constant.tolist()):
        own = [exp.column(name) for name in coordinates if name.startswith(f"z{k + 1}_")]
        squares = total(exp.Mul(this=each, expression=each.copy()) for each in own)
        half = exp.Mul(this=dialect.number(0.5), expression=exp.paren(squares))
        classes.append(exp.Sub(this=dialect.double(constant), expression=half))
    if len(classes) == 2:
        classes = [exp.Sub(this=exp.paren(classes[1]), expression=exp.paren(classes[0]))]
    query.add("scores", {f"r{k + 1}": each for k, each in enumerate(classes)}, drop=list(coordinates))


def _decided(query: Query, formula: Formula) -> dict[str, Expression]:
    """The outputs; adds stages for probabilities and expected costs."""
    decision, dialect = formula.decision, query.dialect
    one = formula.scores.n_scores == 1
    scores = ["s1"] if one else [name for name in query.carried if name[0] == "r"]
    finite = [exp.column("s1")] if one else [_where_known(exp.column(name)) for name in scores]
    if decision is None:
        return dict(zip(output_names("prediction", len(scores)), finite, strict=True))
    names = output_names("score", len(scores), decision.classes)
    outputs = dict(zip(names, finite, strict=True))
    if formula.points is not None:
        outputs["points"] = exp.column("points")
    shares: list[str] = []
    if decision.link is not None:
        shares = _add_probabilities(query, decision.link, scores, both=decision.costs is not None)
        names = output_names("probability", len(shares) if not one else 1, decision.classes)
        outputs |= dict(zip(names, map(exp.column, shares if not one else shares[-1:]), strict=True))
    if decision.costs is not None:
        costs = {
            f"q{j + 1}": total(
                exp.Mul(this=dialect.number(c), expression=exp.column(p)) for c, p in zip(row, shares, strict=True)
            )
            for j, row in enumerate(decision.costs.tolist())
        }
        query.add("expected_costs", costs)
        query.add("least_cost", {"least": extreme(exp.Least, [exp.column(name) for name in costs])})
        return outputs | {"label": _first_equal(dialect, list(costs), "least", decision.labels)}
    if one:
        second = exp.GT(this=exp.column("s1"), expression=dialect.number(decision.cutoff, exact=True))
        known = exp.Is(this=exp.column("s1"), expression=exp.null())
        low, high = map(dialect.label, decision.classes)
        return outputs | {"label": exp.Case().when(known, exp.null()).when(second, high).else_(low)}
    return outputs | {"label": _first_equal(dialect, scores, "top", decision.classes)}


def _add_probabilities(query: Query, link: str, scores: list[str], both: bool) -> list[str]:
    """Add stages that end with the probabilities p1, p2, …"""
    if len(scores) == 1:
        return sigmoid(query, scores[0], both)
    return softmax(query, scores, "top") if link == "softmax" else one_versus_rest(query, scores)


def _where_known(score: Expression) -> Expression:
    known = exp.Is(this=exp.column("top"), expression=exp.null())
    return exp.Case().when(known, exp.null()).else_(score)


def _first_equal(dialect: Dialect, names: list[str], best: str, labels: list[Any]) -> Expression:
    found = exp.Case()
    for name, label in zip(names, labels, strict=True):
        found = found.when(exp.EQ(this=exp.column(name), expression=exp.column(best)), dialect.label(label), copy=False)
    return found


def output_names(kind: str, count: int, classes: Sequence[Any] = ()) -> list[str]:
    """Names of the result columns: by class if their labels are short and distinct, else by number."""
    if count == 1:
        return [kind]
    labels = [str(label) for label in classes]
    if len(labels) != count or len({label.casefold() for label in labels}) < count or max(map(len, labels)) > 40:
        labels = [str(number + 1) for number in range(count)]
    return [f"{kind}_{label}" for label in labels]
