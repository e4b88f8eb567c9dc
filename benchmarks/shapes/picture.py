"""The map as a picture: one point for each cell, by rows and columns, coloured by the ratio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def heat_map(lines: list[dict[str, Any]], path: Path) -> None:
    """One panel for each model; blue where we are faster, red where a rival is."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "hiperplano"  # equal maps give equal files
    drawn = [each for each in lines if "ratio" in each and each["cell"]["n"]]
    models = sorted({each["cell"]["model"] for each in drawn})
    columns = 4
    rows = -(-len(models) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(3 * columns, 2.6 * rows), sharex=True, sharey=True, squeeze=False
    )
    for axis, model in zip(axes.flat, models, strict=False):
        cells = [each for each in drawn if each["cell"]["model"] == model]
        points = axis.scatter(
            [each["cell"]["n"] for each in cells],
            [each["cell"]["d"] for each in cells],
            c=[np.clip(np.log10(each["ratio"]), -1, 1) for each in cells],
            cmap="RdBu",
            vmin=-1,
            vmax=1,
            s=28,
            edgecolors="#888888",
            linewidths=0.5,
        )
        axis.set(xscale="log", yscale="log", title=model)
    for axis in axes.flat[len(models) :]:
        axis.set_axis_off()
    figure.supxlabel("rows")
    figure.supylabel("columns")
    bar = figure.colorbar(points, ax=axes, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.ax.set_yticklabels(["0.1×", "0.3×", "1×", "3×", "10×"])
    bar.set_label("best rival's time / ours, at equal accuracy")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
