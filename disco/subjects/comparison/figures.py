"""Several methods side by side: agreement of every pair, and the accuracy and time of each."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from disco.figures import axes, theme
from disco.figures.axes import log_ticks, named_rows
from disco.graph.draw import colours
from disco.subjects.fit.figures.parents import different
from disco.words import duration, how_many, ratio

_LONGEST = 30  # characters of a method's name
_MOST_WRITTEN = 14  # most methods for which cells show numbers
# Opaque and never dark, so that one ink is readable on every cell, on light and dark pages.
_BLUES, _INK = [[0.0, "#E8F1F7"], [1.0, "#5BA3CF"]], "#14202B"
_FIRST = 1e-3  # seconds; a logarithmic axis has no 0
_ON_AXIS = 25  # characters of a name beside its row, so that it leaves room for both panels on a phone
_ROW = 26  # pixels


def agreement(values: pd.DataFrame, what: str, chance: float = 0.0) -> go.Figure:
    """The agreement of every pair of methods, from 0 to 1, (methods, methods), as a matrix; NaN if not comparable.
    `what` is compared, for the title: "Orders", "Edges"; random ones may agree up to `chance`."""
    names = different([theme.label(name, _LONGEST) for name in values.columns])
    cells, is_written = values.to_numpy(), len(values) <= _MOST_WRITTEN
    fig = go.Figure(
        go.Heatmap(
            z=cells,
            x=names,
            y=names,
            zmin=0.0,
            zmax=1.0,
            colorscale=_BLUES,
            showscale=not is_written,
            colorbar={"thickness": 12},
            xgap=1,
            ygap=1,
            hoverongaps=False,
            text=[[ratio(cell) for cell in row] for row in cells],  # rounded as in the title
            texttemplate="%{text}" if is_written else None,
            textfont={"color": _INK},
            hovertemplate="%{y} and %{x}: %{z:.3f}<extra></extra>",
        )
    )
    fig.layout.xaxis = dict(type="category", tickangle=-45, showgrid=False)
    fig.layout.yaxis = dict(type="category", autorange="reversed", showgrid=False)
    return theme.titled(
        fig, _title(values, what, chance), height=max(320, min(760, 190 + 30 * len(names))), legend=False
    )


def _title(values: pd.DataFrame, what: str, chance: float) -> str:
    pairs = values.to_numpy(copy=True)
    pairs[np.tril_indices(len(pairs))] = np.nan
    if np.isnan(pairs).all():
        return f"{what}: fewer than two methods to compare"
    written, highest = np.vectorize(ratio)(pairs), ratio(np.nanmax(pairs))
    best = np.argwhere(written == highest)
    names = [theme.label(values.columns[position], _LONGEST) for position in best[0]]
    pair = f"{names[0]} and {names[1]}" if len(best) == 1 else f"{len(best)} of {np.isfinite(pairs).sum()} pairs"
    agree = "agree fully" if highest == "1.00" else f"agree most ({highest})"
    by_chance = ", no more than random orders" if np.nanmax(pairs) <= chance else ""
    return f"{what} of {how_many(len(pairs), 'method')}: {pair} {agree}{by_chance}"


def time_and_f1(rows: pd.DataFrame) -> go.Figure:
    """F1 and time of every method, one row each, the best on top; controls are hollow.

    Names stand on the axis, so they cannot overlap, whatever the width and however many values are equal. The columns
    are name, seconds, f1, is_control; f1 is NaN if a method has none.
    """
    rated = rows[rows["f1"].notna()].sort_values(["f1", "seconds"], ascending=[False, True], kind="stable")
    fig = make_subplots(1, 2, shared_yaxes=True, horizontal_spacing=0.08)
    seconds = rated["seconds"].clip(lower=_FIRST)
    positions = pd.Series(range(len(rated)), index=rated.index)
    for is_control, name in ((False, "methods"), (True, "controls (nothing is fitted)")):
        group = rated[rated["is_control"] == is_control]
        look = {"size": 11, "color": colours.MUTED if is_control else colours.PICKED, "line": {"width": 2}}
        look["symbol"] = "circle-open" if is_control else "circle"
        data = list(zip(group["name"].map(theme.label), group["f1"], group["seconds"].map(duration), strict=True))
        hover = "%{customdata[0]}: F1 %{customdata[1]:.3f} in %{customdata[2]}"
        for column, x in enumerate((group["f1"], seconds[group.index]), start=1):
            if len(group):
                panel = {"legendgroup": name, "showlegend": column == 1, "row": 1, "col": column}
                axes.marks(fig, x, positions[group.index], look, name, hover, customdata=data, **panel)
    across = (seconds.min() / 2, seconds.max() * 2) if len(rated) else (0.1, 10.0)
    ticks, words = log_ticks(*across)
    fig.update_yaxes(**named_rows(rated["name"], _ON_AXIS))
    lowest = max(0.0, np.floor(10 * rated["f1"].min()) / 10) if len(rated) else 0.0
    room = 0.04 * (1 - lowest) + 0.01
    fig.update_xaxes(title="F1 of directed edges", range=[lowest - room, 1 + room], nticks=4, row=1, col=1)
    fig.update_xaxes(
        title="seconds", type="log", range=list(np.log10(across)), tickvals=ticks, ticktext=words, row=1, col=2
    )
    title = "No method has an F1 yet"
    if len(rated):
        best = rated.iloc[0]
        name = theme.label(best["name"], _LONGEST)
        title = f"Most accurate: {name} (F1 {best['f1']:.2f}, {duration(best['seconds'])})"
    return theme.titled(fig, title, height=130 + _ROW * max(len(rated), 2))
