"""Logarithmic axes, rows with names, ratios with intervals, and thinning of rows so that a figure draws quickly."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import theme

WIDEST = 0.01, 100.0  # ends of an axis of ratios
_MOST_DECADES = 8  # of a logarithmic axis with a tick at each


def log_ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Tick positions and labels of a logarithmic axis from low to high, both positive; of many decades, only some."""
    first, last, decades = math.floor(math.log10(low)), math.ceil(math.log10(high)), math.log10(high / low)
    steps = (1,) if decades > 4 else (1, 3) if decades > 1.5 else (1, 2, 5)
    every = max(1, math.ceil(decades / _MOST_DECADES))
    values = [step * 10.0**power for power in range(first - first % every, last + 1, every) for step in steps]
    inside = [value for value in values if low <= value * 1.0001 and value <= high * 1.0001]
    return inside, [_tick(value) for value in inside]


def _tick(value: float) -> str:
    if 1e-3 <= value < 1e5:
        return f"{value:g}"
    power = math.floor(math.log10(value) + 1e-9)
    return f"{value / 10.0**power:.0f}·10<sup>{power}</sup>".replace("1·", "").replace("-", "−")


def named_rows(names: Iterable[object], longest: int = 40) -> dict[str, Any]:
    """A vertical axis with a name per row, the first on top."""
    texts = [theme.label(name, longest) for name in names]
    rows = {"tickvals": list(range(len(texts))), "range": [len(texts) - 0.4, -0.6]}
    return {"ticktext": texts, "showgrid": False, **rows}


def evenly(values: np.ndarray, limit: int) -> np.ndarray:
    """At most `limit` of the rows, evenly spaced, so that a figure draws quickly."""
    if len(values) <= limit:
        return values
    return values[np.linspace(0, len(values) - 1, limit).round().astype(int)]


def log_axis(title: str, low: float, high: float, ticks: tuple[list[float], list[str]]) -> dict[str, Any]:
    """A logarithmic axis with these ticks, their values and texts."""
    (values, texts), ends = ticks, [math.log10(low), math.log10(high)]
    return {"type": "log", "range": ends, "tickvals": values, "ticktext": texts, "title": title}


def around(values: Iterable[float], beyond: float) -> tuple[float, float]:
    """The limits of an axis of ratios: these values, and a factor beyond them, but never more than `WIDEST`."""
    limits = list(values)
    return max(min(limits) / beyond, WIDEST[0]), min(max(limits) * beyond, WIDEST[1])


def marks(
    figure: go.Figure, x: Any, y: Any, look: dict[str, Any], name: str = "", hover: str = "", **options: Any
) -> None:
    """Draw points; without a name they have no entry in the legend, and without `hover` no text at the pointer."""
    figure.add_scatter(x=x, y=y, mode="markers", marker=look, **_words(name, hover), **options)


def lines(
    figure: go.Figure, x: Any, y: Any, look: dict[str, Any], name: str = "", hover: str = "", **options: Any
) -> None:
    """Draw a line, as `marks`."""
    figure.add_scatter(x=x, y=y, mode="lines", line=look, **_words(name, hover), **options)


def _words(name: str, hover: str) -> dict[str, Any]:
    legend = {"name": name} if name else {"showlegend": False}
    return {**legend, **({"hovertemplate": f"{hover}<extra></extra>"} if hover else {"hoverinfo": "skip"})}


def ratios(figure: go.Figure, rows: pd.DataFrame, name: str, colour: str, symbol: str, **options: Any) -> None:
    """Draw ratios with their intervals, (ratio, low, high) per row; the index is the position on the vertical axis."""
    spread = {"array": rows["high"] - rows["ratio"], "arrayminus": rows["ratio"] - rows["low"]}
    figure.add_scatter(
        x=rows["ratio"],
        y=rows.index,
        mode="markers",
        name=name,
        marker={"symbol": symbol, "size": 10, "color": colour},
        error_x={"type": "data", "symmetric": False, **spread, "color": colour, "thickness": 2.2, "width": 4},
        **options,
    )
