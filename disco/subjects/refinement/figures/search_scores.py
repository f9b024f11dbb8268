"""Figures of a refinement: its searches, their ends, and the nodes that moved.

Scores are drawn as nats below the best, on a scale that is logarithmic above 1 nat, because a search's first sweep
gains thousands of nats, while two ends may differ by less than one.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import theme
from disco.graph.draw import colours, placing
from disco.refine.refinement_result import start_words
from disco.words import how_many, number

LABELS = 60  # a slope figure with more nodes names only those that moved
ROW, LONGEST = 17, 1500  # pixels per node of the slope figure, and its largest height
_TICKS = (0, 1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 1e6, 1e7)


def searches(history: pd.DataFrame, current: str = "") -> go.Figure:
    """Every search's score after each sweep, as nats below the overall best; the best search is highlighted. `history`
    has the columns start, sweep, score; `current` is the running search."""
    if history.empty:
        return theme.empty("No sweep is finished yet.")
    top = history["score"].max()
    best = str(history.loc[history["score"].idxmax(), "start"])
    fig = go.Figure()
    lines = list(history.groupby("start", sort=False))
    for start, rows in sorted(lines, key=lambda line: (line[0] == best, line[0] == current)):
        width, colour, dash = (3.5, colours.PICKED, "solid") if start == best else (1.5, colours.MUTED, "solid")
        if start == current and start != best:
            width, colour, dash = 2.5, colours.ACCENT, "dot"
        below = top - rows["score"]
        fig.add_scatter(
            x=rows["sweep"],
            y=_height(below),
            mode="lines+markers",
            name=theme.label(start),
            opacity=1.0,
            line={"color": colour, "width": width, "dash": dash},
            marker={"size": 6},
            customdata=below,
            showlegend=start in (best, current),
            hovertemplate="sweep %{x}: %{customdata:.1f} nats below the best<extra>" + theme.label(start) + "</extra>",
        )
    _depth(fig, history["score"].min(), top)
    fig.layout.xaxis = dict(title="sweep over all nodes", dtick=max(1, math.ceil(history["sweep"].max() / 12)))
    title = f"{how_many(len(lines), 'search', 'searches')}; the best so far: from {theme.label(start_words(best), 40)}"
    return theme.titled(fig, title, height=340)


def ends(starts: pd.DataFrame, bound: float) -> go.Figure:
    """The final score of every search, best on top; ends within the bound, in nats, count as ties with the best.
    `starts` has the columns start, sweep, score."""
    last = starts.sort_values("sweep").groupby("start", sort=False)["score"].last().sort_values(ascending=False)
    below = (last.max() - last).to_numpy()
    near = below <= bound
    fig = go.Figure()
    for is_near, symbol, colour, name in (
        (True, "circle", colours.PICKED, f"within {bound:g} nats of the best"),
        (False, "diamond-open", colours.MUTED, "clearly worse"),
    ):
        rows = np.flatnonzero(near == is_near)
        fig.add_scatter(
            x=_height(below[rows]),
            y=rows,
            mode="markers",
            name=name,
            customdata=below[rows],
            marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 2, "color": colour}},
            hovertemplate="%{customdata:.2f} nats below the best<extra></extra>",
        )
    tickvals, words = _ticks(max(float(below.max()), bound))
    end = max(float(_height(below.max())), float(_height(bound)))
    fig.layout.xaxis = dict(
        tickvals=tickvals, ticktext=words, title="nats below the best search", range=[-0.06 * end, 1.06 * end]
    )
    fig.add_vrect(x0=0, x1=float(_height(bound)), fillcolor=colours.PICKED, opacity=0.12, line_width=0, layer="below")
    fig.layout.yaxis = dict(
        tickvals=list(range(len(last))),
        ticktext=[theme.label(start, 24) for start in last.index],
        showgrid=False,
        range=[len(last) - 0.4, -0.6],
    )
    title = f"{near.sum()} of {how_many(len(last), 'search', 'searches')} ended within {bound:g} nats of the best"
    return theme.titled(fig, title, height=150 + 24 * len(last))


def slope(moves: pd.DataFrame, bound: float) -> go.Figure:
    """Every node's position before and after, source on top; moves that gained at least `bound` nats are highlighted.
    `moves` has the columns node, before, after, gain_nats (NaN: it did not move)."""
    fig = go.Figure()
    moved = moves["gain_nats"].notna()
    matters = moved & (moves["gain_nats"] >= bound)
    up = moves["after"] < moves["before"]
    kinds = (
        (~moved, "kept its position among the others", colours.FAINT, 1.0, "solid"),
        (moved & ~matters, f"moved, gaining less than {bound:g} nats", colours.MUTED, 2.0, "dot"),
        (matters & up, "moved towards the sources", colours.PICKED, 3.0, "solid"),
        (matters & ~up, "moved towards the sinks", colours.ACCENT, 3.0, "dash"),
    )
    for mask, name, colour, width, dash in kinds:
        _slopes(fig, moves[mask], name, {"color": colour, "width": width, "dash": dash})
    _names(fig, moves, moved)
    count = int(moved.sum())
    fig.layout.xaxis = dict(
        tickvals=[0, 1], ticktext=["DISCO order", "likelihood order"], range=[-0.75, 1.75], side="top", showgrid=False
    )
    fig.layout.yaxis = dict(range=[len(moves) + 0.8, 0.2], visible=False)
    finding = f"{count} of {how_many(len(moves), 'node')} moved" if count else "No node moved"
    matter = f"; {int(matters.sum())} of these moves gained at least {bound:g} nats" if count else ""
    theme.titled(fig, finding + matter, height=min(LONGEST, 150 + ROW * len(moves)))
    return fig.update_layout(legend={"y": -0.02, "yanchor": "top"})


def _slopes(fig: go.Figure, nodes: pd.DataFrame, name: str, line: Mapping[str, object]) -> None:
    """Nodes of the same kind as one trace; hovering over either end names the node."""
    if nodes.empty:
        return
    gap = np.full(len(nodes), np.nan)
    heights = np.column_stack([nodes["before"], nodes["after"], gap]).ravel()
    hover = [_hover(*row) for row in nodes[["node", "before", "after", "gain_nats"]].itertuples(index=False)]
    fig.add_scatter(
        x=np.tile([0.0, 1.0, np.nan], len(nodes)),
        y=heights,
        mode="lines+markers",
        name=name,
        line=dict(line),
        marker={"size": 6, "color": line["color"]},
        customdata=np.repeat(hover, 3),
        hovertemplate="%{customdata}<extra></extra>",
    )


def _hover(node: str, start: int, end: int, gain: float) -> str:
    gained = "" if math.isnan(gain) else f"; its move gained {number(gain)} nats"
    return f"{theme.label(node)}: position {start} before, {end} after{gained}"


def _names(fig: go.Figure, moves: pd.DataFrame, moved: pd.Series) -> None:
    labelled = moves if len(moves) <= LABELS else moves[moved]
    for at, positions, side in ((0, labelled["before"], "middle left"), (1, labelled["after"], "middle right")):
        fig.add_scatter(
            x=[at + (0.04 if at else -0.04)] * len(labelled),
            y=positions,
            mode="text",
            text=[theme.label(node, 18) for node in labelled["node"]],
            textposition=side,
            hoverinfo="skip",
            showlegend=False,
            textfont={"size": 11},
        )


def positions(order: Sequence[str], edges: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """The layout of a refined graph, node → (x, y) in pixels; an edge's evidence pulls its endpoints together."""
    ties = edges[["parent", "child"]].assign(z=np.sqrt(edges["gain_nats"].fillna(0).clip(lower=0)))
    return placing.positions(order, ties)


def _height(below: float | np.ndarray | pd.Series) -> float | np.ndarray | pd.Series:
    return np.log10(1 + below)


def _ticks(highest: float) -> tuple[list[float], list[str]]:
    ticks = [tick for tick in _TICKS if tick <= max(highest, 1.0) * 1.2]
    return [float(_height(tick)) for tick in ticks], [f"{tick:,.0f}" for tick in ticks]


def _depth(fig: go.Figure, low: float, top: float) -> None:
    tickvals, words = _ticks(top - low)
    end = max(float(_height(top - low)), 0.3)
    fig.layout.yaxis = dict(
        tickvals=tickvals,
        ticktext=words,
        range=[end * 1.08, -end * 0.06],
        title="nats below the best",
    )
