"""How sure every edge is, and how sure its direction.

The *gain* of an edge is what the child's score loses without it, its log posterior odds; beside it stand the gain
in log-likelihood, that in BIC, and the p-value of the likelihood ratio against χ² with as many degrees of freedom as
the parent has columns, which is cautious since a prior holds most of them. The *direction evidence* is what the graph's
score loses when the edge is turned and both nodes are fitted again, but for the prior odds of an order from elsewhere
(`Scores.order`), so that it is negative where those alone keep a direction: a direction is decided where it is at least
`bound` nats. Turning is not possible without a cycle where another directed path joins the two. All of it takes the
graph as given, though it was searched for.
"""

from collections.abc import Sequence

import networkx as nx
import numpy as np
import pandas as pd
from scipy.stats import chi2

from disco.refine.scores import Parents, Scores, make_fits

BOUND = 5.0  # nats: a turned edge is e⁵ ≈ 150 times less likely

COLUMNS = (
    *("parent", "child", "gain_nats", "log_likelihood_nats", "bic_nats", "direction_nats"),
    *("reversible", "decided", "p_value"),
)


def evidence(scores: Scores, parents: Sequence[Parents], bound: float = BOUND) -> pd.DataFrame:
    """One row an edge, strongest first.

    Args:
        scores: the table's.
        parents: of every node.
        bound: nats from which on a direction is decided.

    Returns:
        Columns `COLUMNS`, nodes as numbers; direction_nats is NaN where the edge cannot be turned without a cycle,
        and `decided` is true there, since every turn of it needs other edges to turn too. Numbers that need a fit
        without a finite score are NaN, and a direction without evidence is not decided.
    """
    edges = [(parent, child) for child, nodes in enumerate(parents) for parent in nodes]
    graph = nx.DiGraph(edges)
    turnable = [_turnable(graph, *edge) for edge in edges]
    fits = scores.fits
    wanted = [(node, nodes) for node, nodes in enumerate(parents)]
    wanted += [(child, _without(parents[child], parent)) for parent, child in edges]
    wanted += [
        (parent, _with(parents[parent], child)) for (parent, child), free in zip(edges, turnable, strict=True) if free
    ]
    make_fits((scores, key) for key in wanted)
    rows = []
    for (parent, child), free in zip(edges, turnable, strict=True):
        full, less = fits[child][parents[child]], fits[child][_without(parents[child], parent)]
        gain = ratio = direction = np.nan
        if full.available and less.available:
            gain, ratio = full.score - less.score, full.log_likelihood - less.log_likelihood
        if free:
            now, turned = fits[parent][parents[parent]], fits[parent][_with(parents[parent], child)]
            if now.available and turned.available:
                direction = gain + now.score - turned.score
            direction += scores.price_of(parent, child) - scores.price_of(child, parent)  # the rows' part of it alone
        columns = int(scores.bank.width[parent])
        bic = ratio - columns * np.log(scores.bank.rows) / 2
        p_value = chi2.sf(2 * np.maximum(ratio, 0.0), columns)
        decided = not free or bool(direction >= bound)
        rows.append((parent, child, gain, ratio, bic, direction, free, decided, p_value))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(["gain_nats", "parent", "child"], ascending=[False, True, True], ignore_index=True)


def _without(parents: Parents, parent: int) -> Parents:
    return tuple(other for other in parents if other != parent)


def _with(parents: Parents, node: int) -> Parents:
    return tuple(sorted((*parents, node)))


def _turnable(graph: nx.DiGraph, parent: int, child: int) -> bool:
    """Whether the edge may be turned without a cycle: no other directed path joins its ends."""
    graph.remove_edge(parent, child)
    try:
        return not nx.has_path(graph, parent, child)
    finally:
        graph.add_edge(parent, child)
