"""How far orders agree with the reference directions of Lahman, which are not ground truth."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from disco.figures import theme
from disco.figures.axes import named_rows
from disco.graph.draw import colours
from disco.graph.result import GraphResult
from disco.subjects.studies.agreement import support
from disco.subjects.studies.lahman import POSITIONS
from disco.words import share

_NUMBERS = {("AB", "BB"): 0.82, ("G", "RBI"): 0.5}  # where along an arrow its number stands, to cover no other
_KEY = {"most orders agree": colours.PICKED, "most orders reverse it": colours.ACCENT, "half agree": colours.MUTED}
_LOOKS = (("circle", colours.PICKED), ("diamond-open", colours.ACCENT), ("square-open", colours.MUTED))


def agreement(
    ours: pd.DataFrame, published: Mapping[str, Sequence[float]], controls: Mapping[str, Sequence[float]]
) -> go.Figure:
    """Agreement with each reference: each of our runs, their mean, the mean of a paper, and the sorting controls.
    `ours` is from `disco.subjects.studies.agreement.scores`; the others are by label."""
    names = list(ours.columns[2:])
    row = {label: index for index, label in enumerate(dict.fromkeys([*ours["label"], *published, *controls]))}
    means, height = ours.groupby("label", sort=False)[names].mean(), 190 + 26 * len(row)
    fig = make_subplots(rows=1, cols=len(names), shared_yaxes=True, subplot_titles=names, horizontal_spacing=0.05)
    for column, name in enumerate(names):
        paper_means, sorted_ = ([values[column] for values in shares.values()] for shares in (published, controls))
        for words, where, values, symbol, size, colour in (
            ("our runs", ours["label"], ours[name], "circle-open", 8, colours.PICKED),
            ("our mean", means.index, means[name], "circle", 12, colours.PICKED),
            ("the paper's mean", published, paper_means, "diamond-open", 11, colours.ACCENT),
            ("sorting control", controls, sorted_, "x-thin-open", 9, colours.MUTED),
        ):
            look = {"symbol": symbol, "size": size, "color": colour, "line": {"width": 2}}
            options = {"customdata": list(where), "legendgroup": words, "showlegend": column == 0 and len(where) > 0}
            where = [row[label] for label in where]
            _dots(fig, values, where, words, "%{customdata}: %{x:.3f}", look, **options, row=1, col=column + 1)
    fig.update_xaxes(range=[-0.04, 1.04], tickvals=[0, 0.5, 1.0], title="share respected")
    fig.update_yaxes(**named_rows(row, 30))
    best = " and ".join(f"{means[name].iloc[0]:.3f} with {name}" for name in names)
    title = f"{means.index[0]}: our mean agreement is {best}{_no_worse(means.iloc[0], controls)}"
    return theme.titled(fig, title, height=height).update_layout(legend={"y": 1.06 + 12 / height})


def _no_worse(means: pd.Series, controls: Mapping[str, Sequence[float]]) -> str:
    """A clause on the best sorting control if it agrees no less than our mean with every reference; else empty."""
    label, shares = max(controls.items(), key=lambda control: sum(control[1]), default=("", ()))
    if not shares or any(np.array(shares) < means):
        return ""
    return f", but sorting {label} alone agrees no less: {' and '.join(f'{share:.3f}' for share in shares)}"


def reference(results: Sequence[GraphResult], pairs: Sequence[tuple[str, str]]) -> go.Figure:
    """A reference as arrows: blue if most orders agree, vermillion if most reverse it, grey if half agree.

    A solid arrow is also an edge, in either direction, in most graphs; a dashed one is not. The number on an arrow is
    the number of orders that agree. There is one result per run.
    """
    rows, nodes = support([result.nodes for result in results], pairs), {node for pair in pairs for node in pair}
    positions = {node: position for node, position in POSITIONS.items() if node in nodes}
    edges = [{frozenset(pair) for pair in result.pairs} for result in results]
    fig = go.Figure()
    for u, v, agree, runs in rows.itertuples(index=False, name=None):
        colour = colours.PICKED if agree * 2 > runs else colours.ACCENT if agree * 2 < runs else colours.MUTED
        is_edge = 2 * sum({u, v} in joined for joined in edges) > len(results)
        (x0, y0), (x1, y1), at = positions[u], positions[v], _NUMBERS.get((u, v), 0.6)
        head = {"symbol": "arrow", "angleref": "previous", "size": [0, 15], "standoff": 21, "opacity": 1}
        line = {"color": colour, "width": 2.5, "dash": "solid" if is_edge else "dash"}
        _drawn(fig, [x0, x1], [y0, y1], "lines+markers", {**head, "color": colour, "line": {"width": 0}}, line=line)
        hover = f"{theme.label(u)} before {theme.label(v)} in {share(agree, runs)} runs<extra></extra>"
        number = {"text": f"{agree}/{runs}", "textfont": {"color": "#FFFFFF", "size": 11}, "hovertemplate": hover}
        middle = [x0 + at * (x1 - x0)], [y0 + at * (y1 - y0)]
        _drawn(fig, *middle, "markers+text", {"size": 24, "color": colour}, hoverinfo=None, **number)
    x, y = zip(*positions.values(), strict=True)
    disc = {"size": 40, "color": "#E6EAEC", "line": {"color": colours.MUTED, "width": 1}}
    ink = {"color": "#1F2A30", "size": 13}
    _drawn(fig, x, y, "markers+text", disc, text=[theme.label(node) for node in positions], textfont=ink)
    fig.layout.xaxis = dict(visible=False, range=[min(x) - 0.6, max(x) + 0.6])
    fig.layout.yaxis = dict(visible=False, range=[max(y) + 0.5, min(y) - 0.45])
    has_ties = (rows["agree"] * 2 == rows["orders"]).any()
    key = [(*entry, "solid") for entry in list(_KEY.items())[: 3 if has_ties else 2]]
    for name, colour, dash in (*key, ("no edge in most graphs", colours.MUTED, "dash")):
        fig.add_scatter(x=[None], y=[None], mode="lines", name=name, line={"color": colour, "dash": dash, "width": 2.5})
    title = f"{rows['agree'].sum()} of {rows['orders'].sum()} directions agree, over all runs"
    return theme.titled(fig, title, height=520)


def ends(table: pd.DataFrame, near: float) -> go.Figure:
    """Agreement of every search's final order, against how far its score is below the best.

    `table` is from `disco.subjects.studies.agreement.ends`. Ends within `near` nats of the best are not distinguished
    from it; this range is shaded.
    """
    fig, names = go.Figure(), list(table.columns[2:])
    fig.add_vrect(x0=0, x1=near, fillcolor=colours.PICKED, opacity=0.12, line_width=0, layer="below")
    for name, (symbol, colour) in zip(names, cycle(_LOOKS), strict=False):
        look = {"symbol": symbol, "size": 10, "color": colour, "line": {"width": 2, "color": colour}}
        starts, hover = table["start"].map(theme.label), "%{customdata}: %{y:.3f}, %{x:.1f} nats below the best"
        _dots(fig, table["below"], table[name], name, hover, look, customdata=starts)
    widest, tied = max(table["below"].max(), near), table[table["below"] <= near]
    fig.layout.xaxis = dict(title="nats below the best end", range=[-0.03 * widest, 1.05 * widest])
    fig.layout.yaxis = dict(title="share of directions respected", range=[-0.04, 1.04])
    low, high = tied[names[0]].min(), tied[names[0]].max()
    title = f"{share(len(tied), len(table))} searches ended within {near:g} nats of the best, with {names[0]} "
    title += f"agreement from {low:.2f} to {high:.2f}" if high > low else f"agreement {low:.2f}"
    return theme.titled(fig, title, height=340)


def positions(orders: Mapping[str, Sequence[str]]) -> go.Figure:
    """The position of every column in each run's order: how far the runs differ."""
    table = pd.DataFrame({run: {node: k for k, node in enumerate(order, 1)} for run, order in orders.items()})
    table = table.loc[table.mean(axis=1).sort_values(kind="stable").index]
    fig, rows, low, high = go.Figure(), np.arange(len(table)), table.min(axis=1), table.max(axis=1)
    spans = np.column_stack([low, high, np.full(len(table), np.nan)]).ravel()
    _drawn(fig, spans, np.repeat(rows, 3), "lines", {}, line={"color": colours.MUTED, "width": 1.5})
    for index, (run, symbol) in enumerate(
        zip(table, cycle(("circle", "square", "diamond", "triangle-up", "cross")), strict=False)
    ):
        look = {"size": 9, "symbol": symbol, "color": theme.fold_colour(index)}
        _dots(
            fig, table[run], rows, theme.label(run), "%{customdata}: position %{x}", look, customdata=list(table.index)
        )
    fig.layout.xaxis = dict(title="position in the causal order (1: source)", dtick=2)
    fig.layout.yaxis = named_rows(table.index)
    spread = (high - low).mean()
    title = f"A column's position differs by {spread:.1f} between runs, on average" if len(orders) > 1 else "Positions"
    return theme.titled(fig, title, height=140 + 22 * len(table))


def _dots(fig: go.Figure, x: Any, y: Any, name: str, hover_text: str, marker: dict[str, Any], **options: Any) -> None:
    hover = f"{hover_text}<extra>{name}</extra>"
    fig.add_scatter(x=list(x), y=list(y), mode="markers", name=name, marker=marker, hovertemplate=hover, **options)


def _drawn(fig: go.Figure, x: Any, y: Any, mode: str, marker: dict[str, Any], **options: Any) -> None:
    fig.add_scatter(x=x, y=y, mode=mode, marker=marker, **{"showlegend": False, "hoverinfo": "skip", **options})
