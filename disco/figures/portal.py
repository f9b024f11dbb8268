"""Figures of the case study Portal: captures where kangaroo rats are kept out, over those on the controls."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import roles, theme
from disco.figures.axes import log_ticks

_LONGEST = 4  # names in a title
_WIDEST = (0.01, 100.0)  # of the axis


def effects(found: pd.DataFrame, plots: pd.DataFrame, words: str) -> go.Figure:
    """The ratio of every species with its interval, and of every single plot.

    Args:
        found: of `disco.portal.experiment`.
        plots: of `disco.portal.plot_means`, of the same species and comparison.
        words: what is compared with the controls.
    """
    fig = go.Figure()
    row = {name: place for place, name in enumerate(found["species"])}
    shown = found.dropna(subset=["low", "high"])
    is_sure = (shown["low"] > 1) | (shown["high"] < 1)
    single = _single(found, plots)
    _points(fig, single, row)
    for part, name, colour in (
        (shown[is_sure], "all plots; 1 is outside", roles.PICKED),
        (shown[~is_sure], "all plots; 1 is inside", roles.MUTED),
    ):
        _intervals(fig, part, row, name, colour)
    fig.add_vline(x=1, line={"color": roles.MUTED, "dash": "dot", "width": 1.5})
    low, high = _range([*shown["low"], *single["ratio"]], [*shown["high"], *single["ratio"]])
    places, texts = log_ticks(low, high)
    fig.layout.xaxis = dict(
        type="log",
        title="captures over those on controls",
        range=[np.log10(low), np.log10(high)],
        tickvals=places,
        ticktext=texts,
    )
    fig.layout.yaxis = dict(
        tickvals=list(row.values()),
        ticktext=[theme.label(name) for name in row],
        range=[len(row) - 0.4, -0.6],
        showgrid=False,
    )
    return roles.titled(fig, _title(shown, words), height=170 + 30 * len(row))


def _single(found: pd.DataFrame, plots: pd.DataFrame) -> pd.DataFrame:
    """species, plot, ratio of every single plot without kangaroo rats; a plot without captures has none."""
    closed = plots[~plots["is_control"]]
    lines = [
        (one.species, plot, mean / one.control)
        for one in found.itertuples()
        for plot, mean in zip(closed["plot_id"], closed[one.species], strict=True)
        if mean > 0 and one.control > 0
    ]
    return pd.DataFrame(lines, columns=["species", "plot", "ratio"])


def _points(fig: go.Figure, single: pd.DataFrame, row: dict[str, int]) -> None:
    fig.add_scatter(
        x=single["ratio"],
        y=[row[name] for name in single["species"]],
        mode="markers",
        name="one plot",
        marker={"symbol": "circle-open", "size": 8, "color": roles.ACCENT, "line": {"width": 1.5}},
        customdata=single["plot"],
        hovertemplate="plot %{customdata}: %{x:.2f}<extra></extra>",
    )


def _intervals(fig: go.Figure, part: pd.DataFrame, row: dict[str, int], name: str, colour: str) -> None:
    fig.add_scatter(
        x=part["ratio"],
        y=[row[one] for one in part["species"]],
        mode="markers",
        name=name,
        marker={"symbol": "diamond", "size": 12, "color": colour},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": part["high"] - part["ratio"],
            "arrayminus": part["ratio"] - part["low"],
            "color": colour,
            "thickness": 2.5,
            "width": 5,
        },
        customdata=part[["low", "high", "control", "exclosure"]],
        hovertemplate="%{x:.2f} (%{customdata[0]:.2f} to %{customdata[1]:.2f}); mean captures %{customdata[3]:.2f}, "
        "on controls %{customdata[2]:.2f}<extra></extra>",
    )


def _range(lows: list[float], highs: list[float]) -> tuple[float, float]:
    """The ends of the axis, a little beyond the marks."""
    low, high = min([*lows, 0.5]) / 1.3, max([*highs, 2.0]) * 1.3
    return max(low, _WIDEST[0]), min(high, _WIDEST[1])


def _title(shown: pd.DataFrame, words: str) -> str:
    """Which species are caught more often there than on controls, and which less often."""
    parts = [
        f"{_named(names)} caught {how} often"
        for names, how in (
            (shown.loc[shown["low"] > 1, "species"].tolist(), "more"),
            (shown.loc[shown["high"] < 1, "species"].tolist(), "less"),
        )
        if names
    ]
    said = ", ".join(parts) if parts else "no species caught more or less often for sure"
    return f"{words[0].upper()}{words[1:]}, against controls: {said}"


def _named(names: list[str]) -> str:
    """Names in a sentence, the first few of many."""
    labels = [theme.label(name) for name in names[:_LONGEST]]
    if len(names) > _LONGEST:
        return f"{', '.join(labels)} and {len(names) - _LONGEST} more"
    return " and ".join(filter(None, [", ".join(labels[:-1]), labels[-1]]))
