"""The recursive sink removal as figures (paper, *DAG Recovery*, *CCS and OCS Computation*).

Each is a Plotly figure of a run's frames: `ccs` (step, remaining, node, fold, score, chosen) and `criteria` (step,
node, fold and one column per criterion and boundary).
"""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import axes, theme
from disco.figures.axes import log_axis, log_ticks
from disco.graph.draw import colours
from disco.paper.removals import Decision, all_steps, fold_scores, step_of
from disco.words import number

CRITERIA = {
    "ccs_clipped": "CCS<br>clipped",
    "ccs_admissible": "CCS<br>admissible",
    "constant_clipped": "constant<br>clipped",
    "constant_admissible": "constant<br>admissible",
}
SCORE_NAMES = {"ccs": "CCS", "constant": "constant-curvature score"}
LOWEST = "lowest other"  # score, as a multiple of the removed node's
ROW = 24  # pixels per node


def shown_rows(ccs: pd.DataFrame, step: int, order: Sequence[str], by: str, limit: int, keep: str | None) -> list[str]:
    """The nodes to draw in a step's figures, from the top: at most `limit`, those with the smallest scores.

    `by` is "order" for the causal order, with removed nodes left in place, or "score" for the smallest scores first.
    The node `keep` is always drawn.
    """
    means = fold_scores(ccs, step).mean(axis=1).sort_values(kind="stable")
    selected = means.index[:limit].tolist()
    if keep in means.index and keep not in selected:
        selected = selected[:-1] + [keep]
    if by == "score":
        return selected
    return [node for node in order if node in set(selected)] if len(order) > limit else list(order)


def scores(
    ccs: pd.DataFrame,
    step: int,
    rows: Sequence[str],
    picked: str | None = None,
    name: str = "CCS",
    true_sinks: Collection[str] = (),
) -> go.Figure:
    """The score of every remaining node at one step: a small mark per fold, and a large one for the mean.

    The logarithmic scale is the same at every step, so that only the marks move in the animation. `ccs` has the columns
    step, remaining, node, fold, score, chosen; `rows` are the nodes to draw, from the top, where removed nodes have an
    empty row. Nodes in `true_sinks`, known to be sinks at this step, have a ring.
    """
    decided = step_of(all_steps(ccs[ccs["step"] == step]), step)
    values = fold_scores(ccs, step)
    drawn = [node for node in rows if node in values.index]
    position = {node: row for row, node in enumerate(rows)}
    low, high = _range(ccs["score"])
    values = values.loc[drawn].clip(lower=low)
    fig = go.Figure()
    _folds(fig, values, position)
    _means(fig, values.mean(axis=1), position, decided, picked)
    if ringed := [node for node in values.index if node in true_sinks]:
        look = {"symbol": "circle-open", "size": 18, "color": colours.PICKED, "line": {"width": 2}}
        heights = [position[node] for node in ringed]
        axes.marks(fig, values.mean(axis=1)[ringed], heights, look, "sink in the known graph")
    _margin(fig, decided, low, high)
    _node_axis(fig, rows, set(values.index), decided.sink, picked)
    fig.update_yaxes(range=[len(rows) - 0.4, -1.6])  # one row above the nodes for the margin's label
    fig.layout.xaxis = log_axis(f"{name} (mean and each fold, log scale)", low, high, log_ticks(low, high))
    last = int(ccs["step"].max())
    sink = theme.label(decided.sink, 24)
    why = f"{sink} has the smallest {name}" if decided.margin >= 0 else f"the rules make {sink} the sink"
    title = f"Step {step} of {last}: {why}"
    return theme.titled(fig, title, height=150 + ROW * (len(rows) + 1))


def _folds(fig: go.Figure, values: pd.DataFrame, position: dict[str, int]) -> None:
    x = np.column_stack([values.min(axis=1), values.max(axis=1), np.full(len(values), np.nan)]).ravel()
    axes.lines(fig, x, np.repeat([position[node] for node in values.index], 3), {"color": colours.MUTED, "width": 1.5})
    look = {"color": colours.MUTED, "size": 9, "symbol": "line-ns-open", "line": {"width": 1.5}}
    rows, data = [position[node] for node in values.index], [theme.label(node) for node in values.index]
    for fold in values.columns:
        hover, is_first = f"%{{customdata}}, fold {fold}: %{{x:.3g}}", bool(fold == values.columns[0])
        axes.marks(fig, values[fold], rows, look, "each fold", hover, customdata=data, showlegend=is_first)


def _means(fig: go.Figure, means: pd.Series, position: dict[str, int], decided: Decision, picked: str | None) -> None:
    marker_colours = [
        colours.ACCENT if node == decided.sink else colours.PICKED if node == picked else colours.MUTED
        for node in means.index
    ]
    look = {"color": marker_colours, "size": 11, "line": {"width": 0}}
    rows, hover = [position[node] for node in means.index], "%{text}: %{x:.3g}, mean of the folds"
    words = {"customdata": list(means.index), "text": [theme.label(node) for node in means.index]}
    axes.marks(fig, means, rows, look, "mean of the folds", hover, showlegend=False, **words)


def _margin(fig: go.Figure, decided: Decision, low: float, high: float) -> None:
    """A band from the removed node's score to the lowest of the others, with their ratio above the nodes."""
    x_min, x_max = max(decided.score, low), max(decided.score + decided.margin, low)
    fig.add_vrect(x0=x_min, x1=x_max, fillcolor=colours.ACCENT, opacity=0.15, line_width=0, layer="below")
    fig.add_annotation(
        x=np.log10(x_max),
        y=-1,
        xref="x",
        yref="y",
        yanchor="middle",
        showarrow=False,
        xanchor="left" if x_max**2 < low * high else "right",
        text=f"{LOWEST}: {number(decided.ratio)} ×",
        font={"color": colours.ACCENT, "size": 12},
    )


def _range(values: pd.Series) -> tuple[float, float]:
    """A padded range of the positive values; zeros are drawn at its low end."""
    positive = values[values > 0]
    if positive.empty:
        return 1e-3, 1.0
    return positive.min() / 1.3, positive.max() * 1.3


def _node_axis(fig: go.Figure, rows: Sequence[str], present: set[str], sink: str, picked: str | None) -> None:
    def written(node: str) -> str:
        text = theme.label(node, 18)
        if node not in present:
            return f'<span style="color:{colours.FAINT}">{text}</span>'
        return f"<b>{text}</b>" if node in (sink, picked) else text

    fig.layout.yaxis = dict(
        tickvals=list(range(len(rows))),
        ticktext=[written(node) for node in rows],
        range=[len(rows) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
        title=None,
    )


def criteria(frame: pd.DataFrame, step: int, rows: Sequence[str]) -> go.Figure:
    """Each remaining node's score as a multiple of the smallest, under both criteria and both boundaries. `frame` has
    the columns step, node, fold and the four of `CRITERIA`; NaN if a score is unavailable."""
    means = mean_criteria(frame, step)
    present = [node for node in rows if node in means.index]
    smallest = means.min()
    relative = (means / smallest.where(smallest > 0)).loc[present]
    sinks = {column: means[column].idxmin() for column in means if means[column].notna().any()}
    text = [
        ["–" if np.isnan(v) else "sink" if sinks.get(c) == node else f"{number(v)} ×" for c, v in row.items()]
        for node, row in relative.iterrows()
    ]
    fig = go.Figure(
        go.Heatmap(
            z=np.log10(relative.to_numpy()),
            x=list(range(len(CRITERIA))),
            y=list(range(len(present))),
            text=text,
            texttemplate="%{text}",
            textfont={"size": 12},
            zmin=0,
            zmax=2,
            colorscale=colours.SINK_SCALE,
            showscale=False,
            xgap=2,
            ygap=2,
            customdata=means.loc[present].to_numpy(),
            hovertemplate="score %{customdata:.4g}<extra></extra>",
        )
    )
    fig.layout.xaxis = dict(
        tickvals=list(range(len(CRITERIA))),
        ticktext=list(CRITERIA.values()),
        side="top",
        showgrid=False,
        zeroline=False,
    )
    _node_axis(fig, present, set(present), "", None)
    title = _criteria_title(sinks)
    return theme.titled(fig, title, height=150 + ROW * len(present))


def mean_criteria(frame: pd.DataFrame, step: int) -> pd.DataFrame:
    """The mean over folds of the four scores at one step, (nodes, 4); NaN if a fold lacks the score."""
    at = frame[frame["step"] == step]
    folds = at["fold"].nunique()
    grouped = at.groupby("node", sort=False)[list(CRITERIA)]
    return grouped.mean().where(grouped.count() == folds)


def _criteria_title(sinks: dict[str, str]) -> str:
    names = list(dict.fromkeys(sinks.values()))
    if len(names) == 1:
        return f"Every criterion and boundary would remove {theme.label(names[0], 24)}"
    removals = [f"{CRITERIA[column].replace('<br>', ', ')}: {theme.label(node, 18)}" for column, node in sinks.items()]
    return "The criteria differ. " + "; ".join(removals)
