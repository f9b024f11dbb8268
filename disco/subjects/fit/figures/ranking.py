"""The causal order as a ranked list, source first: for every node, how clearly it was put after those above it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import axes, theme
from disco.figures.axes import log_ticks
from disco.graph.draw import colours
from disco.verdicts import CLOSE
from disco.words import share

ROW = 22  # pixels per node


def ranking(
    order: Sequence[str],
    steps: pd.DataFrame,
    wrong: Sequence[int] = (),
    positions: range | None = None,
    marked: str | None = None,
) -> go.Figure:
    """The nodes from the top, each with the score of the runner-up divided by its own when it was removed.

    The first in the order, source first, was never removed and has no mark. `steps` is from
    `disco.paper.removals.all_steps`; the steps in `wrong`, which removed a node before one of its true children, have
    crosses. Only `positions` in the order, from 0, are drawn, on the scale of all. The name of the node `marked` is
    bold.
    """
    positions = range(len(order)) if positions is None else positions
    row = {node: position for position, node in enumerate(order)}
    removals = steps.assign(row=steps["sink"].map(row), shown=steps["ratio"].clip(lower=1.0, upper=1e3).fillna(1e3))
    drawn = removals[removals["row"].isin(positions)]
    agree = drawn["folds_agreeing"] == drawn["folds"]
    fig = go.Figure()
    _stems(fig, drawn)
    _marks(fig, drawn[agree], "all folds agree", colours.PICKED, "circle")
    _marks(fig, drawn[~agree], "folds disagree", colours.ACCENT, "circle-open")
    if len(crossed := drawn[drawn["step"].isin(wrong)]):
        look = {"symbol": "x-thin", "size": 13, "color": colours.WRONG, "line": {"width": 3, "color": colours.WRONG}}
        axes.marks(fig, crossed["shown"], crossed["row"], look, "wrong according to the known graph")
    top = max(2.0, float(removals["shown"].max()) * 1.2) if len(removals) else 2.0
    tickvals, words = log_ticks(1.0, top)
    fig.layout.xaxis = dict(
        type="log",
        range=[-0.03, np.log10(top)],
        tickvals=tickvals,
        ticktext=[f"× {word}" for word in words],
        title="runner-up's score ÷ its own",
        side="top",  # in sight where a long list scrolls
    )
    names = [f"{position + 1}  {theme.label(order[position], 18)}" for position in positions]
    fig.layout.yaxis = dict(
        tickvals=list(positions),
        ticktext=[f"<b>{name}</b>" if order[at] == marked else name for at, name in zip(positions, names, strict=True)],
        range=[positions.stop - 0.4, positions.start - 0.6],
        tickfont={"size": 14},
        showgrid=False,
        title=None,
    )
    return theme.titled(fig, _title(removals), height=110 + ROW * len(positions), legend=False)


def _stems(fig: go.Figure, drawn: pd.DataFrame) -> None:
    gap = np.full(len(drawn), np.nan)
    look = {"color": colours.FAINT, "width": 1.5}
    x = np.column_stack([np.ones(len(drawn)), drawn["shown"], gap]).ravel()
    axes.lines(fig, x, np.column_stack([drawn["row"], drawn["row"], gap]).ravel(), look)


def _marks(fig: go.Figure, removals: pd.DataFrame, name: str, colour: str, symbol: str) -> None:
    if removals.empty:
        return
    sinks, runners_up = ([theme.label(node) for node in removals[which]] for which in ("sink", "runner_up"))
    folds = [share(a, b) for a, b in zip(removals["folds_agreeing"], removals["folds"], strict=True)]
    words = [
        f"{sink}, step {step}: {runner_up} scored × {ratio:.3g}, {agreeing} folds"
        for sink, step, runner_up, ratio, agreeing in zip(
            sinks, removals["step"], runners_up, removals["ratio"], folds, strict=True
        )
    ]
    look = {"color": colour, "symbol": symbol, "size": 10, "line": {"width": 2, "color": colour}}
    data = list(removals["sink"])
    axes.marks(fig, removals["shown"], removals["row"], look, name, "%{text}", customdata=data, text=words)


def _title(steps: pd.DataFrame) -> str:
    won = steps[steps["ratio"] >= 1]
    close, gap = int((won["ratio"] < CLOSE).sum()), f"{CLOSE - 1:.0%}".replace("%", " %")
    if not close:
        which = "every step" if len(won) == len(steps) else "every step that knowledge did not decide,"
        return f"At {which} the runner-up was at least {gap} behind"
    return f"At {share(close, len(steps))} steps the runner-up was less than {gap} behind"
