"""Why a node is or is not a sink: its curvature at each held-out row, grouped as the CCS groups it.

For a sink the curvature Ĥ_j(x) depends on x_j alone, so it does not vary among rows of the same rank. The CCS is
the variance within ranks; the constant-curvature criterion is the variance over all rows (paper, *Curvature
Scores* and *CCS and OCS Computation*).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from disco.figures import axes, theme
from disco.figures.axes import evenly
from disco.graph.draw import colours
from disco.words import number

MOST_POINTS = 6000  # most points drawn per node; the statistics use every row
MANY_LEVELS = 16  # more ranks than this are drawn as a line with bars
_MOST_TICKS = 10  # per panel; they fit side by side on a phone
SPREAD = 0.8  # share of a rank's width filled by its folds


@dataclass(frozen=True)
class VarianceParts:
    """A node's curvature variance, averaged over folds.

    Attributes:
        within: the CCS: the variance within ranks, weighted by the number of rows.
        total: the constant-curvature score: the variance over all rows, or over the admissible ones.
        rows, levels: numbers of rows and ranks that the CCS uses, over all folds.
        left_out: number of rows in ranks with too few.
    """

    within: float
    total: float
    rows: int
    levels: int
    left_out: int


def levels(curvature: pd.DataFrame, min_rows: int, admissible_only: bool) -> pd.DataFrame:
    """One row per fold and rank: its rows, mean and sample variance of the curvature, and whether the CCS uses it.

    `curvature` has the columns fold, row, rank, curvature, admissible; rows whose shifts leave the grid are excluded if
    `admissible_only`, and `min_rows` is n_min.
    """
    used = curvature[curvature["admissible"].astype(bool)] if admissible_only else curvature
    table = used.groupby(["fold", "rank"])["curvature"].agg(rows="size", mean="mean", variance="var").reset_index()
    table["counts"] = table["rows"] >= min_rows
    return table


def parts(curvature: pd.DataFrame, min_rows: int, admissible_only: bool) -> VarianceParts:
    """The variance within ranks and the total variance, as the two criteria compute them."""
    table = levels(curvature, min_rows, admissible_only)
    counted = table[table["counts"]]
    weighted = (counted["rows"] * counted["variance"]).groupby(counted["fold"]).sum()
    within = (weighted / counted.groupby("fold")["rows"].sum()).mean()
    used = curvature[curvature["admissible"].astype(bool)] if admissible_only else curvature
    total = used.groupby("fold")["curvature"].var().mean()
    rows = int(counted["rows"].sum())
    return VarianceParts(float(within), float(total), rows, len(counted), int(table["rows"].sum()) - rows)


def by_rank(
    nodes: dict[str, pd.DataFrame], sink: str, min_rows: int = 2, admissible_only: bool = False, seed: int = 0
) -> go.Figure:
    """The curvature of one or two nodes (frames as in `levels`) against their rank, on a common scale. `sink` is the
    node that the step removes. Rows whose shifts leave the grid are drawn faint, if they are not used."""
    titles = [f"{theme.label(node, 18)}: {'the sink' if node == sink else 'stays'}" for node in nodes]
    fig = make_subplots(rows=1, cols=len(nodes), shared_yaxes=True, subplot_titles=titles, horizontal_spacing=0.06)
    fig.update_annotations(font_size=12)  # two fit side by side on a phone
    kinds = [frame["rank"].nunique() > MANY_LEVELS for frame in nodes.values()]
    for column, (node, frame) in enumerate(nodes.items(), start=1):
        is_dense = kinds[column - 1]
        table, has_legend = levels(frame, min_rows, admissible_only), is_dense not in kinds[: column - 1]
        _points(fig, column, frame, admissible_only, has_legend, seed)
        fig.update_xaxes(title=f"rank of {theme.label(node, 18)}", col=column, zeroline=False, tickformat="d")
        if is_dense:
            _band(fig, column, table, has_legend)
        else:
            _bars(fig, column, table)
            fig.update_xaxes(dtick=-(-int(np.ptp(frame["rank"]) + 1) // _MOST_TICKS), col=column)
    fig.update_yaxes(title="curvature (change of the log ratio)", col=1)
    fig.update_yaxes(range=_middle(nodes))
    theme.titled(fig, _title(nodes, sink, min_rows, admissible_only), height=450)
    return fig.update_layout(legend={"y": 1.1})  # above the panels' own titles


def _title(nodes: dict[str, pd.DataFrame], sink: str, min_rows: int, admissible_only: bool) -> str:
    variances = {node: parts(frame, min_rows, admissible_only) for node, frame in nodes.items()}
    if len(variances) == 1:
        node, value = next(iter(variances.items()))
        return (
            f"Within ranks of {theme.label(node, 18)}, the curvature has a standard deviation of "
            f"{number(value.within**0.5)}"
        )
    runner_up = next(node for node in variances if node != sink)
    return (
        f"Within ranks, the curvature of {theme.label(runner_up, 18)} has a standard deviation of "
        f"{number(variances[runner_up].within ** 0.5)}, and that of {theme.label(sink, 18)} "
        f"{number(variances[sink].within ** 0.5)}"
    )


def _middle(nodes: dict[str, pd.DataFrame]) -> list[float]:
    """Limits of the curvature axis, without 0.2 % of the rows at each end."""
    values = np.concatenate([frame["curvature"].to_numpy() for frame in nodes.values()])
    values = values[np.isfinite(values)]
    low, high = np.quantile(values, [0.002, 0.998]) if len(values) else (-1.0, 1.0)
    pad = 0.08 * (high - low) or 0.5
    return [float(low - pad), float(high + pad)]


def _shift(frame: pd.DataFrame, folds: list[int]) -> np.ndarray:
    offset = {fold: (index + 0.5) / len(folds) - 0.5 for index, fold in enumerate(folds)}
    return frame["fold"].map(offset).to_numpy() * SPREAD


def _points(
    fig: go.Figure, column: int, frame: pd.DataFrame, admissible_only: bool, has_legend: bool, seed: int
) -> None:
    folds = sorted(frame["fold"].unique())
    is_dense = frame["rank"].nunique() > MANY_LEVELS
    drawn = frame.iloc[evenly(np.arange(len(frame)), MOST_POINTS)]
    jitter = np.random.default_rng(seed).uniform(-0.4, 0.4, len(drawn)) * SPREAD / len(folds)
    across = drawn["rank"].to_numpy() + (0 if is_dense else _shift(drawn, folds) + jitter)
    counted = drawn["admissible"].to_numpy(dtype=bool) if admissible_only else np.ones(len(drawn), dtype=bool)
    for index, fold in enumerate(folds):
        colour = colours.MUTED if is_dense else theme.fold_colour(index)
        in_fold = (drawn["fold"] == fold).to_numpy()
        fig.add_scattergl(
            x=across[in_fold],
            y=drawn["curvature"].to_numpy()[in_fold],
            mode="markers",
            name=f"fold {fold}",
            marker={"color": colour, "size": 4, "opacity": np.where(counted, 0.4, 0.08)[in_fold]},
            legendgroup=f"fold {fold}",
            showlegend=has_legend and not is_dense,
            customdata=drawn["row"].to_numpy()[in_fold],
            hovertemplate="row %{customdata}: %{y:.3g}<extra></extra>",
            row=1,
            col=column,
        )


def _bars(fig: go.Figure, column: int, table: pd.DataFrame) -> None:
    """Each rank's mean ± one standard deviation; ranks with too few rows have no bar."""
    used = table[table["counts"]]
    folds = sorted(table["fold"].unique())
    across = used["rank"].to_numpy() + _shift(used, folds)
    for index, fold in enumerate(folds):
        in_fold = (used["fold"] == fold).to_numpy()
        bar, spread = used[in_fold], np.sqrt(used["variance"][in_fold])
        colour = theme.fold_colour(index)
        look = {"symbol": "line-ew-open", "size": 14, "color": colour, "line": {"width": 3}}
        hover = "%{customdata[0]} rows, mean %{y:.3g}, standard deviation %{customdata[1]:.3g}"
        error = {"array": spread, "thickness": 2.5, "width": 5, "color": colour}
        name = f"fold {fold}"
        panel: dict[str, Any] = {"legendgroup": name, "showlegend": False, "row": 1, "col": column}
        data = np.column_stack([bar["rows"], spread])
        axes.marks(fig, across[in_fold], bar["mean"], look, name, hover, error_y=error, customdata=data, **panel)


def _band(fig: go.Figure, column: int, table: pd.DataFrame, has_legend: bool) -> None:
    """With many ranks: the mean as a line, with ± one standard deviation as a bar at each rank used."""
    used = table[table["counts"]]
    pooled = used.groupby("rank").apply(
        lambda rank: pd.Series(
            {
                "mean": np.average(rank["mean"], weights=rank["rows"]),
                "sd": np.sqrt(np.average(rank["variance"], weights=rank["rows"])),
            }
        ),
        include_groups=False,
    )
    if pooled.empty:
        return
    look, name = {"color": colours.PICKED, "width": 1.5}, "mean ± standard deviation within a rank"
    error = {"array": pooled["sd"], "thickness": 1.2, "width": 0, "color": colours.PICKED}
    panel: dict[str, Any] = {"showlegend": has_legend, "row": 1, "col": column}
    axes.lines(fig, pooled.index, pooled["mean"], look, name, "rank %{x}: mean %{y:.3g}", error_y=error, **panel)
