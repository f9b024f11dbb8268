"""Contrasts as a forest plot: the ratio of every node in an arm to the controls, with its interval."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from disco.experiments.contrasts import CHANGED, REFUTED, SAME, SEEMS, UNSURE
from disco.figures import axes, theme
from disco.figures.axes import WIDEST, around, log_axis, log_ticks, named_rows, ratios
from disco.graph.draw import colours

MOST = 40  # rows
_LOOKS = {  # of the kinds of contrasts: colour and symbol
    CHANGED: (colours.PICKED, "diamond"),
    SEEMS: (colours.PICKED, "diamond-open"),
    SAME: (colours.MUTED, "square"),
    REFUTED: (colours.ACCENT, "x"),
    UNSURE: (colours.MUTED, "circle-open"),
}


def forest(
    contrasts: pd.DataFrame,
    margin: float,
    several: bool = True,
    names: Mapping[str, str] | None = None,
    title: str = "What each arm changed",
) -> go.Figure:
    """One row per contrast (`disco.experiments.contrasts`), at most `MOST`, in this order; without an interval, none.

    The margin is a band about 1. Rows also name their arm if there are several; `names` has full names of nodes, and
    the title must be safe for Plotly.
    """
    contrasts = contrasts.assign(node=contrasts["node"].replace(dict(names or {})))
    drawn = contrasts.dropna(subset=["low", "high"]).head(MOST).reset_index(drop=True)
    fig = go.Figure()
    fig.add_vrect(x0=1 / (1 + margin), x1=1 + margin, fillcolor=colours.MUTED, opacity=0.15, line_width=0)
    fig.add_vline(x=1, line={"color": colours.MUTED, "dash": "dot", "width": 1.5})
    for name, (colour, symbol) in _LOOKS.items():
        rows = drawn[drawn["kind"] == name]
        ratios(
            *(fig, rows, name, colour, symbol),
            customdata=rows[["low", "high", "control", "treated", "q_value"]].assign(
                name=[theme.label(f"{row.arm}: {row.node}") for row in rows.itertuples()]
            ),
            hovertemplate="%{customdata[5]}: %{x:.2f} (%{customdata[0]:.2f} to %{customdata[1]:.2f}); mean "
            "%{customdata[3]:.3g}, among controls %{customdata[2]:.3g}; q = %{customdata[4]:.2g}<extra></extra>",
        )
    expected = drawn[drawn["expected"].notna()]
    if len(expected):
        look = {"symbol": "line-ns", "size": 12, "line": {"width": 2, "color": colours.MUTED}}
        hover = "predicted from the controls, if what was set acts: %{x:.2f}"
        axes.marks(fig, expected["expected"].clip(*WIDEST), expected.index, look, "predicted from the controls", hover)
    low, high = around([*drawn["low"], *drawn["high"], *expected["expected"], 0.5, 2.0], 1.15)
    fig.layout.xaxis = log_axis("ratio to the controls", low, high, log_ticks(low, high))
    shared = f"{drawn['of'].iloc[0]} = " if several and drawn["of"].nunique() == 1 else ""  # it would hide the levels
    fig.layout.yaxis = named_rows(
        f"{row.node} (arm {row.arm.removeprefix(shared)})" if several else row.node for row in drawn.itertuples()
    )
    return theme.titled(fig, title, height=170 + 26 * len(drawn))
