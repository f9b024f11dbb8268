"""Where the words of a figure stand on a telephone, in pixels, reckoned without a browser.

The origin is the upper left corner of the panels. In a browser the app's letters are 0.43 to 0.51 as wide as their
font is high, and a figure of 328 pixels, on a screen of 360, leaves its panels 260 to 304.
"""

import html
import re
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

WIDTH = 260
LETTER, LINE = 0.5, 1.3  # times the font size


class Box(NamedTuple):
    """The rectangle of a text."""

    left: float
    top: float
    right: float
    bottom: float

    def holds(self, point: tuple[float, float], room: float = 0.0) -> bool:
        """Whether a point lies within, or nearer than some pixels."""
        x, y = point
        return self.left - room < x < self.right + room and self.top - room < y < self.bottom + room


def text_width(text: str, size: float) -> float:
    """The pixels that a text of this font size takes from left to right."""
    return LETTER * size * len(html.unescape(re.sub("<[^>]*>", "", text)))


def height(figure: go.Figure) -> float:
    """That of the panels; the numbers and the title of the axis below them take about 50 pixels."""
    return figure.layout.height - figure.layout.margin.t - 50


def point(figure: go.Figure, x: Any, y: Any, xref: str = "x", yref: str = "y") -> tuple[float, float]:
    """The pixels of a point given as an annotation gives it: on a logarithmic axis, by its logarithm."""
    return WIDTH * _share(figure, x, xref), height(figure) * (1 - _share(figure, y, yref))


def box(figure: go.Figure, note: go.layout.Annotation) -> Box:
    """The box of an annotation's text."""
    x, y = point(figure, note.x, note.y, note.xref or "x", note.yref or "y")
    if note.showarrow is not False:
        x, y = x + note.ax, y + note.ay
    wide, high = text_width(note.text, note.font.size), LINE * note.font.size
    left = x - wide * {"left": 0.0, "right": 1.0}.get(note.xanchor, 0.5)
    top = y - high * {"top": 0.0, "bottom": 1.0}.get(note.yanchor, 0.5)
    return Box(left, top, left + wide, top + high)


def _share(figure: go.Figure, value: float, ref: str) -> float:
    """The place of a value between the ends of the panels, from 0 to 1."""
    if ref == "paper":
        return value
    axis = figure.layout[f"{ref[0]}axis{ref[1:]}"]
    low, high = axis.range or _data_range(figure, ref, axis.type == "log")
    start, end = axis.domain or (0.0, 1.0)
    return start + (end - start) * (value - low) / (high - low)


def _data_range(figure: go.Figure, ref: str, is_log: bool) -> tuple[float, float]:
    """The range that a browser chooses, which leaves a margin beside the marks."""
    here = [trace[ref[0]] for trace in figure.data if (trace[f"{ref[0]}axis"] or ref[0]) == ref]
    values = np.concatenate([np.asarray(part, dtype=float) for part in here])
    values = np.log10(values) if is_log else values
    low, high = np.nanmin(values), np.nanmax(values)
    return low - 0.05 * (high - low), high + 0.05 * (high - low)
