"""Put the figures of the last race into `docs/speed.md` and the README: `uv run python -m tools.speed_table`."""

from __future__ import annotations

from pathlib import Path

from benchmarks.outcome import Outcome
from benchmarks.results import read
from benchmarks.table import shown_ratio, shown_seconds
from tools.marks import piped, replace_between

ROOT = Path(__file__).parent.parent
HEADINGS = ("work", "hiperplano", "best rival", "times as fast")
SHORT = 8  # rows of the table in the README


def table(outcomes: list[Outcome]) -> str:
    """One row for each workload that ran on data of full size."""
    return piped([HEADINGS, *(cells for outcome in outcomes if (cells := _cells(outcome)))])


def _cells(outcome: Outcome) -> tuple[str, ...] | None:
    rival = outcome.opponent
    if rival is None or outcome.lost or outcome.quick or outcome.disturbed:
        return None
    bound = "" if outcome.best_rival else "≥ "
    work = outcome.description.rstrip(".").split("; ")[0] + (" *" if outcome.real else "")
    ratio = bound + shown_ratio(outcome, rival)
    return work, shown_seconds(outcome.ours), f"{rival.name} {shown_seconds(rival)}", ratio


def short_table(outcomes: list[Outcome]) -> str:
    """Some rows, from the smallest ratio to the largest at even steps, so that none is hidden."""
    kept = sorted((outcome for outcome in outcomes if _cells(outcome)), key=_ratio)
    places = sorted({round(k * (len(kept) - 1) / (SHORT - 1)) for k in range(SHORT)})
    return table([kept[place] for place in places])


def _ratio(outcome: Outcome) -> float:
    assert outcome.opponent is not None
    return float(outcome.ratio(outcome.opponent))


def chart(outcomes: list[Outcome], path: Path) -> None:
    """A bar for each workload: how many times as fast as the best rival."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.fonttype"] = "none"  # text stays text, and the file small
    mpl.rcParams["svg.hashsalt"] = "speed"
    kept = sorted((outcome for outcome in outcomes if _cells(outcome)), key=_ratio)
    names = [outcome.description.split("; ")[0].rstrip(".")[:58] for outcome in kept]
    figure, ax = plt.subplots(figsize=(9, 0.27 * len(kept) + 1.2), layout="constrained")
    ax.barh(range(len(kept)), [_ratio(outcome) for outcome in kept], color="#0a5ca8", height=0.7)
    ax.set_yticks(range(len(kept)), names, fontsize=8)
    ax.set_xscale("log")
    ax.axvline(1.0, color="#545c67", lw=1)
    ax.set_xlabel("times as fast as the fastest other library of equal accuracy (logarithmic)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(y=0.01)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Replace what stands between the marks, and draw."""
    outcomes = [outcome for _, outcome in read(ROOT / "benchmarks").values()]
    replace_between(ROOT / "README.md", "race", short_table(outcomes))
    replace_between(ROOT / "docs" / "speed.md", "race", table(outcomes))
    chart(outcomes, ROOT / "docs" / "images" / "speed.svg")


if __name__ == "__main__":
    main()
