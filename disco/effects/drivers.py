"""What drives a node: the effects of its possible ancestors from a low to a high value, strongest first."""

from functools import reduce
from operator import or_

import numpy as np
import pandas as pd

from disco.bitsets import members
from disco.effects import effect_question
from disco.effects.effect import answer
from disco.effects.graph_fits import FittedGraphs
from disco.fields import require_types
from disco.progress import Callback, Reporter

COLUMNS = (
    *("node", "low_value", "high_value", "mean_low", "mean_high", "difference"),
    *("rate_ratio", "low", "high"),
    *("graphs_more", "graphs_less", "graphs_none"),
)
_DRAWS = 60
_STOPPED = "the effects were stopped."


def drivers(fitted: FittedGraphs, on: str, callback: Callback | None = None) -> pd.DataFrame:
    """The effects on the outcome `on` of the nodes that may cause it; a callback that returns False stops the work.

    Returns:
        One row per node from which a path leads to the outcome in some graph, the ratio farthest from 1 first;
        columns `COLUMNS`: a low and a high value of the node (`effect_question.between`), the mean at either, their
        difference and ratio with a 90 % interval, and the shares of the compatible graphs (`effect_records.Shares`).

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
        settings = [{node: high}, {node: low}]
        fitted_about = fitted.about((node,))
        sampled = fitted_about.sampled(fitted_about.graphs.paths((node,), outcome), settings, outcome, _DRAWS, reporter)
        effect = answer(fitted_about, sampled)
        numbers = effect.mean_against.estimate, effect.mean.estimate, effect.difference.estimate, *effect.rate_ratio
        effects.append((fitted.names[node], low, high, *numbers, *effect.graphs))
    frame = pd.DataFrame(effects, columns=list(COLUMNS))
    with np.errstate(divide="ignore"):
        size = np.abs(np.log(frame["rate_ratio"].to_numpy(float)))
    return frame.iloc[np.argsort(-size, kind="stable")].reset_index(drop=True)
