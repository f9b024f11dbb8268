"""Loss curves of the two networks, smoothed, with the best epochs marked and overfitting described in words.

Smoothing is an exponential moving average: x_s has the weight w^(t - s) at epoch t, also if epochs lack a value.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures.theme import empty, fold_colour, fold_dash, layout

SMOOTHING = 0.8  # the app's initial weight of the past
_MOST_POINTS = 500
_WORSE = 0.05  # smallest reported rise above the lowest validation loss, as a share of the loss's range
_FALLS = 0.1  # smallest reported fall at the end, from one quarter of the epochs to the next, as a share of the range
_LAST = 3  # number of last validation losses for computing a rise
_EPOCHS = 10  # number of training losses averaged to judge whether they fall


def smooth(values: np.ndarray, weight: float) -> np.ndarray:
    """The exponential moving average, (epochs,), NaN where a value is missing; `weight` is from 0 (none) to below 1."""
    if weight <= 0:
        return np.asarray(values, dtype=float)
    total, weights, smoothed = 0.0, 0.0, np.full(len(values), np.nan)
    for index, value in enumerate(values):
        total, weights = weight * total, weight * weights
        if np.isfinite(value):
            total, weights = total + value, weights + 1
            smoothed[index] = total / weights
    return smoothed


def loss_curves(
    events: pd.DataFrame,
    stage: str,
    best_epochs: Sequence[int] | None = None,
    smoothing: float = 0.0,
    by_fold: bool = True,
) -> go.Figure:
    """Training and validation losses of one network, with one colour per fold, or their mean over the folds.

    `events` has the columns epoch, stage (joint or projection), fold (from 1), train, validation. `best_epochs` are
    those whose state each fold uses, marked on its validation curve; 0 for none. `smoothing` is the weight of the past,
    0 to below 1.
    """
    stage_events = events[events["stage"] == stage]
    if stage_events.empty:
        return empty(f"No {stage} losses yet.", height=340)
    best = dict(enumerate(best_epochs or (), start=1))
    curves = {int(fold): rows for fold, rows in stage_events.groupby("fold")} if by_fold else {0: _mean(stage_events)}
    figure, drawn = go.Figure(), []
    for fold, rows in curves.items():
        rows = rows.sort_values("epoch")
        for which in ("train", "validation"):
            rows[which] = smooth(rows[which].to_numpy(dtype=float), smoothing)
        _curves(figure, fold, rows)
        for epoch, folds in Counter([best.get(fold, 0)] if by_fold else best.values()).items():
            _best_mark(figure, fold, rows, epoch, folds)
        drawn.append(rows)
    layout(figure, height=340, x="Epoch", y="Loss")
    figure.update_layout(uirevision=stage, hovermode="x unified", legend={"traceorder": "normal"})
    return figure.update_xaxes(rangemode="tozero").update_yaxes(range=_range(pd.concat(drawn)))


def _mean(stage_events: pd.DataFrame) -> pd.DataFrame:
    """The mean over the folds at every epoch; a fold that has ended keeps its last loss."""
    means = {}
    for which in ("train", "validation"):
        losses = stage_events.pivot_table(index="epoch", columns="fold", values=which)
        means[which] = losses.ffill().mean(axis=1, skipna=False)
    return pd.DataFrame(means).rename_axis("epoch").reset_index()


def _curves(figure: go.Figure, fold: int, rows: pd.DataFrame) -> None:
    """The two losses of a fold, or of the mean of the folds if it is 0."""
    colour, name = fold_colour(max(fold - 1, 0)), f"Fold {fold}" if fold else "Mean of the folds"
    has_legend = False
    for which, width, dash in (("validation", 2.5, fold_dash(max(fold - 1, 0))), ("train", 1.5, "dot")):
        measured = rows[np.isfinite(rows[which])]
        if measured.empty:
            continue
        x, y = measured["epoch"].to_numpy(), measured[which].to_numpy()
        figure.add_scatter(
            **_thinned(x, y),
            mode="lines+markers" if len(x) < 3 or which == "validation" and len(x) < 60 else "lines",
            name=name,
            legendgroup=name,
            showlegend=not has_legend,
            marker={"size": 5},
            line={"color": colour, "width": width, "dash": dash},
            hovertemplate=f"%{{y:.4g}}<extra>{name} {which}</extra>",
        )
        has_legend = True


def _best_mark(figure: go.Figure, fold: int, rows: pd.DataFrame, best: int, folds: int) -> None:
    """A star at the best epoch of a fold, or of several folds if their mean is drawn."""
    measured = rows[np.isfinite(rows["validation"])]
    index = np.flatnonzero(measured["epoch"].to_numpy() == best)
    if not len(index):
        return
    colour, name = fold_colour(max(fold - 1, 0)), f"Fold {fold}" if fold else ""
    figure.add_scatter(
        x=[best],
        y=[measured["validation"].iloc[index[0]]],
        mode="markers+text",
        text=f"{folds} folds" if folds > 1 else "",
        textposition="top center",
        legendgroup=name,
        showlegend=False,
        marker={"symbol": "star", "size": 15, "color": colour, "line": {"color": "white", "width": 1}},
        hovertemplate=f"best epoch {best}: %{{y:.4g}}<extra>{f'Fold {fold}' if fold else ''}</extra>",
    )


def _thinned(x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """At most a few hundred points, including the last."""
    step = -(-len(x) // _MOST_POINTS)
    indices = np.unique(np.append(np.arange(0, len(x), step), len(x) - 1))
    return {"x": x[indices], "y": y[indices]}


def _range(stage_events: pd.DataFrame) -> list[float] | None:
    """Limits of the loss axis, without the high losses of the first epochs."""
    values = stage_events[["train", "validation"]].to_numpy(dtype=float)
    late = values[(stage_events["epoch"] > 0.05 * stage_events["epoch"].max()).to_numpy()]
    finite = late[np.isfinite(late)]
    if not len(finite):
        return None
    low, high = finite.min(), np.quantile(finite, 0.995)
    pad = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return [low - pad, high + pad]


def said_in_words(events: pd.DataFrame, stage: str, has_ended: bool = True) -> str:
    """Whether the folds overfit or, at their end, could train longer; empty while there are too few losses."""
    rises = _rises(stage_events := events[events["stage"] == stage])
    if not rises:
        return ""
    rising = {fold: rise for fold, rise in rises.items() if rise[1] > _WORSE}
    if not rising:
        words = "No sign of overfitting: validation losses are at or near their lowest."
        early = " The loss was still falling when training ended: more epochs may help."
        return words + early * (has_ended and _still_falls(stage_events))
    folds = ", ".join(str(fold) for fold in rising)
    epochs = sorted(epoch for epoch, _ in rising.values())
    span = str(epochs[0]) if epochs[0] == epochs[-1] else f"{epochs[0]} to {epochs[-1]}"
    which = f"fold {folds}" if len(rising) == 1 else f"folds {folds}"
    served = (
        "The best network, marked with a star, is used: nothing needs to be done. If all folds do so within a few "
        "epochs, the networks are too large for these rows: use more rows or a smaller width."
        if stage == "joint"
        else "As in the paper, the last epoch is used nevertheless. If much is lost, use fewer epochs or more rows."
    )
    return f"Overfitting from epoch {span} on in {which}: rows seen fit ever better, rows left out worse. {served}"


def _still_falls(stage_events: pd.DataFrame) -> bool:
    """Whether the mean validation loss of the last quarter of the epochs is clearly below that of the quarter before.

    The high losses of the first epochs count neither for the quarters nor for the range.
    """
    losses = stage_events.groupby("epoch")["validation"].mean().dropna().to_numpy()
    losses = losses[len(losses) // 20 :]
    *_, earlier, last = np.array_split(losses, 4)
    return len(last) > 1 and bool(np.median(earlier) - np.median(last) > _FALLS * np.ptp(losses))


def _rises(stage_events: pd.DataFrame) -> dict[int, tuple[int, float]]:
    """Per fold: the epoch of the lowest validation loss, and the rise since then as a share of the loss's range.

    The rise is measured at the median of the last losses, so that one noisy value is not decisive. It counts only if
    the training loss kept falling, to below the validation loss.
    """
    rises = {}
    for fold, rows in stage_events.groupby("fold"):
        rows = rows.sort_values("epoch")
        measured = rows[np.isfinite(rows["validation"])]
        if len(measured) < 3:
            continue
        values = measured["validation"].to_numpy()
        lowest = int(values.argmin())
        epoch = int(measured["epoch"].iloc[lowest])
        since = values[lowest + 1 :][-_LAST:]
        spread = values.max() - values.min()
        is_clear = (
            len(since) == _LAST
            and spread > 0
            and _falls(rows["train"].to_numpy(), rows["epoch"] <= epoch, np.median(since))
        )
        rises[int(fold)] = (epoch, float((np.median(since) - values[lowest]) / spread) if is_clear else 0.0)
    return rises


def _falls(train: np.ndarray, is_before: pd.Series, validation: float) -> bool:
    """Whether the training loss, averaged over some epochs, ends below the validation loss, and lower than at the best
    validation loss and than in the first half of the epochs since, by more than two standard errors."""
    train = train[np.isfinite(train)]
    early, since = np.split(train, [int(is_before.sum())])
    error = np.std(np.diff(train[-2 * _EPOCHS :])) / np.sqrt(_EPOCHS)  # of a difference of two such averages
    higher = min(np.mean(early[-_EPOCHS:]), np.mean(since[: len(since) // 2 + 1]), validation)
    return bool(np.mean(train[-_EPOCHS:]) + 2 * error < higher)
