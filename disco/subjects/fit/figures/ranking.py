"""The causal order as a ranked list, source first: for every node, how clearly it was put after those above it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import axes, theme
from disco.figures.axes import log_axis, log_ticks
from disco.graph.draw import colours
from disco.verdicts import how_clear

ROW = 22  # pixels per node


def ranking(
    order: Sequence[str],
    clarity: pd.DataFrame,
    wrong: Sequence[int] = (),
    positions: range | None = None,
    marked: str | None = None,
) -> go.Figure:
    """The nodes from the top, each of `disco.verdicts.clarity` with its rival's score divided by its own.

    The steps in `wrong`, which removed a node before one of its true children, have crosses. Only `positions` in the
    order, from 0, are drawn, on the scale of all. The name of the node `marked` is bold.
    """
    positions = range(len(order)) if positions is None else positions
    row = {node: position for position, node in enumerate(order)}
    removals = clarity.assign(
        row=clarity["sink"].map(row), shown=clarity["lead"].clip(lower=1.0, upper=1e3).fillna(1e3)
    )
    drawn = removals[removals["row"].isin(positions)]
    fig = go.Figure()
    _stems(fig, drawn)
    _marks(fig, drawn[drawn["is_clear"]], "clear", colours.PICKED, "circle")
    _marks(fig, drawn[~drawn["is_clear"]], "not clear", colours.ACCENT, "circle-open")
    if crossed := [step for step in wrong if len(order) - step in positions]:
        look = {"symbol": "x-thin", "size": 13, "color": colours.WRONG, "line": {"width": 3, "color": colours.WRONG}}
        shown = drawn.set_index("step")["shown"].reindex(crossed, fill_value=1.0)
        axes.marks(fig, shown, [len(order) - step for step in crossed], look, "wrong according to the known graph")
    top = max(2.0, float(removals["shown"].max()) * 1.2) if len(removals) else 2.0
    tickvals, words = log_ticks(1.0, top)
    title = f"score of its closest {'parent' if clarity['has_parents'].all() else 'rival'}, as a multiple of its own"
    axis = log_axis(title, 10**-0.03, top, (tickvals, [f"{word} ×" for word in words]))
    fig.layout.xaxis = {**axis, "side": "top"}  # in sight where a long list scrolls
    names = [f"{position + 1}  {theme.label(order[position], 18)}" for position in positions]
    fig.layout.yaxis = dict(
        tickvals=list(positions),
        ticktext=[f"<b>{name}</b>" if order[at] == marked else name for at, name in zip(positions, names, strict=True)],
        range=[positions.stop - 0.4, positions.start - 0.6],
        tickfont={"size": 14},
        showgrid=False,
        title=None,
    )
    title = f"The folds agree on the position of {how_clear(clarity)}"
    return theme.titled(fig, title, height=110 + ROW * len(positions), legend=False)


def _stems(fig: go.Figure, drawn: pd.DataFrame) -> None:
    gap = np.full(len(drawn), np.nan)
    look = {"color": colours.FAINT, "width": 1.5}
    x = np.column_stack([np.ones(len(drawn)), drawn["shown"], gap]).ravel()
    axes.lines(fig, x, np.column_stack([drawn["row"], drawn["row"], gap]).ravel(), look)


def _marks(fig: go.Figure, removals: pd.DataFrame, name: str, colour: str, symbol: str) -> None:
    if removals.empty:
        return
    words = [
        f"{theme.label(row.sink)}, step {row.step}: {theme.label(row.rival)} scored {row.lead:.3g} × as high"
        for row in removals.itertuples()
    ]
    look = {"color": colour, "symbol": symbol, "size": 10, "line": {"width": 2, "color": colour}}
    data = list(removals["sink"])
    axes.marks(fig, removals["shown"], removals["row"], look, name, "%{text}", customdata=data, text=words)
