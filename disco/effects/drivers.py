"""What drives a node: the effects of its possible ancestors from a low to a high value, strongest first."""

from functools import partial, reduce
from operator import or_

import numpy as np
import pandas as pd

from disco.bitsets import members
from disco.effects import effect_question
from disco.effects.effect import answer, mean_of
from disco.effects.graph_fits import FittedGraphs
from disco.effects.shape import shape
from disco.fields import require_types
from disco.progress import Callback, Reporter

COLUMNS = (
    *("node", "low_value", "high_value", "mean_low", "mean_high", "difference"),
    *("rate_ratio", "low", "high"),
    *("graphs_more", "graphs_less", "graphs_none"),
    "shape",
)
_DRAWS, _SHAPE_DRAWS = 60, 20
_INNER = 0.3, 0.5, 0.7  # quantiles at which a mean may turn
_STOPPED = "the effects were stopped."


def drivers(fitted: FittedGraphs, on: str, callback: Callback | None = None) -> pd.DataFrame:
    """The effects on the outcome `on` of the nodes that may cause it; a callback that returns False stops the work.

    Returns:
        One row per node from which a path leads to the outcome in some graph, the ratio farthest from 1 first;
        columns `COLUMNS`: a low and a high value of the node (`effect_question.between`), or if the mean clearly turns
        between them, those of five quantiles at which it differs most; the mean at either, their difference and ratio
        with a 90% interval, the shares of the compatible graphs (`effect_records.Shares`), and what the mean does over
        the quantiles (`shape.Shape.words`).

    Raises:
        InputError: there is no such node.
        FitStopped: the callback stopped the work.
    """
    require_types(fitted=(fitted, FittedGraphs))
    outcome, effects = effect_question.node(fitted, on), list[tuple[object, ...]]()
    reporter = Reporter(callback, {"effects": 1.0}, _STOPPED)
    ancestors = reduce(or_, (dag.ancestors(outcome) for dag in fitted.graphs.about((outcome,)).dags))
    for number, node in enumerate(members(ancestors)):
        reporter.step("effects", number, ancestors.bit_count(), message=f"effects: {fitted.names[node]}")
        low, high = effect_question.between(fitted, node)
        inner = {effect_question.typical(fitted, node, share) for share in _INNER}
        values = [low, *sorted(value for value in inner if low < value < high), high]
        about = fitted.about((node,))
        sampled = partial(about.sampled, about.graphs.paths((node,), outcome), outcome=outcome, reporter=reporter)
        over_all = sampled([{node: value} for value in values], draws=_SHAPE_DRAWS)
        means = pd.DataFrame([mean_of(about, over_all, at, None) for at in range(len(values))], index=values)
        form = shape(means.rename(columns={"estimate": "mean"}).rename_axis("value").reset_index())
        if form.turns:
            low, high = sorted((means["estimate"].idxmin(), means["estimate"].idxmax()))
        effect = answer(about, sampled([{node: high}, {node: low}], draws=_DRAWS))
        numbers = effect.mean_against.estimate, effect.mean.estimate, effect.difference.estimate, *effect.rate_ratio
        effects.append((fitted.names[node], low, high, *numbers, *effect.graphs, form.words))
    frame = pd.DataFrame(effects, columns=list(COLUMNS))
    with np.errstate(divide="ignore"):
        size = np.abs(np.log(frame["rate_ratio"].to_numpy(float)))
    return frame.iloc[np.argsort(-size, kind="stable")].reset_index(drop=True)
