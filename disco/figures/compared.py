"""Several methods side by side: agreement of every pair, and time against accuracy."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from disco.figures import roles, theme
from disco.figures.axes import log_ticks
from disco.figures.parents import different
from disco.words import duration, how_many

_LONGEST = 30  # characters of a method's name
_MOST_WRITTEN = 14  # most methods for which cells show numbers
# Opaque and never dark, so that one ink is readable on every cell, on light and dark pages.
_BLUES, _INK = [[0.0, "#E8F1F7"], [1.0, "#5BA3CF"]], "#14202B"
_FIRST = 1e-3  # seconds; a logarithmic axis has no 0
_TOP = 1.08  # top of the F1 axis, with room for a name
_WIDTH, _HEIGHT = 760.0, 280.0  # pixels of the plot on a screen of common width
_LETTER, _LINE, _AWAY = 7.0, 16.0, 9.0  # pixels: width and height of a letter, and distance from a mark to its name
_SIDES = {
    "top center": (0.0, 1.0),
    "bottom center": (0.0, -1.0),
    "middle right": (1.0, 0.0),
    "middle left": (-1.0, 0.0),
    "top right": (1.0, 1.0),
    "top left": (-1.0, 1.0),
    "bottom right": (1.0, -1.0),
    "bottom left": (-1.0, -1.0),
}  # positions of a name; the first free one is used
_FULLY = 0.995  # agreement that is shown as 1.00


def agreement(values: pd.DataFrame, what: str) -> go.Figure:
    """The agreement of every pair of methods, as a matrix.

    Args:
        values: from 0 to 1, (methods, methods), NaN if not comparable; its labels are shown.
        what: what is compared, for the title: "Orders", "Edges".
    """
    names = different([theme.label(name, _LONGEST) for name in values.columns])
    cells = values.to_numpy()
    fig = go.Figure(
        go.Heatmap(
            z=cells,
            x=names,
            y=names,
            zmin=0.0,
            zmax=1.0,
            colorscale=_BLUES,
            colorbar={"thickness": 12},
            xgap=1,
            ygap=1,
            hoverongaps=False,
            texttemplate="%{z:.2f}" if len(names) <= _MOST_WRITTEN else None,
            textfont={"color": _INK},
            hovertemplate="%{y} and %{x}: %{z:.3f}<extra></extra>",
        )
    )
    fig.layout.xaxis = dict(type="category", tickangle=-45, showgrid=False)
    fig.layout.yaxis = dict(type="category", autorange="reversed", showgrid=False)
    return roles.titled(fig, _title(values, what), height=max(320, min(760, 190 + 30 * len(names))), legend=False)


def _title(values: pd.DataFrame, what: str) -> str:
    pairs = values.to_numpy(copy=True)
    pairs[np.tril_indices(len(pairs))] = np.nan
    if np.isnan(pairs).all():
        return f"{what}: fewer than two methods to compare"
    one, other = np.unravel_index(np.nanargmax(pairs), pairs.shape)
    names = [theme.label(values.columns[position], _LONGEST) for position in (one, other)]
    most = pairs[one, other]
    agree = "agree fully" if most >= _FULLY else f"agree most ({most:.2f})"
    return f"{what} of {how_many(len(pairs), 'method')}: {names[0]} and {names[1]} {agree}"


def time_and_f1(rows: pd.DataFrame) -> go.Figure:
    """F1 of every method against its time, on a logarithmic axis; controls are hollow.

    Args:
        rows: columns name, seconds, f1, is_control; NaN if a method has no F1.
    """
    fig = go.Figure()
    rated = rows[rows["f1"].notna()].sort_values("seconds", kind="stable")
    seconds = rated["seconds"].clip(lower=_FIRST)
    across = (seconds.min() / 5, seconds.max() * 5) if len(rated) else (0.1, 10.0)  # room for the names
    least = max(0.0, rated["f1"].min() - 0.2) - 0.05 if len(rated) else -0.05
    names = rated["name"].map(lambda name: theme.label(name, _LONGEST))
    positions = np.log10(seconds / across[0]) / np.log10(across[1] / across[0]), (rated["f1"] - least) / (_TOP - least)
    sides = pd.Series(_free_sides(names, positions[0] * _WIDTH, positions[1] * _HEIGHT), index=rated.index)
    for is_control, name in ((False, "methods"), (True, "controls (nothing is fitted)")):
        part = rated[rated["is_control"] == is_control]
        if part.empty:
            continue
        fig.add_scatter(
            x=seconds[part.index],
            y=part["f1"],
            mode="markers+text",
            name=name,
            text=names[part.index],
            textposition=sides[part.index],
            customdata=[duration(seconds) for seconds in part["seconds"]],
            marker={
                "size": 11,
                "color": roles.MUTED if is_control else roles.PICKED,
                "symbol": "circle-open" if is_control else "circle",
                "line": {"width": 2},
            },
            hovertemplate="%{text}: F1 %{y:.3f} in %{customdata}<extra></extra>",
        )
    ticks, words = log_ticks(*across)
    fig.update_xaxes(range=list(np.log10(across)), tickvals=ticks, ticktext=words)
    fig.update_xaxes(title="seconds", type="log")
    fig.layout.yaxis = dict(title="F1 of directed edges", range=[least, _TOP])
    title = "No method has an F1 yet"
    if len(rated):
        best = rated.loc[rated["f1"].idxmax()]
        name = theme.label(best["name"], _LONGEST)
        title = f"Most accurate: {name} (F1 {best['f1']:.2f}, {duration(best['seconds'])})"
    return roles.titled(fig, title, height=400)


def _free_sides(names: pd.Series, across: pd.Series, up: pd.Series) -> list[str]:
    """The side of each mark on which its name overlaps least with marks and earlier names.

    Args:
        names: as displayed.
        across, up: the marks' positions, in pixels.
    """
    marks = np.column_stack([across, up])
    outside = [_box((-_WIDTH / 2, 0), (_WIDTH, 9 * _HEIGHT)), _box((1.5 * _WIDTH, 0), (_WIDTH, 9 * _HEIGHT))]
    taken = [*outside, *(_box(mark, (2 * _AWAY, 2 * _AWAY)) for mark in marks)]
    found = []
    for name, mark in zip(names, marks, strict=True):
        size = np.array([_LETTER * len(name), _LINE])
        boxes = {side: _box(mark + np.multiply(way, size / 2 + _AWAY), size) for side, way in _SIDES.items()}
        side = min(boxes, key=lambda side: sum(_common(boxes[side], other) for other in taken))
        taken.append(boxes[side])
        found.append(side)
    return found


def _box(middle: ArrayLike, size: ArrayLike) -> np.ndarray:
    """The lower left and upper right corners of a rectangle, (2, 2)."""
    return np.add(middle, np.multiply(size, [[-0.5], [0.5]]))


def _common(one: np.ndarray, other: np.ndarray) -> float:
    """The common area of two rectangles."""
    return float(np.prod(np.maximum(np.minimum(one[1], other[1]) - np.maximum(one[0], other[0]), 0.0)))
