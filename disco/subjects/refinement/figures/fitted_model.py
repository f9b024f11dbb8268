"""Figures of a fitted graph: response curves, the shape of a node's distribution, the model check.

The curves and bands come from `disco.likelihood.model`, the shapes from `disco.likelihood.count_shapes`, the simulated
tables from `disco.likelihood.model_check`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.effects.shape import shape as shape_of
from disco.effects.shape import usual_range
from disco.figures import axes, theme
from disco.figures.axes import evenly, log_axis, log_ticks
from disco.graph.draw import colours
from disco.words import number, with_error

if TYPE_CHECKING:  # these import torch, which drawing does not need
    from disco.likelihood.count_shapes import CountShape, Kind
    from disco.likelihood.model_check import Check

STATISTIC_WORDS = {"mean": "mean", "ratio": "variance / mean", "zeros": "share of zeros"}
BAND = "rgba(43,131,186,0.22)"
_MOST_MEANS = 25  # observed means drawn; more counts are binned
_OBSERVED = "observed mean (larger = more rows)"
_CLEAR = 2.0  # standard errors of a reported difference
_MOST_PAIRS = 3000
_DASHES = ("solid", "dash", "dot")


def binned(parent: pd.Series, child: pd.Series, limit: int = _MOST_MEANS) -> pd.DataFrame:
    """The child's observed mean at each count of a parent; many counts are binned, into bins of similar size.

    Returns columns count (mean over the bin), mean, rows, low and high (the bin's limits).
    """
    values = parent.to_numpy()
    grid, index = np.unique(values, return_inverse=True)
    if len(grid) > limit:
        cuts = np.unique(np.quantile(values, np.linspace(0, 1, limit + 1)[1:-1]))
        index = np.searchsorted(cuts, values, side="left")
    frame = pd.DataFrame({"bin": index, "parent": values, "child": child.to_numpy()}).groupby("bin")
    return pd.DataFrame(
        {
            "count": frame["parent"].mean(),
            "mean": frame["child"].mean(),
            "rows": frame.size(),
            "low": frame["parent"].min(),
            "high": frame["parent"].max(),
        }
    ).reset_index(drop=True)


def response(curve: pd.DataFrame, observed: pd.DataFrame, parent: str, child: str, unit: str = "count") -> go.Figure:
    """The child's mean as a function of one parent (`Model.curve`), beside the observed means (`binned`).

    The curve sets the parent to each of its counts in every row, does not change the row's other parents, and averages
    the child's mean over the rows. Its 95% band is pointwise and conditional on the graph. The discs are the child's
    plain means over the rows with each count, larger for more rows. Discs and curve differ if the parents are
    correlated, because for the discs the other parents vary too. `unit` is the parent's unit: count, level or rate; the
    child has levels too, or counts.
    """
    figure, x = go.Figure(), curve["count"]
    y = [*curve["high"], *curve["low"][::-1]]
    axes.lines(figure, [*x, *x[::-1]], y, {"width": 0}, "95% band", fill="toself", fillcolor=BAND)
    size = 5 + 17 * np.sqrt(observed["rows"] / observed["rows"].max())
    spans = [f"{a:g}" if a == b else f"{a:g} to {b:g}" for a, b in zip(observed["low"], observed["high"], strict=True)]
    disc = {"size": size, "color": colours.MUTED, "opacity": 0.55, "line": {"width": 0}}
    hover = "observed at %{customdata[0]}: mean %{y:.3g} of %{customdata[1]:,} rows"
    of_spans = [*zip(spans, observed["rows"], strict=True)]
    axes.marks(figure, observed["count"], observed["mean"], disc, _OBSERVED, hover, customdata=of_spans)
    hover, bounds = "fitted at %{x:g}: %{y:.3g} (%{customdata[0]:.3g} to %{customdata[1]:.3g})", curve[["low", "high"]]
    look = {"color": colours.PICKED, "width": 3}
    axes.lines(figure, x, curve["mean"], look, "fitted", hover, customdata=bounds.to_numpy())
    figure.layout.xaxis = dict(title=f"{theme.label(parent)} ({unit})")
    figure.layout.yaxis = dict(title=f"mean {'level' if unit == 'level' else 'count'} of {theme.label(child, 24)}")
    return theme.titled(figure, response_words(curve, parent, child), height=260, legend=False)


def response_words(curve: pd.DataFrame, parent: str, child: str, say: Callable[[str], str] = theme.label) -> str:
    """What the child's mean does between the usual values of the parent of a `Model.curve`; `say` escapes a name."""
    middle = _middle(curve)
    form, values, means = shape_of(middle), middle["value"].to_numpy(), middle["mean"].to_numpy()
    start = f"Where {say(parent)} goes from {values[0]:.3g} to {values[-1]:.3g}, the mean of {say(child)}"
    if not form.turns:
        return f"{start} goes from {number(means[0])} to {number(means[-1])}."
    turn = [means[int(np.searchsorted(values, form.at))]] if np.isfinite(form.at) else []
    return f"{start} {form.words} ({', '.join(number(mean) for mean in (means[0], *turn, means[-1]))})."


def joint_words(curve: pd.DataFrame, parent: str, child: str, neighbour: str, say: Callable[[str], str]) -> str:
    """Whether two columns rise together, for an edge of unknown direction; `neighbour` is the one spoken of."""
    middle = _middle(curve)
    form, node = shape_of(middle), child if neighbour == parent else parent
    if form.turns:
        return f"{say(neighbour)}: where {say(parent)} is higher, the mean of {say(child)} {form.words}."
    rises = middle["mean"].iloc[-1] - middle["mean"].iloc[0]
    word = "higher" if rises > 0 else "lower" if rises < 0 else "neither higher nor lower"
    return f"{say(neighbour)}: {word} where {say(node)} is higher."


def _middle(curve: pd.DataFrame) -> pd.DataFrame:
    """The points of a response curve in the range over which effects are described."""
    low, high = usual_range(np.repeat(curve["count"].to_numpy(float), curve["rows"]))
    return curve[curve["count"].between(low, high)].rename(columns={"count": "value"})


def kind(kind: "Kind") -> go.Figure:
    """A node's fitted distribution at the median canonical parameter, beside the nearest shapes and a Poisson. There,
    every shape has the fitted distribution's mean."""
    middle = int(np.searchsorted(np.cumsum(kind.share), 0.5))
    fitted = np.exp(kind.log_probability[middle])
    visible = fitted > 1e-4 * fitted.max()  # without the invisible tail
    visible[: int(np.argmax(visible))] = True
    x = kind.counts[visible]
    figure = go.Figure(
        go.Bar(
            x=x,
            y=fitted[visible],
            name="fitted model",
            marker={"color": colours.MUTED, "opacity": 0.6},
            hovertemplate="%{x}: %{y:.3g}<extra>fitted</extra>",
        )
    )
    for shape, colour, dash in zip(_drawn(kind), (colours.PICKED, colours.ACCENT, theme.GREEN), _DASHES, strict=False):
        y, look = np.exp(shape.log_probability[middle][visible]), {"color": colour, "width": 2, "dash": dash}
        axes.lines(figure, x, y, look, shape.words(), "%{x}: %{y:.3g}", marker={"size": 6})
        figure.data[-1].mode = "lines+markers"
    figure.update_xaxes(title=theme.label(kind.node)).update_yaxes(title="probability", rangemode="tozero")
    distance = number(kind.nearest.distance)
    title = f"{theme.label(kind.node)} and its nearest shape, {kind.nearest.words()}: {distance} nats per row apart"
    return theme.titled(figure, title, height=380)


def _drawn(kind: "Kind") -> "list[CountShape]":
    """The nearest shape, the next one of another name, and the Poisson."""
    nearest = kind.nearest
    further = [shape for shape in kind.shapes[1:] if shape.name not in (nearest.name, "Poisson")]
    poisson = next(shape for shape in kind.shapes if shape.name == "Poisson" and not shape.zero_weight)
    return list(dict.fromkeys([nearest, *further[:1], poisson]))


def columns(check: "Check", statistic: str) -> go.Figure:
    """One statistic of every column (mean, ratio or zeros): observed, against simulated with its range as a bar."""
    rows_of_statistic = check.columns[check.columns["statistic"] == statistic]
    figure = go.Figure()
    # A logarithmic axis cannot show zero.
    is_log = statistic != "zeros" and bool((rows_of_statistic[["observed", "low"]] > 0).all(axis=None))
    values = rows_of_statistic[["observed", "low", "high"]].to_numpy()
    limits = [values.min(), values.max()]
    _diagonal(figure, limits)
    for outside, colour, symbol, name in _LOOKS:
        rows = rows_of_statistic[rows_of_statistic["outside"] == outside]
        look, text = {"color": colour, "size": 8, "symbol": symbol}, map(theme.label, rows["node"])
        of_rows = {"customdata": [*zip(text, rows["low"], rows["high"], strict=True)], "error_x": _spread(rows, colour)}
        axes.marks(figure, rows["middle"], rows["observed"], look, name, _AT.replace("F", ".3g"), **of_rows)
    words = STATISTIC_WORDS[statistic]
    span = limits[0] / 1.2, limits[1] * 1.2
    for axis, where in ((figure.layout.xaxis, "simulated"), (figure.layout.yaxis, "observed")):
        title = f"{words}, {where}"
        axis.update(log_axis(title, *span, log_ticks(*span)) if is_log else {"title": title, "type": "linear"})
    return theme.titled(figure, _outside_title(check, statistic, "columns"), height=380)


_AT = "%{customdata[0]}: observed %{y:F}, simulated %{x:F} (%{customdata[1]:F} to %{customdata[2]:F})"


def _diagonal(figure: go.Figure, limits: list[float]) -> None:
    look = {"color": colours.MUTED, "dash": "dash", "width": 1.5}
    axes.lines(figure, limits, limits, look, "observed = simulated")


def _spread(rows: pd.DataFrame, colour: str) -> dict[str, object]:
    """Error bars from low to high around the middle."""
    widths = {"array": rows["high"] - rows["middle"], "arrayminus": rows["middle"] - rows["low"]}
    return {"type": "data", "symmetric": False, **widths, "thickness": 1.5, "width": 3, "color": colour}


_LOOKS = ((False, colours.PICKED, "circle", "inside the band"), (True, colours.ACCENT, "x", "outside"))


def _outside_title(check: "Check", statistic: str, noun: str) -> str:
    outside, total = check.outside(statistic)
    what = "Correlations" if statistic == "pairs" else STATISTIC_WORDS[statistic].capitalize()
    return (
        f"{what}: {outside:,} of {total:,} {noun} outside the band; {number(check.chance * total)} expected by chance"
    )


def pairs(check: "Check") -> go.Figure:
    """Spearman's correlation of every pair of columns, observed against the median of the simulated tables. At most a
    few thousand pairs inside their bands are drawn, and as many outside."""
    figure = go.Figure()
    _diagonal(figure, [-1, 1])
    for outside, colour, symbol, name in _LOOKS:
        rows = check.pairs[check.pairs["outside"] == outside]
        if len(rows) > _MOST_PAIRS:
            rows = rows.iloc[evenly(np.arange(len(rows)), _MOST_PAIRS)]
        labels = [
            f"{theme.label(a, 24)}, {theme.label(b, 24)}" for a, b in zip(rows["first"], rows["second"], strict=True)
        ]
        look = {"color": colour, "size": 6 if outside else 5, "symbol": symbol, "opacity": 0.75}
        of_rows = [*zip(labels, rows["low"], rows["high"], strict=True)]
        axes.marks(figure, rows["middle"], rows["observed"], look, name, _AT.replace("F", ".2f"), customdata=of_rows)
    values = check.pairs[["observed", "middle"]].to_numpy()
    low, high = min(values.min(), 0.0) - 0.05, max(values.max(), 0.0) + 0.05
    figure.layout.xaxis = dict(title="Spearman's correlation, simulated", range=[low, high])
    figure.layout.yaxis = dict(title="Spearman's correlation, observed", range=[low, high])
    return theme.titled(figure, _outside_title(check, "pairs", "pairs"), height=420)


def held_out(check: "Check") -> go.Figure:
    """Gain of each graph over the first on held-out rows, in nats per row ± one standard error."""
    first = check.scores["graph"].iloc[0]
    rows = check.differences[check.differences["against"] == first]
    figure = go.Figure(
        go.Bar(
            x=rows["difference"],
            y=[theme.label(name) for name in rows["graph"]],
            orientation="h",
            width=0.5,
            marker={"color": colours.PICKED},
            showlegend=False,
            error_x={"type": "data", "array": rows["error"], "color": colours.ACCENT, "thickness": 2, "width": 6},
            customdata=rows["error"],
            hovertemplate="%{y}: %{x:.4g} ± %{customdata:.2g} nats per row<extra></extra>",
        )
    )
    figure.layout.xaxis = dict(title=f"nats per row above the {theme.label(first)} graph")
    figure.layout.yaxis = dict(autorange="reversed")
    return theme.titled(figure, held_out_words(check), height=170 + 50 * len(rows), legend=False)


def held_out_words(check: "Check") -> str:
    """Which of the last two graphs predicts held-out rows better, if they differ by over two standard errors."""
    last = check.differences.iloc[-1]
    last_graph, reference = theme.label(last["graph"]), theme.label(last["against"])
    size = f"{with_error(abs(last['difference']), last['error'])} nats per row"
    if not abs(last["difference"]) > _CLEAR * last["error"]:
        return f"No difference between the {last_graph} and the {reference} graph on held-out rows: {size}"
    better = "better" if last["difference"] > 0 else "worse"
    return f"The {last_graph} graph predicts held-out rows {better} than the {reference} graph, by {size}"


def margin(check: "Check", node: str) -> go.Figure:
    """Number of rows at each count of one column: bars for the observed table, ranges for the simulated tables."""
    counts = check.margins[check.margins["node"] == node]
    figure = go.Figure(
        go.Bar(
            x=counts["count"],
            y=counts["observed"],
            name="observed",
            marker={"color": colours.MUTED, "opacity": 0.6},
            hovertemplate="%{x}: %{y:,} rows<extra>observed</extra>",
        )
    )
    look, hover = {"color": colours.PICKED, "size": 6}, "simulated %{x}: %{y:,.0f} rows"
    spread = _spread(counts, colours.PICKED)
    axes.marks(figure, counts["count"], counts["middle"], look, "simulated", hover, error_y=spread)
    figure.update_xaxes(title=theme.label(node)).update_yaxes(title="rows", rangemode="tozero")
    outside = int(counts["outside"].sum())
    title = (
        f"{theme.label(node)}: {outside} of {len(counts)} counts outside the band; {number(check.chance * len(counts))}"
    )
    return theme.titled(figure, f"{title} expected by chance", height=360)
