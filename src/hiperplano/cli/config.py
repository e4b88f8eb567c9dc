"""Options in a file, so that a fit can be repeated and reviewed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer import BadParameter, Option

from hiperplano.messages.catalogue import translator

_ = translator("terminal")

_NOT_KEPT = ("config", "save_config", "json", "quiet", "debug", "lang")  # options about output, not about the task


def config() -> Any:
    """--config."""
    return Option(
        "--config",
        metavar="FILE",
        help=_("Take options from a JSON file; those on the command line come first."),
        is_eager=True,
        callback=_use_config,
        dir_okay=False,
    )


def save_config() -> Any:
    """--save-config."""
    return Option("--save-config", metavar="FILE", help=_("Write the options to a JSON file, for --config."))


def _use_config(context: Any, value: Path | None) -> Path | None:
    """Use the values of a file as defaults of the command."""
    if value is None:
        return None
    try:
        given = json.loads(value.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise BadParameter(
            _("{file} cannot be read ({why})", file=value, why=problem), param_hint="--config"
        ) from problem
    known = {parameter.name for parameter in context.command.params}
    if not isinstance(given, dict) or not set(given) <= known:
        unknown = ", ".join(sorted(set(given) - known)) if isinstance(given, dict) else "?"
        raise BadParameter(
            _("{file} has options that there are not: {names}", file=value, names=unknown), param_hint="--config"
        )
    context.default_map = {**(context.default_map or {}), **given}
    return value


def write_config(path: Path, parameters: dict[str, Any]) -> None:
    """Save the options of a command that were given, or differ from their defaults."""
    kept = {name: value for name, value in parameters.items() if name not in _NOT_KEPT and value not in (None, [], ())}
    text = json.dumps(kept, ensure_ascii=False, indent=1, default=str)
    path.write_text(text + "\n", encoding="utf-8")
