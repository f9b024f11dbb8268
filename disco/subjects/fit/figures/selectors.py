"""Figures of the parent selectors: the number of edges at each cut-off, and the agreement of two selectors."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import axes, theme
from disco.graph.draw import colours
from disco.selectors.selection import AGREEMENT, WORDS
from disco.subjects.fit.figures.parents import different, matrix_axes, true_dots
from disco.words import how_many, number

# Shape, fill and colour: any one of the three distinguishes them.
_MARKS = {
    "both": {"symbol": "square", "color": colours.PICKED},
    "one": {"symbol": "triangle-up", "color": colours.ACCENT},
    "other": {"symbol": "diamond-open", "color": "#AA4499"},
}


def cuts(candidates: pd.DataFrame, selector: str, cut: float, choices: Sequence[float]) -> go.Figure:
    """Number of edges at each cut-off, one of the ascending `choices`; the current one is marked. `candidates` is from
    `disco.selectors.selection.candidates`."""
    if selector == "evidence":
        worth = np.sort(np.where(candidates["selected"], np.maximum(candidates["score"], 1e-9), -np.inf))
        edges = len(worth) - np.searchsorted(worth, choices, side="right")
        edges_at_cut = int(len(worth) - np.searchsorted(worth, cut, side="right"))
    else:
        p_values = np.sort(candidates["p_value"].to_numpy())
        edges, edges_at_cut = np.searchsorted(p_values, choices), int(np.searchsorted(p_values, cut))
    fig = go.Figure()
    tickvals = list(range(len(choices)))
    words = [f"{choice:g}" for choice in choices]
    fig.add_scatter(
        x=tickvals,
        y=edges,
        mode="lines+markers",
        showlegend=False,
        customdata=words,
        line={"color": colours.PICKED, "width": 2.5},
        marker={"size": 6},
        hovertemplate="cut-off %{customdata}: %{y} edges<extra></extra>",
    )
    if cut in choices:
        position = list(choices).index(cut)
        fig.add_vline(x=position, line={"color": colours.MUTED, "width": 1, "dash": "dot"})
        axes.marks(fig, [position], [edges_at_cut], {"color": colours.PICKED, "size": 13})
    scale = "cut-off, nats" if selector == "evidence" else "cut-off, p-value"
    fig.layout.xaxis = dict(title=scale, tickvals=tickvals, ticktext=words, tickangle=-60)
    fig.layout.yaxis = dict(title="edges kept", rangemode="tozero", dtick=1 if max(edges) < 6 else None)
    title = f"{how_many(edges_at_cut, 'edge')} by {WORDS[selector].name}, {WORDS[selector].rule.format(cut=cut)}"
    return theme.titled(fig, title, height=360, legend=False)


def agreement(
    compared: pd.DataFrame, order: Sequence[str], first: str, second: str, truth: pd.DataFrame | None = None
) -> go.Figure:
    """The edges of two selectors, parents as rows and children as columns, both in causal order.

    `compared` is from `disco.selectors.selection.compared`. The true edges, columns parent and child, are marked by a
    dot, or by a red cross if against the order.
    """
    position = {node: index for index, node in enumerate(order)}
    words = different([theme.label(node, 18) for node in order])
    size = max(6.0, min(14.0, 420 / len(order)))
    line = {"width": 2 if size > 8 else 1.2}  # open marks
    names = agreement_words(first, second)
    fig = go.Figure()
    for which in AGREEMENT[:3]:
        edges = compared[compared["selected_by"] == which]
        rows, columns = (edges[end].map(position).to_numpy(dtype=int) for end in ("parent", "child"))
        scores = [[number(value) for value in edges[f"score_{end}"]] for end in ("one", "other")]
        fig.add_scatter(
            x=[words[k] for k in columns],
            y=[words[k] for k in rows],
            mode="markers",
            name=f"{names[which]} ({len(edges)})",
            marker={"size": size, "line": line if which == "other" else {"width": 0}, **_MARKS[which]},
            customdata=list(zip(*scores, strict=True)),
            hovertemplate=f"%{{y}} → %{{x}}: {WORDS[first].score} %{{customdata[0]}}, "
            f"{WORDS[second].score} %{{customdata[1]}}<extra>{names[which]}</extra>",
        )
    if truth is not None:
        true_dots(fig, truth, position, words, 0.6 * size)
    matrix_axes(fig, words)
    # Otherwise Plotly would sort the axes by first appearance.
    for axis in (fig.update_xaxes, fig.update_yaxes):
        axis(categoryorder="array", categoryarray=words, showgrid=True)
    counts = compared["selected_by"].value_counts()
    union = sum(int(counts.get(which, 0)) for which in AGREEMENT[:3])
    title = (
        f"{WORDS[first].name} and {WORDS[second].name} agree on "
        f"{int(counts.get('both', 0))} of {how_many(union, 'edge')}"
    )
    return theme.titled(fig, title, height=max(380, min(760, 190 + 26 * len(order))))


def agreement_words(first: str, second: str) -> dict[str, str]:
    """The name of each part of `AGREEMENT` for two selectors."""
    names = "both", f"only {WORDS[first].name}", f"only {WORDS[second].name}", "neither"
    return dict(zip(AGREEMENT, names, strict=True))
