"""The quality of a table: its columns' dispersion and zeros and its rows' totals, against their expectations."""

import pandas as pd
import plotly.graph_objects as go

from disco.figures import axes
from disco.figures.axes import log_ticks
from disco.figures.theme import BLUE, GREY, VERMILLION, empty, label, titled
from disco.table.quality import LEVEL, Quality
from disco.words import how_many

_HEIGHT = 340
_DASHED = {"color": GREY, "dash": "dash", "width": 1.5}


def dispersion(quality: Quality) -> go.Figure:
    """Variance / mean of every column against its mean, and which vary more or less than Poisson counts."""
    columns = quality.columns[quality.columns["dispersion"] > 0]
    if columns.empty:
        return empty("No column varies.")
    figure = go.Figure()
    looks = {"as": (GREY, "circle"), "more": (BLUE, "triangle-up"), "less": (VERMILLION, "triangle-down")}
    words = {"as": "as Poisson counts", "more": "more", "less": "less"}
    for which, (colour, symbol) in looks.items():
        rows = columns[columns["varies"] == which]
        hover = "mean %{x:.3g}, variance / mean %{y:.3g}"
        _points(figure, rows["mean"], rows["dispersion"], rows["column"], colour, symbol, words[which], hover)
    figure.add_hline(y=1, line=_DASHED)
    for update, numbers in ((figure.update_xaxes, columns["mean"]), (figure.update_yaxes, columns["dispersion"])):
        tickvals, ticks = log_ticks(min(numbers.min(), 1) / 2, max(numbers.max(), 1) * 2)
        update(type="log", tickvals=tickvals, ticktext=ticks)
    figure.update_xaxes(title_text="Mean").update_yaxes(title_text="Variance / mean")
    over, under = ((columns["varies"] == which).sum() for which in ("more", "less"))
    title = f"Of {how_many(len(columns), 'column')} {over:,} vary more than Poisson counts, {under:,} less "
    return titled(figure, f"{title} (tests at {LEVEL:.0%} for all together)", height=_HEIGHT)


def zeros(quality: Quality) -> go.Figure:
    """Every column's share of zeros against that of negative binomial counts with its mean and variance."""
    columns, figure = quality.columns, go.Figure()
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line=_DASHED, showlegend=False, hoverinfo="skip")
    for has_gaps, colour, symbol, name in (
        (False, BLUE, "circle", "as expected"),
        (True, VERMILLION, "diamond", "more"),
    ):
        rows = columns[columns["has_gaps"] == has_gaps]
        hover = "%{y:.1%} zeros, %{x:.1%} expected"
        _points(figure, rows["zeros_nb"], rows["zeros"], rows["column"], colour, symbol, name, hover)
    figure.layout.xaxis = dict(
        title_text="Zeros of negative binomial counts with this mean and variance", tickformat=".0%"
    )
    figure.layout.yaxis = dict(title_text="Zeros", tickformat=".0%")
    title = f"{int(columns['has_gaps'].sum()):,} of {how_many(len(columns), 'column')} have more zeros than expected"
    return titled(figure, title, height=_HEIGHT)


def depth(quality: Quality) -> go.Figure:
    """Total of every examined row against its position on the first component; outliers are marked."""
    deep = quality.depth
    if not deep.explained >= 0:
        return empty("No column varies.")
    out, figure = deep.rows["row"].isin(quality.rows.loc[quality.rows["is_out"], "row"]), go.Figure()
    for is_out, colour, symbol, name in ((False, BLUE, "circle", "rows"), (True, VERMILLION, "diamond", "far away")):
        rows = deep.rows[out == is_out]
        names = rows["row"].map("row {}".format)
        hover = "total %{x:,}, position %{y:.2f}"
        _points(figure, rows["total"], rows["component"], names, colour, symbol, name, hover)
    if (deep.rows["total"] > 0).all():
        tickvals, ticks = log_ticks(deep.rows["total"].min() / 1.1, deep.rows["total"].max() * 1.1)
        figure.update_xaxes(type="log", tickvals=tickvals, ticktext=ticks)
    figure.update_xaxes(title_text="Total of the row").update_yaxes(title_text="First component of log(1 + x)")
    chance = f" (shuffled tables: up to {deep.by_chance:.0%})" if deep.by_chance >= 0 else ""
    title = f"Totals explain {deep.explained:.0%} of the first component{chance}"
    return titled(figure, title, height=_HEIGHT)


def _points(
    figure: go.Figure, x: pd.Series, y: pd.Series, names: pd.Series, colour: str, symbol: str, legend: str, hover: str
) -> None:
    if len(x):
        look = {"color": colour, "symbol": symbol, "size": 8, "opacity": 0.8}
        axes.marks(figure, x, y, look, legend, "%{text}: " + hover, text=[label(name) for name in names])
