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

- the direction evidence is as much as asked for with the link held straight too: the *robust evidence* is the lesser;
- with every effect linear, where a pair alone has no direction and only the other edges tell one, there is none
  against it (`linear_nats`);
- it exceeds three times what the class misses of the two nodes (`disco.likelihood.misfit`) by as much;
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
from disco.refine.scores import SEARCHING, Parents, Scores, make_fits
from disco.refine.turning import Turned, turnings

COLUMNS = (
    *("parent", "child", "gain_nats", "log_likelihood_nats", "bic_nats"),
    *("direction_nats", "robust_nats", "linear_nats", "spread_nats", "p_value"),
)
CLASSES = (BEFORE, BEFORE._replace(link=STRAIGHT), Prior(BEFORE.linear, 1e7, STRAIGHT))  # bent, straight, linear
AGAINST = 1.0  # nats of linear evidence against a direction, which chance may give
TIMES = 3.0  # the misfit of its nodes that a direction's evidence has to exceed
MOST_MISFIT = 0.1  # share of the nodes that the class misses from which on no direction is decided


def in_classes(scores: Scores) -> list[Scores]:
    """Scores under each prior of `CLASSES`, without an order from elsewhere, and no fit made yet."""
    return [scores.but(bank=scores.bank.under(prior), order=None, tolerance=SEARCHING) for prior in CLASSES]


def evidence(
    scores: Scores, classes: Sequence[Scores], order: Sequence[int], parents: Sequence[Parents], bound: float
) -> pd.DataFrame:
    """One row per edge, strongest first.

    Args:
        scores: the table's, for the gains.
        classes: `in_classes` of them, for the directions.
        order: all nodes, sources first.
        parents: of every node, all before it in the order.
        bound: direction evidence under which the smaller classes are not asked.

    Returns:
        Columns `COLUMNS`, nodes as numbers; linear_nats is NaN where the smaller classes are not asked. Numbers
        that need a fit without a finite score are NaN.

    Raises:
        FitStopped: the scores' `goes_on` says so.
    """
    turned = turnings(classes[0], order, parents)
    asked = [(one.parent, one.child) for one in turned if one.nats >= bound]
    smaller = [dict(zip(asked, turnings(one, order, parents, asked), strict=True)) for one in classes[1:]]
    wanted = [(one.child, _without(parents[one.child], one.parent)) for one in turned]
    wanted += [pair for one in turned for graph in (one.now, one.after) for pair in graph.items()]
    make_fits((scores, key) for key in [*enumerate(parents), *wanted])
    rows = [_row(scores, parents, one, *(every.get((one.parent, one.child)) for every in smaller)) for one in turned]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(["gain_nats", "parent", "child"], ascending=[False, True, True], ignore_index=True)


def decided(rows: pd.DataFrame, misfit: np.ndarray, bound: float, turned: set[tuple[int, int]]) -> np.ndarray:
    """Which directions are decided, (edges,) true or false.

    Args:
        rows: `evidence`'s.
        misfit: of every node, nats; NaN counts as missed.
        bound: nats of evidence asked for.
        turned: edges (parent, child) that a search with an end near the best has the other way round.
    """
    missed = np.nan_to_num(misfit, nan=np.inf)
    of_nodes = missed[rows["parent"].to_numpy(int)] + missed[rows["child"].to_numpy(int)]
    sure = (rows["robust_nats"] >= bound) & (rows["direction_nats"] >= bound + TIMES * of_nodes)
    sure &= rows["linear_nats"] >= -AGAINST
    pairs = zip(rows["parent"], rows["child"], strict=True)
    sure &= np.array([pair not in turned for pair in pairs], dtype=bool)
    return sure.to_numpy() & bool((missed >= MISFIT).mean() < MOST_MISFIT)


def _row(
    scores: Scores, parents: Sequence[Parents], turned: Turned, straight: Turned | None, linear: Turned | None
) -> tuple:
    """The numbers of one edge, once its fits are made."""
    parent, child = turned.parent, turned.child
    full, less = scores.fits[child][parents[child]], scores.fits[child][_without(parents[child], parent)]
    gain = ratio = np.nan
    if full.available and less.available:
        gain, ratio = full.score - less.score, full.log_likelihood - less.log_likelihood
    columns = int(scores.bank.width[parent])
    bic = ratio - columns * np.log(scores.bank.rows) / 2
    p_value = chi2.sf(2 * np.maximum(ratio, 0.0), columns)
    robust = turned.nats if straight is None else float(np.minimum(turned.nats, straight.nats))  # NaN stays
    against = np.nan if linear is None else linear.nats
    spread = _total(scores, turned.now) - _total(scores, turned.after) - turned.nats
    return parent, child, gain, ratio, bic, turned.nats, robust, against, spread, p_value


def _total(scores: Scores, graph: dict[int, Parents]) -> float:
    """The score of some nodes but for the prior odds of an order from elsewhere; NaN where one is not available."""
    total = 0.0
    for node, nodes in graph.items():
        fitted = scores.fits[node][nodes]
        against = sum(scores.price_of(parent, node) - scores.price for parent in nodes)
        total += fitted.score + against if fitted.available else np.nan
    return total


def _without(parents: Parents, parent: int) -> Parents:
    return tuple(other for other in parents if other != parent)
