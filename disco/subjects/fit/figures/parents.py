"""Parent selection as figures: Z = (OCS − median) / scale > τ_Z in a share π_min of the folds (paper, *Parent
Selection*).

Equivalently, an edge passes in a fold if its OCS is above the threshold line: median + τ_Z · scale of the child's
candidates in that fold.
"""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.columns import FREQUENCY, OCS, Z
from disco.figures import axes, theme
from disco.figures.axes import log_ticks
from disco.graph.draw import colours
from disco.paper import ocs as scored
from disco.paper.ocs import frequencies, passes, reaches, robust_scale
from disco.words import how_many, share

ROW = 24  # pixels per candidate
_HIGHEST, _STEP, _MOVED = 5.0, 0.05, 0.25  # sensitivity curve: end, step, and the change of τ_Z in the title
MOST_CELLS = 400  # of the matrix along a side; of more nodes, a cell has several
MATRIX_VALUES = {column.name: column.label for column in (OCS, Z, FREQUENCY)}


def thresholds(ocs: pd.DataFrame, child: str, tau_z: float) -> pd.Series:
    """The OCS threshold for candidates of `child`, by fold; `ocs` has the columns fold, parent, child, ocs, z."""
    by_fold = {}
    for fold, values in ocs[ocs["child"] == child].groupby("fold"):
        scores, z = values["ocs"].to_numpy(), values["z"].to_numpy()
        if len(values) > 1:
            by_fold[fold] = np.median(scores) + tau_z * robust_scale(scores)
        else:  # a single candidate is not centred; other children set its scale
            by_fold[fold] = tau_z * scores[0] / z[0] if z[0] else np.inf
    return pd.Series(by_fold, dtype=float)


def highest_z(candidates: int) -> float:
    """The largest possible Z of one of a child's candidates; infinite if unbounded.

    With two candidates the larger one is one interquartile range above the median; with three it is at most two, with
    four at most four. Z is unbounded with five or more, and for a single candidate, which is not centred.
    """
    return {2: 1.0, 3: 2.0, 4: 4.0}.get(candidates, np.inf)


def cannot_select(order: Sequence[str], tau_z: float) -> list[tuple[str, int, float]]:
    """Children whose candidates cannot pass, whatever the scores: (child, candidates, highest Z)."""
    steps = enumerate(order)
    return [(child, k, highest_z(k)) for k, child in steps if highest_z(k) <= tau_z]


def candidates(
    ocs: pd.DataFrame,
    child: str,
    tau_z: float,
    pi_min: float,
    by: str = "ocs",
    limit: int = 20,
    true_parents: Collection[str] = (),
) -> go.Figure:
    """The scores of a child's candidates in each fold, with each fold's threshold line.

    `ocs` has the columns fold, parent, child, ocs, curvature, z. `by` is "ocs", each fold with its own threshold; "z",
    one threshold for all; or "curvature", around zero. The `limit` candidates with the highest means are drawn; a star
    before the name marks `true_parents`.
    """
    of_child = ocs[ocs["child"] == child]
    table = frequencies(of_child, tau_z).sort_values("ocs" if by == "ocs" else "z", ascending=False, kind="stable")
    drawn = table.head(limit).reset_index(drop=True)
    position = {parent: row for row, parent in enumerate(drawn["parent"])}
    fig, shapes = go.Figure(), []
    lines = thresholds(ocs, child, tau_z) if by == "ocs" else None
    for index, (fold, values) in enumerate(of_child[of_child["parent"].isin(position)].groupby("fold")):
        _fold_marks(fig, values, by, position, theme.fold_colour(index), f"fold {fold}")
        if lines is not None and np.isfinite(lines[fold]):
            shapes.append(_line(lines[fold], theme.fold_colour(index)))
    if by == "z":
        shapes.append(_line(tau_z, colours.MUTED))
    if by == "curvature":
        shapes.append(_line(0.0, colours.MUTED))
    _candidate_axis(fig, drawn, pi_min, int(of_child["fold"].nunique()), shapes, true_parents)
    names = {
        "ocs": "OCS (dashed: each fold's threshold)",
        "z": f"Z (dashed: τ_Z = {tau_z:g})",
        "curvature": "mean curvature (positive: both rise together)",
    }
    fig.layout.xaxis = dict(title=names[by], rangemode="tozero")
    title = _candidates_title(child, table, pi_min, len(drawn))
    return theme.titled(fig, title, height=140 + ROW * max(len(drawn), 2))


def _fold_marks(
    fig: go.Figure, values: pd.DataFrame, by: str, position: dict[str, int], colour: str, name: str
) -> None:
    look = {"color": colour, "size": 9, "symbol": "circle-open", "line": {"width": 2}}
    hover = "%{customdata[0]}, " + name + ": OCS %{customdata[1]:.3g}, Z %{customdata[2]:.2f}"
    data = list(zip(map(theme.label, values["parent"]), values["ocs"], values["z"], strict=True))
    axes.marks(fig, values[by], [position[parent] for parent in values["parent"]], look, name, hover, customdata=data)


def _line(x: float, colour: str) -> dict:
    line = {"color": colour, "width": 1.5, "dash": "dash"}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _candidate_axis(
    fig: go.Figure, drawn: pd.DataFrame, pi_min: float, folds: int, shapes: list[dict], true_parents: Collection[str]
) -> None:
    """Label the candidates with their number of folds; selected ones are bold on a band. All shapes are set at once,
    because Plotly checks the whole list for each one added."""
    words, look = [], {"fillcolor": colours.PICKED, "opacity": 0.13, "layer": "below", "line": {"width": 0}}
    band = {"type": "rect", "x0": 0, "x1": 1, "xref": "paper", **look}
    for (row, edge), is_selected in zip(drawn.iterrows(), passes(drawn, pi_min), strict=True):
        star = "★ " if edge["parent"] in true_parents else ""
        text = f"{star}{theme.label(edge['parent'], 18)}  {round(edge['frequency'] * folds)}/{folds}"
        words.append(f"<b>{text}</b>" if is_selected else text)
        if is_selected:
            shapes.append({**band, "y0": row - 0.42, "y1": row + 0.42})
    fig.update_layout(shapes=shapes)
    fig.layout.yaxis = dict(
        tickvals=list(range(len(drawn))), ticktext=words, range=[len(drawn) - 0.4, -0.6], showgrid=False
    )


def _candidates_title(child: str, table: pd.DataFrame, pi_min: float, drawn: int) -> str:
    selected = np.count_nonzero(passes(table, pi_min))
    title = f"{theme.label(child, 24)} keeps {selected} of {how_many(len(table), 'candidate parent')}"
    return title if drawn == len(table) else f"{title}; the {drawn} highest are shown"


def matrix(
    table: pd.DataFrame,
    order: Sequence[str],
    pi_min: float,
    by: str = "ocs",
    picked: str | None = None,
    truth: pd.DataFrame | None = None,
) -> go.Figure:
    """Every candidate edge, parents as rows and children as columns in causal order; selected edges are outlined.

    Of more nodes than `MOST_CELLS`, a cell has several neighbours in the order, and the highest of their values.
    `table` is from `frequencies`: parent, child, ocs, z, frequency; `by` one of `MATRIX_VALUES`; `picked` a child whose
    column is marked. True edges, columns parent and child, have a dot, or a red cross if against the order.
    """
    position = {node: index for index, node in enumerate(order)}
    rows, columns = table["parent"].map(position).to_numpy(), table["child"].map(position).to_numpy()
    values = np.full((len(order), len(order)), np.nan)
    values[rows, columns] = table[by].to_numpy()
    side = -(-len(order) // MOST_CELLS)
    words = different(_named_cells(order, side))
    fig = go.Figure(_cells(_highest(values, side), by, words))
    selected = np.asarray(passes(table, pi_min))
    size = max(3.0, min(12.0, 420 / len(words)))
    outlined = list(dict.fromkeys(zip(rows[selected] // side, columns[selected] // side, strict=True)))
    look = {"symbol": "square-open", "size": size, "color": colours.ACCENT, "line": {"width": 2 if size > 6 else 1.2}}
    axes.marks(fig, [words[column] for _, column in outlined], [words[row] for row, _ in outlined], look, "kept edge")
    if truth is not None:
        true_dots(fig, truth, position, words, size, side)
    if picked in position:
        at = position[picked] // side
        fig.add_vrect(x0=at - 0.5, x1=at + 0.5, line={"color": colours.MUTED, "width": 1})
    matrix_axes(fig, words)
    title = f"{how_many(int(selected.sum()), 'edge')} kept of {len(table):,} allowed by the order"
    if side > 1:
        title += f". A cell has {side} × {side} pairs and shows the highest of them"
    return theme.titled(fig, title, height=max(360, min(760, 170 + 26 * len(order))))


def _named_cells(order: Sequence[str], side: int) -> list[str]:
    """The names of the cells along a side of the matrix: of a node, or of the first and the last of several."""
    if side == 1:
        return [theme.label(node, 18) for node in order]
    several = [order[first : first + side] for first in range(0, len(order), side)]
    return [f"{theme.label(nodes[0], 9)} … {theme.label(nodes[-1], 9)}" for nodes in several]


def _highest(values: np.ndarray, side: int) -> np.ndarray:
    """The highest of every `side` × `side` values; NaN where all are."""
    if side == 1:
        return values
    cells = -(-len(values) // side)
    padded = np.pad(values, (0, cells * side - len(values)), constant_values=np.nan)
    return np.fmax.reduce(np.fmax.reduce(padded.reshape(cells, side, cells, side), axis=3), axis=1)


def true_dots(
    fig: go.Figure, truth: pd.DataFrame, position: dict[str, int], words: list[str], size: float, side: int = 1
) -> None:
    """A dot on every true edge, and a red cross on those that run against the order; `side` nodes share a word."""
    rows, columns = (truth[end].map(position).to_numpy(dtype=int) for end in ("parent", "child"))
    allowed = rows < columns
    # White with a dark outline is visible on every blue, on light and dark pages.
    dot = {"symbol": "circle", "color": "#FFFFFF", "line": {"color": "#1F2A30", "width": 1.2}}
    for marked, look, name in (
        (allowed, dot, "true edge"),
        (~allowed, {"symbol": "x", "color": colours.WRONG}, "true edge against the order"),
    ):
        if marked.any():
            x = [words[k] for k in columns[marked] // side]
            axes.marks(fig, x, [words[k] for k in rows[marked] // side], {"size": max(2.5, 0.6 * size), **look}, name)


def _cells(values: np.ndarray, by: str, words: list[str]) -> go.Heatmap:
    """OCS on a logarithmic scale, because it spans orders of magnitude; Z and frequency on a linear one."""
    finite = values[np.isfinite(values)]
    bar: dict[str, object] = {"title": {"text": MATRIX_VALUES[by]}, "thickness": 12}
    limits: dict[str, float] = {}
    drawn = values
    if by == "ocs":
        positive = finite[finite > 0]
        low, high = (positive.min(), positive.max()) if len(positive) else (1e-3, 1.0)
        low = max(low, high / 1e4)
        with np.errstate(divide="ignore"):
            drawn = np.log10(np.where(values > 0, np.maximum(values, low), np.where(np.isnan(values), np.nan, low)))
        tickvals, ticks = log_ticks(low, high)
        bar |= {"tickvals": [float(np.log10(value)) for value in tickvals], "ticktext": ticks}
    elif by == "z":
        limits = {"zmin": 0.0, "zmax": float(np.quantile(finite, 0.98)) if len(finite) else 1.0}
    else:
        limits = {"zmin": 0.0, "zmax": 1.0}
    gap = 1 if len(words) <= 60 else 0
    return go.Heatmap(
        z=drawn.astype(np.float32),
        x=words,
        y=words,
        colorscale=colours.SEQUENTIAL,
        colorbar=bar,
        hovertemplate="%{y} → %{x}: %{customdata:.3g}<extra>" + MATRIX_VALUES[by] + "</extra>",
        customdata=values.astype(np.float32),
        xgap=gap,
        ygap=gap,
        hoverongaps=False,
        **limits,
    )


def different(words: list[str]) -> list[str]:
    """Names made unique by their position if shortened to the same text: an axis merges equal names."""
    seen = {word for word in words if words.count(word) > 1}
    return [f"{word} ({number})" if word in seen else word for number, word in enumerate(words, 1)]


def matrix_axes(fig: go.Figure, words: list[str]) -> None:
    """Parents from top to bottom, children from left to right, both in causal order."""
    spacing = -(-len(words) // 35)
    ticks = {"type": "category", "tickvals": words[::spacing], "showgrid": False, "zeroline": False}
    fig.layout.xaxis = dict(**ticks, title="child, in causal order", tickangle=-60, range=[-0.5, len(words) - 0.5])
    fig.layout.yaxis = dict(**ticks, title="parent, in causal order", range=[len(words) - 0.5, -0.5])


def sensitivity(ocs: pd.DataFrame, tau_z: float, pi_min: float) -> go.Figure:
    """Number of edges selected at each threshold, one line per π_min; the current choice is marked. `ocs` has the
    columns fold, parent, child, ocs, z, for every candidate edge."""
    fig = go.Figure()
    cut_offs = [tau_z - _MOVED, tau_z, tau_z + _MOVED]
    last = max(_HIGHEST, cut_offs[-1])
    table = scored.sensitivity(ocs, sorted({*cut_offs, *np.arange(0.0, last + 1e-9, _STEP)}))
    shares = np.sort(table["pi_min"].unique())
    chosen = next((value for value in shares if reaches(value, pi_min)), shares[-1])  # the folds π_min requires
    folds = table["pi_min"].nunique()
    for index, (share_of_folds, line) in enumerate(table[table["tau_z"] >= 0].groupby("pi_min")):
        bold = share_of_folds == chosen
        words = f"{share(index + 1, folds)} folds" if folds > 1 else "all folds"
        look = {"color": colours.PICKED if bold else colours.MUTED, "width": 3 if bold else 1.8, "shape": "hv"}
        look["dash"] = ("solid", "dash", "dot", "dashdot")[(folds - 1 - index) % 4]
        hover = f"τ_Z = %{{x:.2f}}, in {words}: %{{y}} edges"
        axes.lines(fig, line["tau_z"], line["edges"], look, words, hover, showlegend=folds > 1)
    edges = table[table["pi_min"] == chosen].set_index("tau_z")["edges"]
    lower, here, higher = (int(edges[tau]) for tau in cut_offs)
    fig.add_vline(x=tau_z, line={"color": colours.MUTED, "width": 1, "dash": "dot"})
    axes.marks(fig, [tau_z], [here], {"color": colours.PICKED, "size": 12})
    fig.layout.xaxis = dict(title="threshold τ_Z", zeroline=False)
    fig.layout.yaxis = dict(title="edges kept", rangemode="tozero")
    moved = f"{lower} if it is {_MOVED:g} lower, {higher} if {_MOVED:g} higher"
    return theme.titled(fig, f"{how_many(here, 'edge')} at τ_Z = {tau_z:g}; {moved}", height=360)
