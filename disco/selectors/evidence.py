"""Parents by the likelihood, given an order.

Each node's parents are the set of predecessors with the highest posterior in the semiparametric GLM of
`disco.refine.node_scores`, found by forward and backward steps. The order itself does not change.
"""

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
import pandas as pd

from disco.graph.dag import check_order
from disco.knowledge import Resolved
from disco.likelihood.covariates import design_of
from disco.progress import Callback, Reporter
from disco.refine.node_scores import Scores, resolve
from disco.refine.prior import BEFORE, fitted_to, log_odds
from disco.refine.screen import screen
from disco.refine.stepwise import NodeFit, Walk
from disco.selectors import STOPPED
from disco.table.adjustment import Adjustment
from disco.table.prepared import Table, prepare


def edges(
    table: Table,
    order: Sequence[str],
    *,
    rules: Resolved | None = None,
    adjustment: Adjustment | None = None,
    callback: Callback | None = None,
) -> pd.DataFrame:
    """Every candidate edge, selected or not: parent, child, score, selected; in causal order of child, then parent.

    The score, in nats, is the loss of the child's score without a parent, or the gain with another candidate, estimated
    by its Rao statistic. It is NaN if the screen excludes the pair or a likelihood is not finite.

    Args:
        table: counts, one column per node.
        order: all columns, sources first.
        rules: rules that the parents and the order obey, by the table's columns.
        callback: receives the events, three per node (screen, parents, fitted prior); returning False stops.

    InputError: the table does not contain counts, the order does not match its columns, or a column is constant.
    """
    counts = prepare(table, adjustment, folds=None).counts
    names = list(counts.columns)
    check_order(order, names)
    design = design_of(counts.to_numpy(), adjustment, names, BEFORE, np.float32)
    reporter = Reporter(callback, {"selector": 1.0}, STOPPED)
    reporter.step("selector", 0, 3 * len(names), unit="node")
    candidates = screen(design, rules=rules, reporter=reporter)
    scores = Scores(design, candidates, odds=log_odds(len(names), 0, rules), rules=rules, reporter=reporter)
    numbers = [names.index(name) for name in order]
    fits = _along(scores, numbers, count(len(names) + 1))
    parents = [fits[numbers.index(node)].parents for node in range(len(names))]
    scores = fitted_to(scores, numbers, parents)
    fits = _along(scores, numbers, count(2 * len(names) + 1))
    return pd.DataFrame(_rows(scores, numbers, fits, names), columns=["parent", "child", "score", "selected"])


def _along(scores: Scores, numbers: Sequence[int], steps: Iterator[int]) -> list[NodeFit]:
    """Each node's fit with its parents among its predecessors, in causal order; each uses one step."""

    def reported(walk: Walk[NodeFit]) -> Walk[NodeFit]:
        fitted = yield from walk
        scores.reporter.step("selector", next(steps), 3 * len(numbers), unit="node")
        return fitted

    walks = [scores.walk(node, scores.allowed(node, numbers[:at]), ()) for at, node in enumerate(numbers)]
    return resolve([(scores, reported(walk)) for walk in walks])


def _rows(
    scores: Scores, numbers: Sequence[int], fits: Sequence[NodeFit], names: Sequence[str]
) -> list[tuple[str, str, float, bool]]:
    rows = []
    for at, (node, fitted) in enumerate(zip(numbers, fits, strict=True)):
        for parent in numbers[:at]:
            index = scores.index[node].get(parent)
            chosen = parent in fitted.parents
            if chosen:
                score = float(fitted.loss[fitted.parents.index(parent)])
            else:
                score = np.nan if index is None else float(fitted.gain[index])
            rows.append((names[parent], names[node], score if np.isfinite(score) else np.nan, chosen))
    return rows
