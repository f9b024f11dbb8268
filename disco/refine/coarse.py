"""Rivals in which every column is a coarse reading of a normal variable.

The neighbours of a column with few levels stay dependent given the column where they would not be given the variable
itself. So more edges join the columns than join the variables, and a node with two neighbours may seem to be their
common child. A sparse graph of the variables (`disco.linear.noisy`) explains such columns with fewer edges. The lead
over it is the lead over the best graph of normal scores, minus the gain of the graph of the variables over that graph,
both by the likelihood of the correlations of normal scores.
"""

from collections.abc import Sequence
from dataclasses import replace

import networkx as nx
import numpy as np

from disco.knowledge import Resolved
from disco.linear.insertion import along
from disco.linear.noisy import Noisy
from disco.progress import Reporter
from disco.refine.turned import Turned

Edge = tuple[int, int]  # (parent, child)
_FAR = 30.0  # nats by which a graph leads over readings if single directions are not compared


def coarse_leads(
    copula: Noisy,
    orders: Sequence[Sequence[int]],
    ahead: float,
    edges: Sequence[Edge],
    rules: Resolved | None,
    reporter: Reporter,
) -> dict[Edge, float]:
    """The lead of a graph over coarse readings in which an edge is reversed or absent, nats; none if it is large.

    The `copula` has the normal scores, and how exactly they show normal variables. Searches begin at the order of the
    graph and that of the best linear graph of normal scores; `ahead` is the lead over the latter.
    """
    exact = replace(copula, exactness=np.ones((len(copula.seen), 1)))
    level = exact.nats(exact.best(orders, reporter)[0])
    graph, model = copula.best(orders, reporter)
    if rules is not None:
        graph = along(model, rules.sorted(graph.order.tolist()))
    if ahead - (copula.nats(graph) - level) > _FAR:
        return {}
    joined = nx.DiGraph(graph.edges)
    turned = Turned(graph.order.tolist(), joined, rules)
    leads = dict[Edge, float]()
    for edge in edges:
        rivals = [graph]
        if joined.has_edge(*edge):
            rivals = [along(model, rival) for rival in (*turned.near(edge), *turned.wider(edge))]
        leads[edge] = ahead - max(copula.nats(rival) - level for rival in rivals)
    return leads
