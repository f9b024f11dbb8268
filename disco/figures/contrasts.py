"""Contrasts as a forest plot: the ratio of every node in an arm to the controls, with its interval."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from disco.figures import theme
from disco.figures.axes import WIDEST, around, log_axis, log_ticks, named_rows, ratios
from disco.graph.draw import colours

MOST = 40  # rows
_KINDS = (  # name, which rows, colour, symbol
    ("changed", "changed", colours.PICKED, "diamond"),
    ("the same, within the margin", "unchanged", colours.ACCENT, "square"),
    ("cannot say", None, colours.MUTED, "circle"),
)


def forest(
    found: pd.DataFrame,
    margin: float,
    several: bool = True,
    names: Mapping[str, str] | None = None,
    title: str = "What each arm changed",
) -> go.Figure:
    """One row per contrast, at most `MOST`.

    Args:
        found: rows of `disco.experiments.contrasts`, in the order to draw; those without an interval are left out.
        margin: drawn as a band about 1.
        several: whether rows of several arms are named by their arm too.
        names: what nodes are called in full.
        title: what it shows, in words that are safe for Plotly.
    """
    found = found.assign(node=found["node"].replace(dict(names or {})))
    shown = found.dropna(subset=["low", "high"]).head(MOST).reset_index(drop=True)
    fig = go.Figure()
    fig.add_vrect(x0=1 / (1 + margin), x1=1 + margin, fillcolor=colours.MUTED, opacity=0.15, line_width=0)
    fig.add_vline(x=1, line={"color": colours.MUTED, "dash": "dot", "width": 1.5})
    left = pd.Series(True, index=shown.index)
    for name, column, colour, symbol in _KINDS:
        part = shown[left & (shown[column] if column else True)]
        left[part.index] = False
        ratios(
            *(fig, part, name, colour, symbol),
            customdata=part[["low", "high", "control", "treated", "q_value"]].assign(
                name=[theme.label(f"{one.arm}: {one.node}") for one in part.itertuples()]
            ),
            hovertemplate="%{customdata[5]}: %{x:.2f} (%{customdata[0]:.2f} to %{customdata[1]:.2f}); mean "
            "%{customdata[3]:.3g}, among controls %{customdata[2]:.3g}; q = %{customdata[4]:.2g}<extra></extra>",
        )
    expected = shown[shown["expected"].notna()]
    if len(expected):
        fig.add_scatter(
            x=expected["expected"].clip(*WIDEST),
            y=expected.index,
            mode="markers",
            name="predicted from the controls",
            marker={"symbol": "line-ns", "size": 12, "line": {"width": 2, "color": colours.MUTED}},
            hovertemplate="predicted from the controls, if what was set acts: %{x:.2f}<extra></extra>",
        )
    low, high = around([*shown["low"], *shown["high"], *expected["expected"], 0.5, 2.0], 1.15)
    fig.layout.xaxis = log_axis("ratio to the controls", low, high, log_ticks(low, high))
    fig.layout.yaxis = named_rows(f"{one.arm} → {one.node}" if several else one.node for one in shown.itertuples())
    return theme.titled(fig, title, height=170 + 26 * len(shown))
