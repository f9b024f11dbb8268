"""Figures of a simulated table: its true graph, and how well sorting its columns would recover the order."""

from dataclasses import dataclass

import networkx as nx
import pandas as pd
import plotly.graph_objects as go

from disco.figures import axes, theme
from disco.figures.axes import log_ticks
from disco.graph import dag as graphs
from disco.graph.draw import placing
from disco.simulate import Simulated, identifiable

MOST_NODES = 200  # largest graph that a picture can show


@dataclass(frozen=True)
class Truth:
    """The drawn true graph, causes above their effects; an edge whose direction cannot be known has `decided` False."""

    graph: nx.DiGraph
    order: list[str]
    positions: placing.Positions


def truth(drawn: Simulated) -> Truth:
    """The true graph of a simulated table."""
    edges = drawn.truth.assign(decided=drawn.truth["direction"] != identifiable.UNKNOWN)
    graph = graphs.build(drawn.order, edges)
    return Truth(graph, drawn.order, placing.positions(drawn.order, drawn.truth.assign(z=6.0)))


def facts(drawn: Simulated) -> pd.DataFrame:
    """One row per column: column, mean, variance, zeros (a share), max, position (from 1, sources first), parents."""
    table = drawn.table
    position = {node: number for number, node in enumerate(drawn.order, start=1)}
    return pd.DataFrame(
        {
            "column": table.columns,
            "mean": table.mean().to_numpy(),
            "variance": table.var().to_numpy(),
            "zeros": (table == 0).mean().to_numpy(),
            "max": table.max().to_numpy(),
            "position": [position[name] for name in table.columns],
            "parents": drawn.adjacency.sum().to_numpy(),
        }
    )


def sortable(drawn: Simulated) -> go.Figure:
    """Mean and variance of every column by its causal position; if they increase, sorting finds the order."""
    columns = facts(drawn).sort_values("position")
    figure = go.Figure()
    marks = (("variance", theme.VERMILLION, "circle-open"), ("mean", theme.BLUE, "circle"))
    for name, colour, symbol in marks:
        look = {"color": colour, "symbol": symbol}
        hover = "%{customdata}: " + name + " %{y:.3g}"
        data = [theme.label(column) for column in columns["column"]]
        axes.marks(figure, columns["position"], columns[name], look, name, hover, customdata=data)
    figure.update_yaxes(title_text="mean, variance")
    values = columns[["mean", "variance"]].to_numpy()
    if (values > 0).all():
        tickvals, words = log_ticks(values.min(), values.max())
        figure.update_yaxes(type="log", tickvals=tickvals, ticktext=words)
    figure.layout.xaxis = dict(title_text="position in the causal order, sources first")
    return theme.titled(figure, "Mean and variance of each column by its position in the causal order", height=260)
