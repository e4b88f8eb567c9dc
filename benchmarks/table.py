"""Outcomes as text: a table for the terminal, and a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.outcome import Measured, Outcome

_HEADINGS = ("workload", "ours", "best rival", "ratio", "target", "extra memory", "accuracy")
_DETAILS = ("workload", "contender", "seconds", "threads", "runs", "ours is faster", "extra memory", "distance", "")
_MEGABYTE = 10**6


def plain(outcomes: Sequence[Outcome]) -> str:
    """The final table and all contenders, for a terminal."""
    parts = [
        _aligned([_HEADINGS, *map(_cells, outcomes)]),
        _aligned([_DETAILS, *(row for outcome in outcomes for row in _details(outcome))]),
        *(f"{outcome.workload}: {_disturbance(outcome)}" for outcome in outcomes if outcome.disturbed),
    ]
    return "\n\n".join(parts)


def markdown(kept: Sequence[tuple[dict[str, str], Outcome]]) -> str:
    """The page: one row for each workload, under a heading that tells where it was measured."""
    places: list[tuple[dict[str, str], list[Outcome]]] = []
    for where, outcome in kept:
        for place, outcomes in places:
            if place == where:
                outcomes.append(outcome)
                break
        else:
            places.append((where, [outcome]))
    parts = [
        "# The race",
        "Written by `python -m benchmarks.race`; do not edit. Seconds are medians over rounds in which all contenders "
        "take turns. A ratio is the best rival's time over ours; a rival counts only if its answer is as accurate. "
        "Where none is, the ratio to the fastest stands as a lower bound (≥): accuracy would take it longer still. "
        "Each contender runs with one thread of BLAS and OpenMP or with one for each core, whichever was faster in its "
        "first round (the latter where a single fit exhausts its budget); worker processes of its own come on top. "
        "Extra memory is what one fit adds to the process at its peak. "
        "Workloads marked \\* read real tables, all others make their data.",
    ]
    for place, outcomes in places:
        parts.append("## " + ", ".join(f"{name} {text}" for name, text in place.items()))
        parts.append(_piped([_HEADINGS, *map(_cells, outcomes)]))
        parts.append("\n".join(f"- `{outcome.workload}`: {_description(outcome)}" for outcome in outcomes))
        parts.append("### All contenders")
        parts.append(_piped([_DETAILS, *(row for outcome in outcomes for row in _details(outcome))]))
    return "\n\n".join(parts) + "\n"


def _cells(outcome: Outcome) -> tuple[str, ...]:
    best = outcome.best_rival
    name = f"{outcome.workload}{' *' if outcome.real else ''}{' (quick)' if outcome.quick else ''}"
    ours = shown_seconds(outcome.ours)
    if outcome.lost:
        return (name, ours, "", "NONE", f"{outcome.target:g}×", "", _defeat(outcome))
    opponent = outcome.opponent
    if opponent is None:
        shown, ratio = "no rival ran", ""
    else:
        shown, ratio = f"{opponent.name} {shown_seconds(opponent)}", shown_ratio(outcome, opponent)
        if best is None:
            shown, ratio = f"{shown}, less accurate", f"≥ {ratio}"
    ratio += ", BUSY MACHINE" if outcome.disturbed else ""
    return (
        name,
        ours,
        shown,
        ratio,
        _target(outcome),
        _memory_cell(outcome, opponent),
        _accuracy_cell(outcome, opponent),
    )


def _defeat(outcome: Outcome) -> str:
    if outcome.failed:
        return f"OURS FAILED ({outcome.ours.note or 'it was not run'})"
    rival = outcome.most_accurate_rival
    against = "" if rival is None else f", {rival.name} {_distance(rival)}"
    return f"OURS IS LESS ACCURATE: {_distance(outcome.ours)}{against}"


def _target(outcome: Outcome) -> str:
    verdict = {True: " reached", False: " NOT REACHED", None: ""}[outcome.reached]
    return f"{outcome.target:g}×{verdict}"


def _memory_cell(outcome: Outcome, best: Measured | None) -> str:
    if outcome.ours.memory is None:
        return "–"
    text = _megabytes(outcome.ours)
    if outcome.memory_limit is not None:
        kept = "within" if outcome.ours.memory <= outcome.memory_limit else "BEYOND"
        text += f", {kept} {outcome.memory_limit / _MEGABYTE:.0f} MB"
    return text if best is None or best.memory is None else f"{text} (rival {_megabytes(best)})"


def _accuracy_cell(outcome: Outcome, best: Measured | None) -> str:
    text = _distance(outcome.ours)
    return text if best is None or best.distance is None else f"{text} (rival {_distance(best)})"


def _details(outcome: Outcome) -> list[tuple[str, ...]]:
    rows = []
    for one in (outcome.ours, *outcome.rivals):
        mine = one is outcome.ours
        inaccurate = bool(one.runs) and not mine and not outcome.counts(one)
        remarks = ["not accurate: does not count"] * inaccurate + [one.note] * bool(one.note)
        rows.append(
            (
                outcome.workload if mine else "",
                one.name,
                shown_seconds(one),
                "–" if one.threads is None else str(one.threads),
                str(len(one.runs)),
                "" if mine or outcome.lost or not one.runs else f"{outcome.ratio(one):.1f}×",
                _megabytes(one),
                _distance(one),
                "; ".join(remarks),
            )
        )
    return rows


def _description(outcome: Outcome) -> str:
    text = outcome.description + (f" Distance: {outcome.meaning}." if outcome.meaning else "")
    return f"{text} **{_disturbance(outcome)}**" if outcome.disturbed else text


def _disturbance(outcome: Outcome) -> str:
    return f"BUSY MACHINE: other programs took {outcome.neighbours:.1f} cores meanwhile; times cannot be trusted."


def shown_seconds(one: Measured) -> str:
    """The median time of one fit, with its unit."""
    seconds = one.seconds
    if seconds is None:
        return "–"
    for limit, unit in ((1e-3, 1e6), (1.0, 1e3)):
        if seconds < limit:
            return f"{seconds * unit:.3g} {'µs' if unit == 1e6 else 'ms'}"
    return f"{seconds:.3g} s"


def shown_ratio(outcome: Outcome, rival: Measured) -> str:
    """How many times as fast as a rival ours is, and the threads of both."""
    ratio, threads = f"{outcome.ratio(rival):.1f}×", (outcome.ours.threads, rival.threads)
    return ratio if None in threads else f"{ratio} ({threads[0]} and {threads[1]} threads)"


def _distance(one: Measured) -> str:
    return "–" if one.distance is None else f"{one.distance:.1e}"


def _megabytes(one: Measured) -> str:
    return "–" if one.memory is None else f"{one.memory / _MEGABYTE:.0f} MB"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _piped(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
