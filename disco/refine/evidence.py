"""How sure every edge is, and how sure its direction.

The *gain* of an edge is what the child's score loses without it, its log posterior odds; beside it stand the gain
in log-likelihood, that in BIC, and the p-value of the likelihood ratio against χ² with as many degrees of freedom as
the parent has columns. The p-value takes the graph as given, though it was searched for: of several candidates without
an effect the best has a small one more often than its size says.

The *direction evidence* is what the score loses with the child before the parent (`disco.refine.turning`), under the
prior that searches begin with. The fitted prior knows how the spreads of parents and children differ in the table
(`Prior.power`), and would tell directions by spreads alone; what it adds is the *spread evidence*. Nor do the prior
odds of an order from elsewhere count.

A direction is read off the class of models, and real tables are seldom of it: on tables with pairs whose order in time
is certain, half of the directions with 5 nats of evidence are wrong (`benchmarks/directed.py`). So a direction is
*decided* only where

- the direction evidence is as much as asked for, and half as much with the link held straight too: the *robust
  evidence* is the lesser of the two;
- with every effect linear, where a pair alone has no direction and only the other edges tell one, there is none
  against it (`linear_nats`);
- it exceeds three times what the class misses of the two nodes (`disco.likelihood.misfit`) by as much;
- both nodes have more than three levels: one of two or three fits the class whatever its parents do, so that nothing
  tells whether it is of it;
- less than a tenth of all nodes are missed by the class;
- no search that ended near the best score has the edge the other way round.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import chi2

from disco.likelihood.bank import STRAIGHT, Prior
from disco.likelihood.misfit import MISFIT
from disco.refine.prior import BEFORE
from disco.refine.scores import SEARCHING, Parents, Scores, Wanted, fit_alone, make_fits
from disco.refine.turning import Turned, turnings

COLUMNS = (
    *("parent", "child", "gain_nats", "log_likelihood_nats", "bic_nats"),
    *("direction_nats", "robust_nats", "linear_nats", "spread_nats", "p_value"),
)
CLASSES = (BEFORE, BEFORE._replace(link=STRAIGHT), Prior(BEFORE.linear, 1e7, STRAIGHT))  # bent, straight, linear
AGAINST = 1.0  # nats of linear evidence against a direction, which chance may give
HALF = 0.5  # of the evidence asked for, that a direction needs with the link held straight
FEW = 3  # levels up to which nothing tells whether a node is of the class
TIMES = 3.0  # the misfit of its nodes that a direction's evidence has to exceed
MOST_MISFIT = 0.1  # share of the nodes that the class misses from which on no direction is decided

Alone = dict[Wanted, tuple[float, float]]  # score and log-likelihood by fit


def in_classes(scores: Scores) -> list[Scores]:
    """Scores under each prior of `CLASSES`, without an order from elsewhere, and no fit made yet."""
    classes = [scores.but(bank=scores.bank.under(prior), order=None, tolerance=SEARCHING) for prior in CLASSES]
    for one, near in zip(classes, (scores, classes[0], classes[0]), strict=True):
        one.warm = near  # whose fits of the same nodes are good starts
    return classes


def evidence(
    scores: Scores, classes: Sequence[Scores], order: Sequence[int], parents: Sequence[Parents]
) -> pd.DataFrame:
    """One row per edge, strongest first.

    Args:
        scores: the table's, for the gains.
        classes: `in_classes` of them, for the directions.
        order: all nodes, sources first.
        parents: of every node, all before it in the order.

    Returns:
        Columns `COLUMNS`, nodes as numbers. Numbers that need a fit without a finite score are NaN.

    Raises:
        FitStopped: the scores' `goes_on` says so.
    """
    make_fits((scores, key) for key in enumerate(parents))
    turned = turnings(classes[0], order, parents)
    graphs = [pair for one in turned for graph in (one.now, one.after) for pair in graph.items()]
    without = [(one.child, _without(parents[one.child], one.parent)) for one in turned]
    fits = [
        fit_alone(scores, [*enumerate(parents), *without, *graphs]),
        *(fit_alone(one, graphs) for one in classes[1:]),
    ]
    rows = [_row(scores, parents, one, *fits) for one in turned]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(["gain_nats", "parent", "child"], ascending=[False, True, True], ignore_index=True)


def decided(
    rows: pd.DataFrame, misfit: np.ndarray, levels: np.ndarray, bound: float, turned: set[tuple[int, int]]
) -> np.ndarray:
    """Which directions are decided, (edges,) true or false.

    Args:
        rows: `evidence`'s.
        misfit: of every node, nats; NaN counts as missed.
        levels: of every node, how many it has.
        bound: nats of evidence asked for.
        turned: edges (parent, child) that a search with an end near the best has the other way round.
    """
    missed = np.nan_to_num(misfit, nan=np.inf)
    parent, child = rows["parent"].to_numpy(int), rows["child"].to_numpy(int)
    sure = rows["direction_nats"] >= bound + TIMES * (missed[parent] + missed[child])
    sure &= rows["robust_nats"] >= HALF * bound
    sure &= np.minimum(levels[parent], levels[child]) > FEW
    sure &= rows["linear_nats"] >= -AGAINST
    pairs = zip(rows["parent"], rows["child"], strict=True)
    sure &= np.array([pair not in turned for pair in pairs], dtype=bool)
    return sure.to_numpy() & bool((missed >= MISFIT).mean() < MOST_MISFIT)


def _row(
    scores: Scores, parents: Sequence[Parents], turned: Turned, own: Alone, straight: Alone, linear: Alone
) -> tuple:
    """The numbers of one edge."""
    parent, child = turned.parent, turned.child
    full, less = own[child, parents[child]], own[child, _without(parents[child], parent)]
    against = scores.price_of(parent, child) - scores.price  # what an order from elsewhere asks for
    gain, ratio = full[0] - less[0] - against, full[1] - less[1]
    columns = int(scores.bank.width[parent])
    bic = ratio - columns * np.log(scores.bank.rows) / 2
    p_value = chi2.sf(2 * np.maximum(ratio, 0.0), columns)
    robust = np.minimum(turned.nats, _lost(straight, turned))
    spread = _lost(own, turned) - turned.nats
    return parent, child, gain, ratio, bic, turned.nats, robust, _lost(linear, turned), spread, p_value


def _lost(fits: Alone, turned: Turned) -> float:
    """What the score loses in a turned graph; NaN where a fit is not available."""
    return sum(fits[pair][0] for pair in turned.now.items()) - sum(fits[pair][0] for pair in turned.after.items())


def _without(parents: Parents, parent: int) -> Parents:
    return tuple(other for other in parents if other != parent)
