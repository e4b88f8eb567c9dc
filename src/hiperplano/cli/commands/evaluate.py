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
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Evaluate a saved model on a table with the target column."""
    from hiperplano.cli.result_tables import metrics_table
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.evaluation import evaluate_model
    from hiperplano.cli.workflow.scoring import score_table

    terminal = Terminal(json, quiet)
    with terminal.progress_bar(_("evaluating")), terminal.capture_warnings():
        scored = score_table(model, file, separator=separator, decimal=decimal, target=target, needs_target=True)
        terminal.add_note(*scored.notes)
        assert scored.y is not None
        found = evaluate_model(
            scored.model, scored.rows, scored.y, scored.metadata.positive, scored.metadata.cost_matrix
        )
    terminal.results = {"model": str(model), "file": str(file), "rows": len(scored.y), "measures": found}
    terminal.print(metrics_table({file.name: found}, {file.name: len(scored.y)}))
    terminal.finish()
