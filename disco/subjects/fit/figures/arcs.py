"""A causal order compared with the truth: true edges as arcs, red if they run against the order."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import axes, theme
from disco.graph.draw import colours
from disco.metrics import Edges, order_errors
from disco.metrics.edges import read
from disco.subjects.fit.figures.parents import different
from disco.words import how_many, plural

MOST_ARCS = 1500  # with more edges that agree with the order, only errors are drawn
LABELS = 60  # largest number of names along the axis


def order_arcs(order: Sequence[str], truth: Edges) -> go.Figure:
    """True edges as arcs over the causal order: above the line if the parent comes first, else below it and red."""
    position = {node: k for k, node in enumerate(order, start=1)}
    pairs = read(truth)[0]
    wrong = list(order_errors(order, truth).itertuples(index=False, name=None))
    against, misplaced = set(wrong), {node for pair in wrong for node in pair}
    forward = [pair for pair in pairs if pair not in against]
    drawn = forward if len(forward) <= MOST_ARCS else []
    fig = go.Figure()
    _arcs(fig, drawn, position, "parent comes first", colours.MUTED, 1, above=True)
    _arcs(fig, wrong, position, "child comes first (error)", colours.WRONG, 2.5, above=False)
    look = {"color": [colours.WRONG if node in misplaced else colours.MUTED for node in order], "size": 6}
    hover = "position %{x}: %{customdata}"
    data = [theme.label(node) for node in order]
    axes.marks(fig, list(position.values()), [0] * len(order), look, hover=hover, customdata=data)
    spacing = -(-len(order) // LABELS)
    fig.layout.xaxis = dict(
        tickvals=list(range(1, len(order) + 1, spacing)),
        ticktext=different([theme.label(node, 14) for node in order])[::spacing],
        tickangle=-60,
        range=[0.3, len(order) + 0.7],
        showgrid=False,
        title="causal order, source first",
    )
    widest = max((abs(position[parent] - position[child]) for parent, child in wrong), default=0)
    fig.layout.yaxis = dict(visible=False, range=[-0.1 - widest / max(len(order) - 1, 1), 1.05])
    title = (
        f"{len(wrong):,} of {how_many(len(pairs), 'true edge')} {plural(len(wrong), 'runs', 'run')} against the order"
    )
    if drawn != forward:
        title += "; only these are drawn"
    return theme.titled(fig, title, height=340)


def _arcs(
    fig: go.Figure,
    pairs: Sequence[tuple[str, str]],
    position: dict[str, int],
    name: str,
    colour: str,
    width: float,
    *,
    above: bool,
) -> None:
    """Half ellipses, higher if wider, all in one trace; a marker at the top of each names its edge."""
    if not pairs:
        return
    endpoints = np.array([(position[u], position[v]) for u, v in pairs], dtype=float)
    middle, half = endpoints.mean(axis=1), np.abs(endpoints[:, 1] - endpoints[:, 0]) / 2
    height = (1 if above else -1) * 2 * half / max(len(position) - 1, 1)
    angle = np.linspace(0, np.pi, 25)
    gap = np.full((len(pairs), 1), np.nan)
    look = {"color": colour, "width": width}
    x = np.hstack([middle[:, None] - half[:, None] * np.cos(angle), gap]).ravel()
    axes.lines(fig, x, np.hstack([height[:, None] * np.sin(angle), gap]).ravel(), look, name)
    look = {"color": colour, "size": 7, "symbol": "triangle-right" if above else "triangle-left"}
    data = pd.Series([f"{theme.label(u)} → {theme.label(v)}" for u, v in pairs])
    axes.marks(fig, middle, height, look, hover="%{customdata}", customdata=data)
