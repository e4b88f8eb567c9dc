"""Probabilities in SQL for scores of any size, without overflow or underflow of EXP."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from hiperplano.export.sql.dialects import Dialect, Expression, divided, extreme, total

_UNDERFLOW = -700.0  # EXP below this (1e-304) counts as 0, since PostgreSQL raises an error if a result rounds to 0


def sigmoid(query: Any, score: str, both: bool) -> list[str]:
    """1/(1 + exp(−score)) of the second class, and of both on request, computed from exp(−|score|) ≤ 1."""
    dialect, column = query.dialect, exp.column(score)
    query.add("exponentials", {"e1": _exponential(dialect, exp.Neg(this=exp.Abs(this=column)))})
    below = exp.paren(exp.Add(this=dialect.number(1.0), expression=exp.column("e1")))
    large, small = divided(dialect.number(1.0), below), divided(exp.column("e1"), below.copy())
    positive = exp.GTE(this=column.copy(), expression=dialect.number(0.0))
    negative = exp.LT(this=column.copy(), expression=dialect.number(0.0))
    made = {
        "p1": exp.Case().when(positive, small).when(negative, large),
        "p2": exp.Case().when(positive.copy(), large.copy()).when(negative.copy(), small.copy()),
    }
    made = made if both else {"p2": made["p2"]}
    query.add("probabilities", made, drop=["e1"])
    return list(made)


def softmax(query: Any, scores: list[str], top: str) -> list[str]:
    """exp(score − top) divided by their sum, where `top` is the largest score."""
    exponentials = {
        f"e{k + 1}": _exponential(query.dialect, exp.Sub(this=exp.column(score), expression=exp.column(top)))
        for k, score in enumerate(scores)
    }
    query.add("exponentials", exponentials)
    query.add("sum_of_exponentials", {"whole": total(map(exp.column, exponentials))})
    made = {
        f"p{k + 1}": _where(top, divided(exp.column(name), exp.column("whole"))) for k, name in enumerate(exponentials)
    }
    query.add("probabilities", made, drop=[*exponentials, "whole"])
    return list(made)


def one_versus_rest(query: Any, scores: list[str]) -> list[str]:
    """Logistic functions of the scores divided by their sum: the softmax of their logarithms."""
    dialect = query.dialect
    small = {
        f"a{k + 1}": _exponential(dialect, exp.Neg(this=exp.Abs(this=exp.column(score))))
        for k, score in enumerate(scores)
    }
    query.add("absolute_exponentials", small)
    logarithms = {}
    for k, (score, name) in enumerate(zip(scores, small, strict=True)):
        negative = exp.LT(this=exp.column(score), expression=dialect.number(0.0))
        least = exp.Case().when(negative, exp.column(score)).else_(dialect.number(0.0))
        log = exp.Ln(this=exp.Add(this=dialect.double(1.0), expression=exp.column(name)))
        logarithms[f"l{k + 1}"] = _where("top", exp.Sub(this=least, expression=log))
    query.add("logarithms", logarithms, drop=list(small))
    query.add("largest_logarithm", {"likeliest": extreme(exp.Greatest, [exp.column(name) for name in logarithms])})
    return softmax(query, list(logarithms), "likeliest")


def _exponential(dialect: Dialect, exponent: Expression) -> Expression:
    """EXP, and 0 if that underflows; also 0 for NULL, which callers detect in the score."""
    safe = exp.GT(this=exponent, expression=dialect.number(_UNDERFLOW))
    return exp.Case().when(safe, exp.Exp(this=exponent.copy())).else_(dialect.number(0.0))


def _where(known: str, expression: Expression) -> Expression:
    empty = exp.Is(this=exp.column(known), expression=exp.null())
    return exp.Case().when(empty, exp.null()).else_(expression)
