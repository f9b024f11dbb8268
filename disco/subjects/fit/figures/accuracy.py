"""Accuracy of the edges at every threshold, if the truth is known (paper, Experimental Setup, Evaluation metrics)."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import axes, theme
from disco.graph.draw import colours
from disco.metrics.precision_recall import at_threshold
from disco.words import number, share

MEASURES = {"precision": "dash", "recall": "dot"}


def f1(table: pd.DataFrame, tau_z: float, pi_min: float) -> go.Figure:
    """F1 against τ_Z, one line per π_min, with precision and recall at the chosen π_min; the current choice is marked.
    `table` is from `disco.metrics.along_thresholds`."""
    fig = go.Figure()
    current = at_threshold(table, tau_z, pi_min)
    folds = table["pi_min"].nunique()
    for index, (share_of_folds, line) in enumerate(table.groupby("pi_min")):
        bold = share_of_folds == current["pi_min"]
        words = f"{share(index + 1, folds)} folds" if folds > 1 else "all folds"
        dash = ("solid", "longdash", "longdashdot", "dashdot")[(folds - 1 - index) % 4]
        look = {"color": colours.PICKED if bold else colours.MUTED, "width": 3.5 if bold else 1.8, "dash": dash}
        hover = f"τ_Z = %{{x:.2f}}, in {words}: F1 %{{y:.3f}}"
        axes.lines(fig, line["tau_z"], line["f1"], look, f"F1, {words}", hover)
    line = table[table["pi_min"] == current["pi_min"]]
    for name, dash in MEASURES.items():
        look = {"color": colours.ACCENT, "width": 1.5, "dash": dash}
        axes.lines(fig, line["tau_z"], line[name], look, name, f"τ_Z = %{{x:.2f}}: {name} %{{y:.3f}}")
    fig.add_vline(x=tau_z, line={"color": colours.MUTED, "width": 1, "dash": "dot"})
    axes.marks(fig, [tau_z], [current["f1"]], {"color": colours.PICKED, "size": 12})
    fig.layout.xaxis = dict(title="threshold τ_Z", zeroline=False)
    fig.layout.yaxis = dict(range=[-0.03, 1.03])
    best = table.loc[table["f1"].idxmax()] if table["f1"].notna().any() else None
    title = f"F1 is {number(current['f1'])} at τ_Z = {tau_z:.3g}"
    if best is not None:
        where = f" in {share(round(best['pi_min'] * folds), folds)} folds" if folds > 1 else ""
        title += f"; the highest is {number(best['f1'])} at {best['tau_z']:.3g}{where}"
    return theme.titled(fig, title, height=360)


def precision_recall(
    curve: pd.DataFrame,
    table: pd.DataFrame,
    tau_z: float,
    pi_min: float,
    average: float,
    chance: float,
    a_top: float | None = None,
) -> go.Figure:
    """Precision against recall for falling cut-offs of the OCS and of τ_Z; the current choice is marked.

    `curve` is from `metrics.precision_recall`, for the mean OCS of every candidate, `table` from
    `disco.metrics.along_thresholds`; only the chosen π_min is drawn. `average` is the average precision of the OCS,
    `chance` that of a random choice, the share of true edges among the candidates, and `a_top` the order's upper bound
    on recall.
    """
    fig = go.Figure()
    current = at_threshold(table, tau_z, pi_min)
    rises = np.diff(curve["recall"].to_numpy(), prepend=0.0) > 0
    corners = curve[rises | np.append(rises[1:], True)]  # where recall increases, the rows before these, and the last
    look = {"color": colours.PICKED, "width": 3}
    hover = "OCS from %{customdata:.3g}: precision %{y:.3f}, recall %{x:.3f}"
    axes.lines(fig, corners["recall"], corners["precision"], look, "by OCS", hover, customdata=corners["threshold"])
    line = table[(table["pi_min"] == current["pi_min"]) & table["precision"].notna()]
    look = {"color": colours.ACCENT, "width": 1.8, "dash": "dash"}
    hover = "τ_Z = %{customdata:.2f}: precision %{y:.3f}, recall %{x:.3f}"
    axes.lines(fig, line["recall"], line["precision"], look, "by τ_Z, at this π_min", hover, customdata=line["tau_z"])
    look = {"color": colours.ACCENT, "size": 12, "symbol": "diamond"}
    hover = "current: precision %{y:.3f}, recall %{x:.3f}"
    axes.marks(fig, [current["recall"]], [current["precision"]], look, f"τ_Z = {tau_z:.3g}", hover)
    _frame(fig, chance, a_top)
    return theme.titled(fig, f"Average precision of the OCS: {number(average)}", height=360)


def _frame(fig: go.Figure, chance: float, highest: float | None) -> None:
    words = {"showarrow": False, "font": {"color": colours.MUTED, "size": 12}}
    fig.add_hline(y=chance, line={"color": colours.MUTED, "width": 1, "dash": "dot"})
    fig.add_annotation(x=0.02, y=chance, xanchor="left", yanchor="top", text="random choice", **words)
    if highest is not None:
        fig.add_vline(x=highest, line={"color": colours.MUTED, "width": 1, "dash": "dot"})
        fig.add_annotation(x=highest, y=0, xanchor="right", yanchor="bottom", text="highest for this order ", **words)
    fig.layout.xaxis = dict(title="recall (share of true edges found)", range=[-0.03, 1.03])
    fig.layout.yaxis = dict(title="precision", range=[-0.03, 1.03])
