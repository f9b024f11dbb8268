"""The effects of an experiment: means without the causes over those on controls, with intervals and single units."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import roles, theme
from disco.figures.axes import log_ticks, named_rows
from disco.studies.experiment import Experiment
from disco.words import listed, series

_LONGEST = 4  # names in a title
_FULL = 30  # characters of a full name beside the axis
_HOVERED = 100  # characters of a name under the pointer
_WIDEST = (0.01, 100.0)  # of the axis


def effects(
    found: pd.DataFrame,
    means: pd.DataFrame,
    words: str,
    experiment: Experiment,
    names: Mapping[str, str] | None = None,
) -> go.Figure:
    """The ratio of every column with its interval, and of every single unit.

    Args:
        found: of `disco.studies.experiment.effects`.
        means: of the units, from which it was found.
        words: which units are compared with the controls.
        experiment: its other words.
        names: the full names of columns, shown beside the axis if short, and under the pointer.
    """
    fig, row = go.Figure(), {name: index for index, name in enumerate(found["node"])}
    shown, single = found.dropna(subset=["low", "high"]), _single(found, means)
    is_sure = (shown["low"] > 1) | (shown["high"] < 1)
    fig.add_scatter(
        x=single["ratio"],
        y=[row[name] for name in single["node"]],
        mode="markers",
        name=f"one {experiment.unit}",
        marker={"symbol": "circle-open", "size": 8, "color": roles.ACCENT, "line": {"width": 1.5}},
        customdata=single[["unit"]].assign(name=_full(single["node"], names)),
        hovertemplate=f"%{{customdata[1]}}, {experiment.unit} %{{customdata[0]}}: %{{x:.2f}}<extra></extra>",
    )
    for part, name, colour in (
        (shown[is_sure], f"all {experiment.unit}s; 1 is outside", roles.PICKED),
        (shown[~is_sure], f"all {experiment.unit}s; 1 is inside", roles.MUTED),
    ):
        spread = {"array": part["high"] - part["ratio"], "arrayminus": part["ratio"] - part["low"]}
        fig.add_scatter(
            x=part["ratio"],
            y=[row[one] for one in part["node"]],
            mode="markers",
            name=name,
            marker={"symbol": "diamond", "size": 12, "color": colour},
            error_x={"type": "data", "symmetric": False, **spread, "color": colour, "thickness": 2.5, "width": 5},
            customdata=part[["low", "high", "control", "treated"]].assign(name=_full(part["node"], names)),
            hovertemplate="%{customdata[4]}: %{x:.2f} (%{customdata[0]:.2f} to %{customdata[1]:.2f}); mean "
            f"{experiment.measured} %{{customdata[3]:.2f}}, on controls %{{customdata[2]:.2f}}<extra></extra>",
        )
    fig.add_vline(x=1, line={"color": roles.MUTED, "dash": "dot", "width": 1.5})
    low, high = min(*shown["low"], *single["ratio"], 0.5, 0.5) / 1.3, max(*shown["high"], *single["ratio"], 2, 2) * 1.3
    low, high = max(low, _WIDEST[0]), min(high, _WIDEST[1])
    ticks = dict(zip(("tickvals", "ticktext"), log_ticks(low, high), strict=True))
    fig.layout.xaxis = dict(type="log", range=[np.log10(low), np.log10(high)], **ticks)
    fig.layout.xaxis.title = f"{experiment.measured} over those on controls"
    fig.layout.yaxis = named_rows(in_words(name, names) for name in row)
    return roles.titled(fig, _title(shown, words, experiment), height=170 + 30 * len(row))


def in_words(node: str, names: Mapping[str, str] | None) -> str:
    """A column beside its axis: with its full name, unless that is long."""
    full = (names or {}).get(node, "")
    return f"{node} {full}" if full and len(full) <= _FULL else node


def _full(nodes: pd.Series, names: Mapping[str, str] | None) -> pd.Series:
    """The columns with their full names, where they have one."""
    return nodes.map(lambda node: theme.label(f"{node} {names[node]}" if names and node in names else node, _HOVERED))


def _single(found: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    """node, unit, ratio of every single unit without the causes; one without counts has none."""
    treated = means[~means["is_control"]]
    lines = [
        (one.node, unit, mean / one.control)
        for one in found.itertuples()
        for unit, mean in zip(treated["unit"], treated[one.node], strict=True)
        if mean > 0 and one.control > 0
    ]
    return pd.DataFrame(lines, columns=["node", "unit", "ratio"])


def _title(shown: pd.DataFrame, words: str, experiment: Experiment) -> str:
    """Which columns are seen more often there than on controls, and which less often."""
    higher, lower = (shown.loc[where, "node"].tolist() for where in (shown["low"] > 1, shown["high"] < 1))
    parts = [
        f"{_named(names)} {experiment.seen} {how} often" for names, how in ((higher, "more"), (lower, "less")) if names
    ]
    said = ", ".join(parts) if parts else f"no {experiment.noun} {experiment.seen} more or less often for sure"
    return f"{words[0].upper()}{words[1:]}, against controls: {said}"


def _named(names: list[str]) -> str:
    """Names in a sentence, the first few of many."""
    labels = [theme.label(name) for name in names]
    if len(names) > _LONGEST:
        return listed(labels, _LONGEST)
    return series(labels)
