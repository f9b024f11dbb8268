"""Counts before and after the transform: distributions, dispersion, levels, and what the CCS can use of them.

The CCS groups a held-out fold's rows by level and keeps levels with at least n_min rows (paper, Curvature
Estimation), so the share of rows at such levels is what a column contributes.
"""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from disco.figures.theme import BLUE, GREEN, GREY, VERMILLION, empty, label, layout

_MOST_BARS = 120
_MOST_COLUMNS = 60


def mean_variance(description: pd.DataFrame, picked: str | None = None) -> go.Figure:
    """Variance against mean of every column, with the Poisson line variance = mean.

    Args:
        description: of `disco.counts.describe`; columns without numbers are left out.
        picked: a column to mark.
    """
    usable = description[(description["mean"] > 0) & (description["variance"] > 0)]
    if usable.empty:
        return empty("No column has a mean and a variance above 0.")
    ends = np.array([usable["mean"].min() / 2, usable["mean"].max() * 2])
    figure = go.Figure()
    poisson = {"color": GREY, "dash": "dash"}
    figure.add_scatter(x=ends, y=ends, mode="lines", name="variance = mean (Poisson)", line=poisson, hoverinfo="skip")
    for marked, colour, size in ((False, BLUE, 8), (True, VERMILLION, 13)):
        part = usable[(usable["column"] == picked) == marked]
        figure.add_scatter(
            x=part["mean"], y=part["variance"], mode="markers", showlegend=False,
            customdata=list(zip(map(label, part["column"]), part["dispersion"], strict=True)),
            marker={"color": colour, "size": size, "opacity": 0.8},
            hovertemplate="%{customdata[0]}<br>mean %{x:.3g}, variance %{y:.3g}<br>variance / mean "
            "%{customdata[1]:.3g}<extra></extra>",
        )  # fmt: skip
    layout(figure, height=300, x="Mean", y="Variance")
    ticks = {"type": "log", "dtick": 1, "exponentformat": "power"}
    return figure.update_xaxes(**ticks).update_yaxes(**ticks)


def distribution(column: pd.Series) -> go.Figure:
    """Rows at each value of one column; values are binned where there are many.

    Args:
        column: whole numbers, (rows,).
    """
    figure = go.Figure(_bars(column, BLUE))
    return layout(figure, height=300, x=label(column.name), y="Rows", legend=False)


def before_after(before: pd.Series, after: pd.Series, transform: str) -> go.Figure:
    """One column's counts beside its codes: ranks, quantile levels, or the counts themselves.

    Args:
        before, after: whole numbers, (rows,).
        transform: rank, quantile or none.
    """
    words = {"rank": "Rank", "quantile": "Quantile level", "none": "Count, unchanged"}
    figure = make_subplots(1, 2, subplot_titles=("Before", "After"), horizontal_spacing=0.09)
    figure.add_trace(_bars(before, GREY), 1, 1)
    figure.add_trace(_bars(after, BLUE), 1, 2)
    layout(figure, height=320, legend=False)
    figure.update_layout(margin={"t": 32})
    figure.update_xaxes(title_text=label(before.name), col=1).update_xaxes(title_text=words[transform], col=2)
    if after.nunique() <= 12:
        figure.update_xaxes(dtick=1, col=2)
    return figure.update_yaxes(title_text="Rows", col=1)


def _bars(column: pd.Series, colour: str) -> go.Bar:
    values = column.to_numpy()
    low, high = int(values.min()), int(values.max())
    width = max(1, -(-(high - low + 1) // _MOST_BARS))
    bins = (values - low) // width
    rows = np.bincount(bins)
    starts = low + width * np.arange(len(rows))
    ends = starts + width - 1
    spans = [str(a) if a == b else f"{a} to {b}" for a, b in zip(starts, ends, strict=True)]
    kept = rows > 0
    return go.Bar(
        x=(starts + (width - 1) / 2)[kept], y=rows[kept], width=width * 0.9,
        marker={"color": colour, "line": {"width": 0}},
        customdata=[span for span, is_kept in zip(spans, kept, strict=True) if is_kept],
        hovertemplate="%{customdata}: %{y:,} rows<extra></extra>", showlegend=False,
    )  # fmt: skip


def level_support(before: pd.DataFrame, after: pd.DataFrame, fold_of_row: np.ndarray, n_min: int) -> pd.DataFrame:
    """What the CCS can use of each column in the held-out folds, a row a column.

    Columns: `column`, `before` and `after` (distinct values of all rows), `median_rows` (of a level in a
    held-out fold), `fewest_rows` (the same, least), `kept` (share of held-out rows at levels with at least
    `n_min` rows, mean over folds).

    Args:
        before, after: counts and codes, (rows, nodes).
        fold_of_row: the held-out fold of each row, (rows,).
        n_min: rows a level needs.
    """
    folds = [after.to_numpy()[fold_of_row == fold] for fold in np.unique(fold_of_row)]
    found = []
    for position, name in enumerate(after.columns):
        sizes = [np.unique(fold[:, position], return_counts=True)[1] for fold in folds]
        together = np.concatenate(sizes)
        found.append(
            {
                "column": name,
                "before": before.iloc[:, position].nunique(),
                "after": after.iloc[:, position].nunique(),
                "median_rows": float(np.median(together)),
                "fewest_rows": int(together.min()),
                "kept": float(np.mean([rows[rows >= n_min].sum() / rows.sum() for rows in sizes])),
            }
        )
    return pd.DataFrame(found)


def levels_per_column(support: pd.DataFrame, most: int = _MOST_COLUMNS) -> go.Figure:
    """Distinct values of each column before and after, on one logarithmic axis.

    Args:
        support: of `level_support`.
        most: the most columns drawn, those with most values.
    """
    part = support.sort_values("before", ascending=False, kind="stable").head(most)
    names = [label(name, 24) for name in part["column"]]
    places = list(range(len(part)))
    figure = go.Figure()
    lines_x = np.column_stack([part["before"], part["after"], np.full(len(part), np.nan)]).ravel()
    lines_y = np.column_stack([places, places, np.full(len(part), np.nan)]).ravel()
    line = {"color": GREY, "width": 1}
    figure.add_scatter(x=lines_x, y=lines_y, mode="lines", line=line, hoverinfo="skip", showlegend=False)
    for which, colour, symbol in (("before", GREY, "circle-open"), ("after", BLUE, "circle")):
        figure.add_scatter(
            x=part[which], y=places, mode="markers", name=f"{which.capitalize()}", text=names,
            marker={"color": colour, "size": 9, "symbol": symbol, "line": {"width": 2, "color": colour}},
            hovertemplate="%{text}: %{x:,} values " + which + "<extra></extra>",
        )  # fmt: skip
    layout(figure, height=110 + 20 * len(part), x="Distinct values")
    figure.update_xaxes(type="log", dtick=1)
    return figure.update_yaxes(tickvals=places, ticktext=names, autorange="reversed", showgrid=False)


def rows_per_level(support: pd.DataFrame, n_min: int, most: int = _MOST_COLUMNS) -> go.Figure:
    """Share of held-out rows at levels with at least n_min rows, a bar a column, the least first.

    Args:
        support: of `level_support`.
        n_min: rows a level needs.
        most: the most columns drawn, those that lose most.
    """
    part = support.sort_values("kept", kind="stable").head(most)
    names = [label(name, 24) for name in part["column"]]
    places = list(range(len(part)))
    figure = go.Figure(
        go.Bar(
            x=part["kept"], y=places, orientation="h", showlegend=False,
            marker={"color": [VERMILLION if kept < 0.8 else GREEN for kept in part["kept"]]},
            customdata=list(zip(names, part["median_rows"], part["fewest_rows"], strict=True)),
            hovertemplate="%{customdata[0]}: %{x:.1%} of held-out rows used<br>median %{customdata[1]:g} rows a level, "
            "fewest %{customdata[2]}<extra></extra>",
        )
    )  # fmt: skip
    layout(figure, height=110 + 20 * len(part), x=f"Held-out rows at levels with at least {n_min} rows", legend=False)
    figure.update_layout(margin={"t": 36})
    figure.update_xaxes(range=[0, 1.02], tickformat=".0%")
    return figure.update_yaxes(tickvals=places, ticktext=names, autorange="reversed", showgrid=False)
