"""Several methods side by side: how far every two agree, and time against accuracy."""

import itertools

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import roles, theme
from disco.figures.parents import different
from disco.figures.words import duration, how_many, log_ticks

_LONGEST = 30  # characters of a method's name
_MOST_WRITTEN = 14  # methods from which on the cells have no numbers


def agreement(values: pd.DataFrame, what: str) -> go.Figure:
    """How far every two methods agree, as a matrix.

    Args:
        values: from 0 to 1, (methods, methods), NaN where there is nothing to compare; the names are those shown.
        what: of what, as the title begins: "Orders", "Edges".
    """
    names = different([theme.label(name, _LONGEST) for name in values.columns])
    cells = values.to_numpy()
    fig = go.Figure(
        go.Heatmap(
            z=cells,
            x=names,
            y=names,
            zmin=0.0,
            zmax=1.0,
            colorscale=roles.SEQUENTIAL,
            colorbar={"thickness": 12},
            xgap=1,
            ygap=1,
            hoverongaps=False,
            texttemplate="%{z:.2f}" if len(names) <= _MOST_WRITTEN else None,
            hovertemplate="%{y} and %{x}: %{z:.3f}<extra></extra>",
        )
    )
    fig.update_xaxes(type="category", tickangle=-45, showgrid=False)
    fig.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return roles.titled(fig, _title(values, what), height=max(320, min(760, 190 + 30 * len(names))), legend=False)


def _title(values: pd.DataFrame, what: str) -> str:
    pairs = values.to_numpy(copy=True)
    pairs[np.tril_indices(len(pairs))] = np.nan
    if np.isnan(pairs).all():
        return f"{what}: fewer than two methods to compare"
    one, other = np.unravel_index(np.nanargmax(pairs), pairs.shape)
    names = [theme.label(values.columns[place], _LONGEST) for place in (one, other)]
    return (
        f"{what} of {how_many(len(pairs), 'method')}: {names[0]} and {names[1]} agree most, by {pairs[one, other]:.2f}"
    )


def time_and_f1(rows: pd.DataFrame) -> go.Figure:
    """F1 of every method by its time, on a logarithmic axis; the controls are hollow.

    Args:
        rows: columns name, seconds, f1, is_control; NaN where a method has no F1.
    """
    fig = go.Figure()
    known = rows[rows["f1"].notna()].sort_values("seconds", kind="stable")
    above = dict(
        zip(known.index, itertools.cycle(["top center", "bottom center"]), strict=False)
    )  # so that names rarely meet
    for is_control, name in ((False, "methods"), (True, "controls, which fit nothing")):
        part = known[known["is_control"] == is_control]
        if part.empty:
            continue
        fig.add_scatter(
            x=np.maximum(part["seconds"], 1e-3),
            y=part["f1"],
            mode="markers+text",
            name=name,
            text=[theme.label(label, _LONGEST) for label in part["name"]],
            textposition=[above[place] for place in part.index],
            customdata=[duration(seconds) for seconds in part["seconds"]],
            marker={
                "size": 11,
                "color": roles.MUTED if is_control else roles.PICKED,
                "symbol": "circle-open" if is_control else "circle",
                "line": {"width": 2},
            },
            hovertemplate="%{text}: F1 %{y:.3f} in %{customdata}<extra></extra>",
        )
    if len(known):
        low, high = (
            max(known["seconds"].min(), 1e-3) / 2.5,
            max(known["seconds"].max(), 1e-3) * 2.5,
        )  # room for the names
        places, words = log_ticks(low, high)
        fig.update_xaxes(range=list(np.log10([low, high])), tickvals=places, ticktext=words)
    fig.update_xaxes(title="seconds", type="log")
    least = max(0.0, known["f1"].min() - 0.2) if len(known) else 0.0
    fig.update_yaxes(title="F1 of directed edges", range=[least - 0.05, 1.08])
    title = "No method has an F1 yet"
    if len(known):
        best = known.loc[known["f1"].idxmax()]
        name, seconds = theme.label(best["name"], _LONGEST), duration(best["seconds"])
        title = f"{name} has the highest F1, {best['f1']:.2f}, in {seconds}"
    return roles.titled(fig, title, height=400)
