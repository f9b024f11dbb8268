"""The Lahman case study as figures (paper, *Real Data: Lahman Batting Counts*).

The references R7 and R17 are directions that batting definitions and an earlier study suggest. They are not ground
truth, so agreement with them does not measure causal accuracy.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from disco.figures import roles, theme
from disco.words import share

# Places of the 14 columns of R17; most of its arrows point downwards.
PLACES = {
    "G": (1.2, 0.0), "AB": (4.2, 0.0), "SB": (7.0, 0.3),
    "BB": (0.2, 1.0), "RBI": (1.8, 1.15), "H": (3.0, 1.2), "GIDP": (5.9, 0.9), "CS": (7.0, 1.5),
    "HR": (1.5, 2.1), "2B": (2.6, 2.3), "3B": (3.6, 2.3), "R": (4.6, 2.3), "SO": (5.8, 2.1), "IBB": (0.3, 2.9),
}  # fmt: skip # a row per height
_LABEL_AT = {("AB", "BB"): 0.82, ("G", "RBI"): 0.5}  # along the arrow, to cover no other label
_DISC, _INK = "#E6EAEC", "#1F2A30"


def support(orders: Sequence[Sequence[str]], reference: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """For each reference direction, the number of orders in which its first node comes before its second.

    Returns:
        Columns parent, child, agree, orders.
    """
    places = [{node: place for place, node in enumerate(order)} for order in orders]
    rows = [(u, v, sum(place[u] < place[v] for place in places), len(orders)) for u, v in reference]
    return pd.DataFrame(rows, columns=["parent", "child", "agree", "orders"])


def reference(
    orders: Sequence[Sequence[str]], edge_sets: Sequence[set[tuple[str, str]]], pairs: Sequence[tuple[str, str]]
) -> go.Figure:
    """The reference as arrows: blue if most orders agree, vermillion if most reverse it, grey if half agree.

    A solid arrow is also an edge, in either direction, in most runs' graphs; a dashed one is not. The number on an
    arrow is the number of runs whose order agrees.

    Args:
        orders: the order of each run.
        edge_sets: the edges (parent, child) of each run.
        pairs: the reference directions.
    """
    table = support(orders, pairs)
    fig = go.Figure()
    for row in table.itertuples():
        kept = sum((row.parent, row.child) in edges or (row.child, row.parent) in edges for edges in edge_sets)
        _arrow(fig, row.parent, row.child, row.agree, row.orders, kept * 2 > len(edge_sets))
    nodes = [node for node in PLACES if any(node in pair for pair in pairs)]
    fig.add_scatter(
        x=[PLACES[node][0] for node in nodes],
        y=[PLACES[node][1] for node in nodes],
        mode="markers+text",
        text=nodes,
        textfont={"color": _INK, "size": 13},
        hoverinfo="skip",
        showlegend=False,
        marker={"size": 40, "color": _DISC, "line": {"color": roles.MUTED, "width": 1}},
    )
    _key(fig, has_ties=bool((table["agree"] * 2 == table["orders"]).any()))
    fig.layout.xaxis = dict(visible=False, range=[-0.4, 7.6])
    fig.layout.yaxis = dict(visible=False, range=[3.4, -0.45])
    agree = int(table["agree"].sum())
    return roles.titled(fig, f"{agree} of {int(table['orders'].sum())} directions agree, over all runs", height=520)


def _arrow(fig: go.Figure, parent: str, child: str, agree: int, runs: int, is_edge: bool) -> None:
    (x0, y0), (x1, y1) = PLACES[parent], PLACES[child]
    colour = roles.PICKED if agree * 2 > runs else roles.ACCENT if agree * 2 < runs else roles.MUTED
    fig.add_scatter(
        x=[x0, x1],
        y=[y0, y1],
        mode="lines+markers",
        showlegend=False,
        hoverinfo="skip",
        line={"color": colour, "width": 2.5, "dash": "solid" if is_edge else "dash"},
        marker={
            "symbol": "arrow",
            "angleref": "previous",
            "size": [0, 15],
            "standoff": 21,
            "color": colour,
            "opacity": 1,
            "line": {"width": 0},
        },
    )
    at = _LABEL_AT.get((parent, child), 0.6)
    fig.add_scatter(
        x=[x0 + at * (x1 - x0)],
        y=[y0 + at * (y1 - y0)],
        mode="markers+text",
        text=f"{agree}/{runs}",
        showlegend=False,
        textfont={"color": "#FFFFFF", "size": 11},
        marker={"size": 24, "color": colour},
        hovertemplate=f"{parent} before {child} in {share(agree, runs)} runs<extra></extra>",
    )


def _key(fig: go.Figure, has_ties: bool) -> None:
    """The legend, as entries without points."""
    for name, colour, dash in (
        ("most orders agree", roles.PICKED, "solid"),
        ("most orders reverse it", roles.ACCENT, "solid"),
        *([("half agree", roles.MUTED, "solid")] if has_ties else []),
        ("no edge in most graphs", roles.MUTED, "dash"),
    ):
        fig.add_scatter(x=[None], y=[None], mode="lines", name=name, line={"color": colour, "dash": dash, "width": 2.5})


def agreement(ours: pd.DataFrame, paper: pd.DataFrame, controls: Mapping[str, tuple[float, float]]) -> go.Figure:
    """Agreement with R7 and R17: each of our runs, their mean, the paper's mean and the sorting controls.

    Args:
        ours: columns label, seed, r7, r17.
        paper: columns label, r7, r17.
        controls: agreement of each sorting control: name → (r7, r17).
    """
    labels = list(dict.fromkeys([*ours["label"], *paper["label"], *controls]))
    row = {label: place for place, label in enumerate(labels)}
    fig = make_subplots(rows=1, cols=2, shared_yaxes=True, subplot_titles=["R7", "R17"], horizontal_spacing=0.05)
    for column, name in enumerate(("r7", "r17"), start=1):
        for words, values, where, symbol, size, colour in _marks(ours, paper, controls, name):
            fig.add_scatter(
                x=list(values),
                y=[row[label] for label in where],
                mode="markers",
                name=words,
                legendgroup=words,
                showlegend=column == 1,
                marker={"symbol": symbol, "size": size, "color": colour, "line": {"width": 2}},
                customdata=list(where),
                row=1,
                col=column,
                hovertemplate="%{customdata}: %{x:.3f}<extra>" + words + "</extra>",
            )
    fig.update_xaxes(range=[-0.04, 1.04], tickvals=[0, 0.5, 1.0], title="share respected")
    fig.update_yaxes(
        tickvals=list(row.values()),
        ticktext=[theme.label(label, 30) for label in labels],
        range=[len(labels) - 0.4, -0.6],
        showgrid=False,
    )
    roles.titled(fig, _agreement_title(ours), height=190 + 26 * len(labels))
    return fig.update_layout(legend={"y": 1.06 + 12 / (190 + 26 * len(labels))})


def _marks(
    ours: pd.DataFrame, paper: pd.DataFrame, controls: Mapping[str, tuple[float, float]], name: str
) -> list[tuple[str, Iterable[float], Iterable[str], str, int, str]]:
    """The marks of one column of `agreement`, r7 or r17: their name, shares and labels, symbol, size and colour."""
    means = ours.groupby("label", sort=False)[name].mean()
    shares = [pair[("r7", "r17").index(name)] for pair in controls.values()]
    return [
        ("our runs", ours[name], ours["label"], "circle-open", 8, roles.PICKED),
        ("our mean", means, means.index, "circle", 12, roles.PICKED),
        ("the paper's mean", paper[name], paper["label"], "diamond-open", 11, roles.ACCENT),
        ("sorting control", shares, controls, "x-thin-open", 9, roles.MUTED),
    ]


def _agreement_title(ours: pd.DataFrame) -> str:
    if ours.empty:
        return "Agreement of the paper and of sorting the columns; no run yet"
    best = ours.groupby("label", sort=False)[["r7", "r17"]].mean().iloc[0]
    return f"{ours['label'].iloc[0]}: our mean agreement is {best['r7']:.3f} with R7 and {best['r17']:.3f} with R17"


def ends(table: pd.DataFrame, near: float) -> go.Figure:
    """Agreement of every search's final order, against how far its score is below the best.

    Args:
        table: of `disco.lahman.ends`.
        near: ends within this many nats of the best are not distinguished from it; shaded.
    """
    fig = go.Figure()
    fig.add_vrect(x0=0, x1=near, fillcolor=roles.PICKED, opacity=0.12, line_width=0, layer="below")
    looks = (("r7", "R7", "circle", roles.PICKED), ("r17", "R17", "diamond-open", roles.ACCENT))
    for column, name, symbol, colour in looks:
        fig.add_scatter(
            x=table["below"],
            y=table[column],
            mode="markers",
            name=name,
            customdata=table["start"].map(theme.label),
            marker={"symbol": symbol, "size": 10, "color": colour, "line": {"width": 2, "color": colour}},
            hovertemplate="%{customdata}: %{y:.3f}, %{x:.1f} nats below the best<extra>" + name + "</extra>",
        )
    widest = max(table["below"].max(), near)
    fig.layout.xaxis = dict(title="nats below the best end", range=[-0.03 * widest, 1.05 * widest])
    fig.layout.yaxis = dict(title="share of directions respected", range=[-0.04, 1.04])
    part = table[table["below"] <= near]
    low, high = part["r7"].min(), part["r7"].max()
    title = f"{share(len(part), len(table))} searches ended within {near:g} nats of the best, with R7 agreement "
    title += f"from {low:.2f} to {high:.2f}" if high > low else f"{low:.2f}"
    return roles.titled(fig, title, height=340)


def places(orders: Mapping[int, Sequence[str]]) -> go.Figure:
    """The place of every column in each run's order: how far the seeds differ.

    Args:
        orders: the order of each seed.
    """
    table = pd.DataFrame({seed: {node: k for k, node in enumerate(order, 1)} for seed, order in orders.items()})
    table = table.loc[table.mean(axis=1).sort_values(kind="stable").index]
    fig = go.Figure()
    rows = np.arange(len(table))
    fig.add_scatter(
        x=np.column_stack([table.min(axis=1), table.max(axis=1), np.full(len(table), np.nan)]).ravel(),
        y=np.repeat(rows, 3),
        mode="lines",
        showlegend=False,
        line={"color": roles.MUTED, "width": 1.5},
        hoverinfo="skip",
    )
    symbols = ("circle", "square", "diamond", "triangle-up", "cross")
    for index, seed in enumerate(table):
        fig.add_scatter(
            x=table[seed],
            y=rows,
            mode="markers",
            name=f"seed {seed}",
            customdata=list(table.index),
            marker={"size": 9, "symbol": symbols[index % len(symbols)], "color": theme.fold_colour(index)},
            hovertemplate="%{customdata}: place %{x}<extra>" + f"seed {seed}" + "</extra>",
        )
    fig.layout.xaxis = dict(title="place in the causal order (1: source)", dtick=2)
    fig.layout.yaxis = dict(
        tickvals=list(rows),
        ticktext=[theme.label(n) for n in table.index],
        range=[len(rows) - 0.4, -0.6],
        showgrid=False,
    )
    spread = (table.max(axis=1) - table.min(axis=1)).mean()
    title = f"A column's place differs by {spread:.1f} between seeds, on average" if len(orders) > 1 else "Places"
    return roles.titled(fig, title, height=140 + 22 * len(table))
