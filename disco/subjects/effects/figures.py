"""Figures of effects: an outcome over the values of a node that is set, its distribution, and what drives it most."""

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.effects.effect_records import Effect
from disco.effects.shape import PLAIN, shape
from disco.figures import axes, theme
from disco.figures.axes import WIDEST, around, log_axis, log_ticks, named_rows, ratios
from disco.graph.draw import colours
from disco.refine.response import Response
from disco.words import number, series

MOST = 15  # drivers drawn
_TICKS = 8  # most on a short axis
_COLOURS = (colours.PICKED, colours.ACCENT, theme.GREEN)
_DASHES = ("solid", "dash", "dot")
_BAND = 0.18  # opacity
_RARE = 0.005  # counts that fewer rows have are not drawn
_MEAN = "at %{x:g}: mean %{y:.3g} (%{customdata[0]:.3g} to %{customdata[1]:.3g})"
_SHARE = "at least %{x:g}: %{y:.1%} (%{customdata[0]:.1%} to %{customdata[1]:.1%})"


def over_values(curve: pd.DataFrame, effect: Effect, unit: str = "count") -> go.Figure:
    """The outcome's mean over the range of the node that is set, a line per case, with the two values of the effect.
    `curve` is from `disco.effects.curve.curve`, with these two values; `unit` is that of the node."""
    (cause, new), (reference,) = next(iter(effect.do.items())), effect.against.values()
    figure, several = go.Figure(), curve["case"].nunique() > 1
    for value in (reference, new):
        figure.add_vline(x=value, line={"color": colours.MUTED, "dash": "dot", "width": 1.5})
    for case, rows in curve.groupby("case", sort=True):
        look = int(case) % len(_COLOURS)
        _line(figure, rows, _COLOURS[look], _DASHES[look], theme.label(rows["when"].iloc[0], 60) or "mean", _MEAN)
        compared = rows[rows["value"].isin([reference, new])]
        diamond = {"size": 11, "symbol": "diamond", "line": {"width": 1.5, "color": "white"}, "color": _COLOURS[look]}
        axes.marks(figure, compared["value"], compared["mean"], diamond)
    figure.layout.xaxis = dict(title=f"{theme.label(cause)} is set to ({unit})")
    # A band that is wide at a value of few rows would flatten the rest.
    top = 2 * max(curve["mean"].max(), curve.loc[curve["value"].isin([reference, new]), "high"].max())
    figure.layout.yaxis = dict(title=f"mean of {theme.label(effect.on, 24)}")
    figure.layout.yaxis.range = [0, 1.05 * min(curve["high"].max(), top)]
    title = f"Mean of {theme.label(effect.on)} at every value of {theme.label(cause)}"
    title = title if several else f"{title}: {shape(curve).words}"
    return theme.titled(figure, title, height=360, legend=several)


def over_time(response: Response) -> go.Figure:
    """The ratio of an outcome's means with and without a setting, at every step after it, with its band."""
    points = response.points.rename(columns={"step": "value"}).drop(columns="mean").rename(columns={"ratio": "mean"})
    figure = go.Figure()
    figure.add_hline(y=1.0, line={"color": colours.MUTED, "dash": "dot", "width": 1.5})
    _line(figure, points, _COLOURS[0], _DASHES[0], "ratio", _MEAN)
    figure.data[-1].mode = "lines+markers"
    figure.layout.xaxis = {"title": f"steps after it is set (one per {theme.label(response.unit, 24)})", "dtick": 1}
    figure.layout.yaxis = {"title": f"mean of {theme.label(response.on, 24)}, ratio"}
    settings = series([f"{theme.label(name, 24)} = {value:g}" for name, value in response.do.items()])
    when = "from then on" if response.is_steady else "once"
    return theme.titled(figure, f"{theme.label(response.on)} after {settings}, {when}", height=320, legend=False)


def over_counts(curves: pd.DataFrame, effect: Effect) -> go.Figure:
    """How often the outcome has at least a count: solid at the new values, dotted at the reference; a colour per case.
    `curves` is from `disco.effects.curve.distribution`, of this effect."""
    above = curves[curves["count"] > curves["count"].min()]
    frequent = above[above[["at_least", "against"]].max(axis=1) > _RARE]
    figure, drawn = go.Figure(), above if frequent.empty else frequent
    several, is_short = curves["case"].nunique() > 1, drawn["count"].nunique() <= _TICKS
    for case, rows in drawn.groupby("case", sort=True):
        colour, when = _COLOURS[int(case) % len(_COLOURS)], theme.label(rows["when"].iloc[0], 60)
        for name, dash, shade in (
            ("against", "dot", colour if several else colours.MUTED),
            ("at_least", "solid", colour),
        ):
            names = {"count": "value", name: "mean", f"{name}_low": "low", f"{name}_high": "high"}
            _line(figure, rows[[*names]].rename(columns=names), shade, dash, when, _SHARE)
            if is_short:
                figure.data[-1].mode = "lines+markers"
            figure.data[-1].showlegend = name == "at_least"
    unit = {"dtick": 1} if is_short else {}
    figure.layout.xaxis = {"title": f"count of {theme.label(effect.on, 24)}", **unit}
    figure.layout.yaxis = dict(title="rows with at least this count", tickformat=".0%", rangemode="tozero")
    moved = [name for name, value in effect.do.items() if value != effect.against[name]]
    new, reference = (
        series([f"{theme.label(name, 24)} = {side[name]:g}" for name in moved]) for side in (effect.do, effect.against)
    )
    title = f"Rows with at least a given count of {theme.label(effect.on)}, at {new} (solid) and {reference} (dotted)"
    return theme.titled(figure, title, height=320, legend=several)


def _line(figure: go.Figure, rows: pd.DataFrame, colour: str, dash: str, name: str, hover: str) -> None:
    x = rows["value"]
    y = [*rows["high"], *rows["low"][::-1]]
    axes.lines(figure, [*x, *x[::-1]], y, {"width": 0}, fill="toself", fillcolor=colour, opacity=_BAND)
    look, bounds = {"color": colour, "width": 3, "dash": dash}, rows[["low", "high"]].to_numpy()
    axes.lines(figure, x, rows["mean"], look, name, hover, customdata=bounds)


def drivers(ranked: pd.DataFrame, on: str) -> go.Figure:
    """The nodes that drive an outcome most, one row each: the ratio of its means, from a low to a high value. `ranked`
    is from `disco.effects.drivers.drivers`."""
    plotted = ranked[np.isfinite(ranked["rate_ratio"]) & (ranked["rate_ratio"] > 0)].head(MOST).reset_index(drop=True)
    drawn = plotted.rename(columns={"rate_ratio": "ratio"})[["ratio", "low", "high"]].clip(*WIDEST)
    is_sure = (plotted["low"] > 1) | (plotted["high"] < 1)
    figure = go.Figure()
    figure.add_vline(x=1, line={"color": colours.MUTED, "dash": "dot", "width": 1.5})
    sure, unsure = ("clear effect", colours.PICKED, "diamond"), ("may have no effect", colours.MUTED, "circle")
    for which, (name, colour, symbol) in ((is_sure, sure), (~is_sure, unsure)):
        rows = plotted[which]
        if rows.empty:
            continue
        ratios(
            *(figure, drawn[which], name, colour, symbol),
            customdata=[
                (row.node, theme.label(row.node), *map(number, (row.rate_ratio, row.low, row.high)))
                for row in rows.itertuples()
            ],
            hovertemplate="%{customdata[1]}: %{customdata[2]} (%{customdata[3]} to %{customdata[4]})<extra></extra>",
        )
    first, last = around([*drawn["low"], *drawn["high"], 0.95, 1.05], 1.03)
    title = f"ratio of the means of {theme.label(on, 24)}"
    figure.layout.xaxis = log_axis(title, first, last, _ticks(first, last))
    names = [f"{row.node}  {row.low_value:.3g} → {row.high_value:.3g}" for row in plotted.itertuples()]
    figure.layout.yaxis = named_rows(names)
    return theme.titled(figure, _title(plotted, on), height=150 + 26 * len(plotted))


def _ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Ticks of a logarithmic axis, evenly spaced where it is short."""
    if high > 5 * low:
        return log_ticks(low, high)
    step = next(width for width in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0) if (high - low) / width <= _TICKS)
    values = [round(step * at, 2) for at in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return values, [f"{value:g}" for value in values]


def _title(plotted: pd.DataFrame, on: str) -> str:
    if plotted.empty:
        return f"No ratio can be drawn for {theme.label(on)}"
    first = plotted.iloc[0]
    driver, outcome = theme.label(first["node"]), theme.label(on)
    verb = "drives" if first["low"] > 1 or first["high"] < 1 else "may drive"
    claim = f"{driver} {verb} {outcome} most"
    if first["graphs_none"] > 0:  # in these graphs it comes later, or no path leads from it
        claim = f"Directions are open. Averaged over all compatible graphs, setting {driver} changes {outcome} most"
    turns = f"its mean {first['shape']}; " if first["shape"] not in PLAIN else ""
    between = f"from {first['low_value']:.3g} to {first['high_value']:.3g}"
    return f"{claim}: {turns}{between}, the mean is {number(first['rate_ratio'])} times as high"
