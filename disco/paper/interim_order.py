"""The causal order that a fit would have if its training ended now, without a projection network."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from disco.errors import ScoreUnavailable
from disco.paper.fitted_networks import Fitted
from disco.paper.networks import Networks
from disco.paper.ordering import order_of, remove_sinks
from disco.paper.training import Training
from disco.progress import Sketch

_ROWS = 200  # per fold at which curvature is evaluated: a small part of the time between two orders
_NODES = 300  # most for which that is so: the time of an order grows with their third power


def is_due(fitted: Fitted, training: Training) -> bool:
    """Whether an order is worth its time after this epoch: the first, second, fourth, eighth … validation."""
    settings = fitted.settings
    number, between = divmod(training.epoch - settings.validation_start, settings.validation_every)
    is_power_of_two = number >= 0 and not (number + 1) & number
    is_quick = "projection" not in settings.networks and len(fitted.names) <= _NODES
    return is_quick and is_power_of_two and not between


def order_so_far(fitted: Fitted, training: Training, check: Callable[[], None]) -> Sketch | None:
    """The order by each fold's best joint network so far, without edges; None if a node has no score.

    The best networks are those of `training`, not of `fitted`. `check` is called in between and may stop.
    """
    settings = fitted.settings
    joint = copy.deepcopy(fitted.networks.joint)
    joint.load_state_dict(training.best, strict=False)
    rows = min(_ROWS, settings.evaluation_rows or _ROWS)
    fit = replace(fitted, networks=Networks(joint, None), settings=settings.replace(evaluation_rows=rows), sinks={})

    def evaluate(remaining: Sequence[int]) -> dict[tuple[str, str], Any]:
        check()
        return fit.sink_scores(remaining)

    try:
        fit.begin(check)
        steps = list(
            remove_sinks(evaluate, len(fit.names), settings.criterion, settings.boundary, fit.names, fit.rules)
        )
    except ScoreUnavailable:
        return None
    return Sketch([fit.names[node] for node in order_of(steps)], ())
