"""Mapping of numbers to positions on a chart, and round numbers for its axes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.report.number_format import written


class Scale(NamedTuple):
    """Linear map from [low, high] to [start, end]."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, values: Any) -> Array:
        share = (np.asarray(values, dtype=np.float64) - self.low) / (self.high - self.low)
        return np.asarray(self.start + share * (self.end - self.start))


def padded_range(*values: Any, margin: float = 0.04, zero: bool = False) -> tuple[float, float]:
    """The range of finite numbers with some padding; never empty."""
    parts = [np.ravel(np.asarray(value, dtype=np.float64)) for value in values]
    together = np.concatenate([*parts, [0.0]] if zero else parts)
    together = together[np.isfinite(together)]
    if not len(together):
        return 0.0, 1.0
    low, high = float(together.min()), float(together.max())
    room = (high - low) * margin or (abs(low) or 1.0) * 0.5
    return low - room, high + room


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About `count` multiples of 1, 2, 2.5 or 5 times a power of ten inside [low, high]."""
    raw = (high - low) / max(count, 1)
    power = 10.0 ** np.floor(np.log10(raw))
    step = next((power * nice for nice in (1.0, 2.0, 2.5, 5.0, 10.0) if power * nice >= raw * 0.999), power * 10.0)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(i * step) for i in range(first, last + 1)]


def tick_texts(values: list[float], percent: bool = False) -> list[str]:
    """Labels in one style: as many decimals as the step needs, thousands as k, millions as M."""
    if not values:
        return []
    if percent:
        return [written(f"{100 * value:g}%") for value in np.round(values, 12).tolist()]
    largest = max(abs(value) for value in values)
    unit, letter = next(((u, s) for u, s in ((1e9, "G"), (1e6, "M"), (1e4, "k")) if largest >= u), (1.0, ""))
    unit = 1e3 if letter == "k" else unit
    if largest and largest < 1e-3:
        return [written(f"{value:.0e}") if value else "0" for value in values]
    return [written(f"{value / unit:.6g}{letter if value else ''}") for value in np.round(values, 12).tolist()]
