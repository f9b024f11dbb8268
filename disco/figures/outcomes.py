"""Figures of effects: an outcome over the values of a node that is set, and the nodes that drive it most."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.effects.answers import Answer, Effect
from disco.figures import roles, theme
from disco.figures.axes import log_ticks, named_rows
from disco.words import number

MOST = 15  # drivers drawn
_WIDEST = (0.01, 100.0)  # of the axis of ratios
_COLOURS = ((roles.PICKED, "43,131,186"), (roles.ACCENT, "213,94,0"), (theme.GREEN, "0,158,115"))
_DASHES = ("solid", "dash", "dot")


def over_values(curve: pd.DataFrame, found: Effect, unit: str = "count") -> go.Figure:
    """The outcome's mean over the range of the node that is set, a line per case, with the two values asked about.

    Args:
        curve: from `disco.effects.curve.curve`.
        found: an effect of one node.
        unit: of this node: count, level or rate.
    """
    (cause, after), (before,) = next(iter(found.do.items())), found.against.values()
    figure, several = go.Figure(), curve["case"].nunique() > 1
    for at in (before, after):
        figure.add_vline(x=at, line={"color": roles.MUTED, "dash": "dot", "width": 1.5})
    for case, part in curve.groupby("case", sort=True):
        _line(figure, part, int(case) % len(_COLOURS), _named(part) if several else "mean")
    answers = [case.answer for case in found.cases] if several and found.cases else [found.total]
    for number_of, answer in enumerate(answers):
        _ends(figure, (before, after), answer, _COLOURS[number_of % len(_COLOURS)][0])
    figure.layout.xaxis = dict(title=f"{theme.label(cause)} is set to ({unit})")
    figure.layout.yaxis = dict(title=f"mean of {theme.label(found.on, 24)}", rangemode="tozero")
    title = f"Mean of {theme.label(found.on)} at every value of {theme.label(cause)}"
    return roles.titled(figure, title, height=360, legend=several)


def _named(part: pd.DataFrame) -> str:
    """A case by its first direction."""
    edges = str(part["edges"].iloc[0])
    if edges:
        return theme.label(f"if {edges.split(', ')[0]}", 60)
    return "if no path leads there" if part["mean"].nunique() == 1 else "if a path leads there"


def _line(figure: go.Figure, part: pd.DataFrame, look: int, name: str) -> None:
    colour, band = _COLOURS[look]
    x = part["value"]
    figure.add_scatter(
        x=[*x, *x[::-1]],
        y=[*part["high"], *part["low"][::-1]],
        fill="toself",
        fillcolor=f"rgba({band},0.18)",
        mode="lines",
        line={"width": 0},
        showlegend=False,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=x,
        y=part["mean"],
        mode="lines",
        name=name,
        line={"color": colour, "width": 3, "dash": _DASHES[look]},
        customdata=part[["low", "high"]].to_numpy(),
        hovertemplate="at %{x:g}: mean %{y:.3g} (%{customdata[0]:.3g} to %{customdata[1]:.3g})<extra></extra>",
    )


def _ends(figure: go.Figure, at: Sequence[float], answer: Answer, colour: str) -> None:
    """The outcome's mean at the two values."""
    means = [answer.mean_against, answer.mean]
    figure.add_scatter(
        x=at,
        y=[one.estimate for one in means],
        mode="markers",
        showlegend=False,
        marker={"color": colour, "size": 11, "symbol": "diamond", "line": {"width": 1.5, "color": "white"}},
        customdata=[(one.low, one.high) for one in means],
        hovertemplate="at %{x:g}: mean %{y:.3g} (%{customdata[0]:.3g} to %{customdata[1]:.3g})<extra>asked</extra>",
    )


def drivers(found: pd.DataFrame, on: str) -> go.Figure:
    """The nodes that drive an outcome most, one row each: the ratio of its means, from a low to a high value.

    Args:
        found: from `disco.effects.drivers.drivers`.
        on: the outcome.
    """
    shown = found[np.isfinite(found["rate_ratio"]) & (found["rate_ratio"] > 0)].head(MOST).reset_index(drop=True)
    low, high, ratio = (shown[name].clip(*_WIDEST) for name in ("low", "high", "rate_ratio"))
    is_sure = (shown["low"] > 1) | (shown["high"] < 1)
    figure = go.Figure()
    figure.add_vline(x=1, line={"color": roles.MUTED, "dash": "dot", "width": 1.5})
    looks = (("acts", is_sure, roles.PICKED, "diamond"), ("may have no effect", ~is_sure, roles.MUTED, "circle"))
    for name, which, colour, symbol in looks:
        part = shown[which]
        spread = {"array": (high - ratio)[which], "arrayminus": (ratio - low)[which]}
        figure.add_scatter(
            x=ratio[which],
            y=part.index,
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 10, "color": colour},
            error_x={"type": "data", "symmetric": False, **spread, "color": colour, "thickness": 2.2, "width": 4},
            customdata=[
                (one.node, theme.label(one.node), *map(number, (one.rate_ratio, one.low, one.high)))
                for one in part.itertuples()
            ],
            hovertemplate="%{customdata[1]}: %{customdata[2]} (%{customdata[3]} to %{customdata[4]})<extra></extra>",
        )
    ends = [*low, *high, 0.8, 1.25]
    first, last = max(min(ends) / 1.1, _WIDEST[0]), min(max(ends) * 1.1, _WIDEST[1])
    ticks = dict(zip(("tickvals", "ticktext"), log_ticks(first, last), strict=True))
    figure.layout.xaxis = dict(type="log", range=[np.log10(first), np.log10(last)], **ticks)
    figure.layout.xaxis.title = f"ratio of the means of {theme.label(on, 24)}"
    names = [f"{one.node}  {one.low_value:.3g} → {one.high_value:.3g}" for one in shown.itertuples()]
    figure.layout.yaxis = named_rows(names)
    return roles.titled(figure, _most(shown, on), height=150 + 26 * len(shown))


def _most(shown: pd.DataFrame, on: str) -> str:
    """The largest effect as a sentence."""
    if shown.empty:
        return f"No ratio can be drawn for {theme.label(on)}"
    first = shown.iloc[0]
    node = f"{theme.label(first['node'])} from {first['low_value']:.3g} to {first['high_value']:.3g}"
    return (
        f"{node} has the largest effect: the mean of {theme.label(on)} is {number(first['rate_ratio'])} times as high"
    )
