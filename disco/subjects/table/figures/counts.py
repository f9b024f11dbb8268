"""Counts before and after the transform: distributions, dispersion, levels, and the rows that the CCS can use.

The CCS groups the rows of a held-out fold by level and uses only levels with at least n_min rows (paper, Curvature
Estimation). The share of rows at such levels is the used part of a column.
"""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from disco.figures import axes
from disco.figures.axes import log_ticks
from disco.figures.theme import BLUE, GREY, VERMILLION, empty, label, layout
from disco.paper.support import ENOUGH

_MOST_BARS = 120
MOST_COLUMNS = 60  # most columns drawn in one figure
_EVERY = 12  # values at most, that each have a tick


def mean_variance(description: pd.DataFrame, picked: str | None = None) -> go.Figure:
    """Variance against mean of every column (`disco.table.counts.describe`), with the Poisson line variance = mean.
    Columns without numbers are left out; `picked` is highlighted."""
    usable = description[(description["mean"] > 0) & (description["variance"] > 0)]
    if usable.empty:
        return empty("No column has a mean and a variance above 0.")
    limits = np.array([usable["mean"].min() / 2, usable["mean"].max() * 2])
    figure = go.Figure()
    poisson = {"color": GREY, "dash": "dash"}
    axes.lines(figure, limits, limits, poisson, "variance = mean (Poisson)")
    for marked, colour, size in ((False, BLUE, 8), (True, VERMILLION, 13)):
        columns = usable[(usable["column"] == picked) == marked]
        look = {"color": colour, "size": size, "opacity": 0.8}
        hover = "%{customdata[0]}<br>mean %{x:.3g}, variance %{y:.3g}<br>variance / mean %{customdata[1]:.3g}"
        data = list(zip(map(label, columns["column"]), columns["dispersion"], strict=True))
        axes.marks(figure, columns["mean"], columns["variance"], look, hover=hover, customdata=data)
    layout(figure, height=300, x="Mean", y="Variance")
    heights = [*usable["variance"], *limits]
    return figure.update_xaxes(**_log_axis(*limits)).update_yaxes(**_log_axis(min(heights), max(heights)))


def distribution(column: pd.Series) -> go.Figure:
    """Number of rows at each value of one column of whole numbers; values are binned if there are many."""
    figure = layout(go.Figure(_bars(column, BLUE)), height=300, x=label(column.name), y="Rows", legend=False)
    return figure.update_xaxes(dtick=_step(column))


def before_after(counts: pd.Series, codes: pd.Series, transform: str) -> go.Figure:
    """One column's counts beside its codes: ranks, quantile levels, or (transform none) the counts themselves."""
    words = {"rank": "Rank", "quantile": "Quantile level", "none": "Count, unchanged"}
    figure = make_subplots(1, 2, subplot_titles=("Before", "After"), horizontal_spacing=0.09)
    figure.add_trace(_bars(counts, GREY), 1, 1)
    figure.add_trace(_bars(codes, BLUE), 1, 2)
    layout(figure, height=320, legend=False)
    figure.update_layout(margin={"t": 32})
    for note, x in zip(figure.layout.annotations, (0, 0.545), strict=True):
        note.update(x=x, xanchor="left")
    figure.update_xaxes(title_text=label(counts.name), col=1).update_xaxes(title_text=words[transform], col=2)
    figure.update_xaxes(dtick=_step(counts), col=1).update_xaxes(dtick=_step(codes), col=2)
    return figure.update_yaxes(title_text="Rows", col=1)


def _step(column: pd.Series) -> int | None:
    """A tick at each of a few values: no axis has ticks between whole numbers; None leaves them to Plotly."""
    return 1 if column.max() - column.min() <= _EVERY else None


def _bars(column: pd.Series, colour: str) -> go.Bar:
    values = column.to_numpy()
    low, high = int(values.min()), int(values.max())
    width = max(1, -(-(high - low + 1) // _MOST_BARS))
    bins = (values - low) // width
    rows = np.bincount(bins)
    starts = low + width * np.arange(len(rows))
    stops = starts + width - 1
    spans = [str(a) if a == b else f"{a} to {b}" for a, b in zip(starts, stops, strict=True)]
    occupied = rows > 0
    return go.Bar(
        x=(starts + (width - 1) / 2)[occupied],
        y=rows[occupied],
        width=width * 0.9,
        marker={"color": colour, "line": {"width": 0}},
        customdata=[span for span, is_occupied in zip(spans, occupied, strict=True) if is_occupied],
        hovertemplate="%{customdata}: %{y:,} rows<extra></extra>",
        showlegend=False,
    )


def levels_per_column(support: pd.DataFrame) -> go.Figure:
    """Distinct values of each column before and after the transform, on one logarithmic axis. `support` is from
    `disco.paper.support.level_support`; at most `MOST_COLUMNS` are drawn, those that lose most rows."""
    columns = _drawn(support)
    names, tickvals = _names(columns), list(range(len(columns)))
    figure = go.Figure()
    _spans(figure, columns["before"], columns["after"], GREY)
    for which, colour, symbol, size in (("before", GREY, "circle-open", 15), ("after", BLUE, "circle", 8)):
        look = {"color": colour, "size": size, "symbol": symbol, "line": {"width": 2, "color": colour}}
        hover = "%{text}: %{x:,} values " + which
        axes.marks(figure, columns[which], tickvals, look, f"{which.capitalize()}", hover, text=names)
    return _named_rows(figure, columns, "Distinct values", columns[["before", "after"]])


def rows_per_level(support: pd.DataFrame, n_min: int) -> go.Figure:
    """Fewest, median and most rows per level in a held-out fold, against n_min; one line per column.

    Columns that lose more than a fifth of their rows are highlighted; the share of rows used is written next to each.
    The columns are those of `levels_per_column`.
    """
    columns = _drawn(support)
    names, figure = _names(columns), go.Figure()
    tickvals = np.arange(len(columns))
    is_thin = (columns["kept"] < ENOUGH).to_numpy()
    for thin, colour, words in ((False, BLUE, "enough rows"), (True, VERMILLION, "too few rows")):
        rows, y = columns[is_thin == thin], tickvals[is_thin == thin]
        if rows.empty:
            continue
        _spans(figure, rows["fewest_rows"], rows["most_rows"], colour, y)
        numbers = rows[["fewest_rows", "most_rows", "kept"]].itertuples(index=False)
        data = [(names[at], *values) for at, values in zip(y, numbers, strict=True)]
        hover = "%{customdata[0]}: median %{x:g} rows per level, fewest %{customdata[1]}, most %{customdata[2]}"
        hover += "<br>%{customdata[3]:.1%} of held-out rows used"
        look = {"color": colour, "size": 9}
        axes.marks(figure, rows["median_rows"], y, look, f"Median, {words}", hover, customdata=data)
    figure.add_scatter(
        x=np.full(len(columns), columns["most_rows"].max() * 1.25),
        y=tickvals,
        mode="text",
        hoverinfo="skip",
        text=["100%" if share == 1 else f"{min(share, 0.994):.0%}" for share in columns["kept"]],
        textposition="middle right",
        showlegend=False,
        cliponaxis=False,
    )
    above = {"xref": "paper", "yref": "paper", "xanchor": "right", "yanchor": "bottom", "showarrow": False}
    figure.add_annotation(text="rows usable", x=1, y=1, **above)
    figure.add_vline(x=n_min, line={"color": GREY, "dash": "dash", "width": 1.5})
    _named_rows(
        figure, columns, "Rows per level in a held-out fold", columns[["fewest_rows", "most_rows"]].assign(least=n_min)
    )
    return figure.update_layout(margin={"r": 48})


def _drawn(support: pd.DataFrame) -> pd.DataFrame:
    """The columns to draw, in the same order in both figures; those that lose most rows come first."""
    return support.sort_values(["kept", "before"], ascending=[True, False], kind="stable").head(MOST_COLUMNS)


def _names(columns: pd.DataFrame) -> list[str]:
    return [label(name, 22) for name in columns["column"]]


def _spans(figure: go.Figure, low: pd.Series, high: pd.Series, colour: str, rows: np.ndarray | None = None) -> None:
    y = np.arange(len(low)) if rows is None else rows
    gap = np.full(len(low), np.nan)
    look = {"color": colour, "width": 1.5}
    axes.lines(figure, np.column_stack([low, high, gap]).ravel(), np.column_stack([y, y, gap]).ravel(), look)


def _log_axis(low: float, high: float) -> dict[str, object]:
    """A logarithmic axis from about `low` to about `high`, every tick labelled with its number."""
    tickvals, words = log_ticks(low / 2, high * 2)
    if high > 3 * low or sum(low <= value <= high for value in tickvals) > 1:
        return {"type": "log", "tickvals": tickvals, "ticktext": words}
    first, last = low / 1.2, high * 1.2  # one label does not show the scale
    smallest = max((last - first) / 6, 1.0)
    unit = 10.0 ** np.floor(np.log10(smallest))
    step = next(step for step in (unit, 2 * unit, 5 * unit, 10 * unit) if step >= smallest)
    tickvals = [at * step for at in range(int(np.ceil(first / step)), int(last / step) + 1)]
    words = [f"{value:g}" for value in tickvals]
    return {"type": "log", "tickvals": tickvals, "ticktext": words, "range": [np.log10(first), np.log10(last)]}


def _named_rows(figure: go.Figure, columns: pd.DataFrame, x: str, values: pd.DataFrame) -> go.Figure:
    layout(figure, height=110 + 20 * len(columns), x=x)
    figure.update_xaxes(**_log_axis(values.min(axis=None), values.max(axis=None)))
    tickvals = list(range(len(columns)))
    return figure.update_yaxes(
        tickvals=tickvals, ticktext=_names(columns), range=[len(columns) - 0.4, -0.6], showgrid=False, zeroline=False
    )
