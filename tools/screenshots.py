"""Pictures of the terminal for the pages, from the real program: `uv run python -m tools.screenshots`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from rich.console import Console

from hiperplano.cli import terminal
from hiperplano.cli.main import main

IMAGES = Path(__file__).parent.parent / "docs" / "images"


def record(arguments: list[str], width: int = 88) -> str:
    """What the program prints, as an SVG picture."""
    pictures: list[Console] = []

    class Recorded(terminal.Terminal):
        def __post_init__(self) -> None:
            super().__post_init__()
            self.out = Console(record=True, width=width, file=open(os.devnull, "w"), highlight=False)  # noqa: SIM115
            self.out.print(f"$ hiperplano {' '.join(arguments)}", style="bold", markup=False)
            pictures.append(self.out)

    plain, terminal.Terminal = terminal.Terminal, Recorded  # type: ignore[misc]
    try:
        code = main(arguments)
    finally:
        terminal.Terminal = plain  # type: ignore[misc]
    if code:
        raise SystemExit(code)
    return pictures[0].export_svg(title="hiperplano", unique_id="terminal")


def write() -> None:
    """Draw what the pages show."""
    IMAGES.mkdir(exist_ok=True)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, arguments in {
                "terminal.svg": ["demo"],
                "compare.svg": ["compare", "hiperplano-demo/credit.csv", "--target", "default"],
                "terminal.es.svg": ["demo", "--lang", "es"],
            }.items():
                (IMAGES / name).write_text(record(arguments), encoding="utf-8")
                print(name)
        finally:
            os.chdir(here)


if __name__ == "__main__":
    write()
