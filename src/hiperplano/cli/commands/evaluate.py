"""`hiperplano evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def evaluate(
    model: Annotated[Path, options.model_file()],
    file: Annotated[Path, options.table()],
    target: Annotated[str | None, options.saved_target()] = None,
    separator: Annotated[str | None, options.separator()] = None,
    decimal: Annotated[str | None, options.decimal()] = None,
    sheet: Annotated[str | None, options.sheet()] = None,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Evaluate a saved model on a table with the target column."""
    from hiperplano.cli.result_tables import metrics_table, verdict_table
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.evaluation import evaluate_sample, score_stability
    from hiperplano.cli.workflow.scoring import score_table
    from hiperplano.report.subject import prepare_subject
    from hiperplano.report.verdict import verdict, weighting_sentence

    terminal = Terminal(json, quiet)
    with terminal.progress_bar(_("evaluating")), terminal.capture_warnings():
        scored = score_table(
            model, file, separator=separator, decimal=decimal, sheet=sheet, target=target, needs_target=True
        )
        terminal.add_note(*scored.notes)
        assert scored.y is not None
        metadata = scored.metadata
        subject = prepare_subject(
            scored.model,
            scored.rows,
            scored.y,
            None,
            metadata.target,
            metadata.positive,
            metadata.cost_matrix,
            weights=(scored.weight, None),
        )
        found = evaluate_sample(subject.validation, metadata.cost_matrix)
        found |= score_stability(subject, metadata.score_edges, metadata.score_counts)
        judged = [each for each in verdict(subject) if each.key not in ("overfitting", "next")]
    words = {"training": _("training"), "validation": _("validation")}
    parts = {words[name]: measures for name, measures in metadata.measures.items()}
    rows = {words[name]: measures.get("rows", 0) for name, measures in metadata.measures.items()}
    terminal.results = {
        "model": str(model),
        "file": str(file),
        "rows": len(scored.y),
        "weight": None if scored.weight is None else metadata.weight,
        "measures": found,
        "fit": metadata.measures,
        "verdict": {each.key: {"tone": each.tone, "text": each.text} for each in judged},
    }
    if scored.weight is not None:
        terminal.say(weighting_sentence(str(metadata.weight)))
    terminal.print(verdict_table(judged))
    terminal.print(metrics_table({file.name: found} | parts, {file.name: len(scored.y)} | rows))
    terminal.finish()
