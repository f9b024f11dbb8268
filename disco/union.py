"""A refinement's graph and a fit's graph of the same table as one, every edge marked by who found it."""

import networkx as nx

from disco.errors import InputError
from disco.knowledge.resolved import FREE

BOTH, LIKELIHOOD, DISCO = FOUND_BY = ("both", "likelihood", "DISCO")


def union(refined: nx.DiGraph, fitted: nx.DiGraph) -> nx.DiGraph:
    """All edges of two graphs, with `found_by` on each: both, likelihood (the refinement alone) or DISCO (the fit).

    The nodes stand in the refined order, with the numbers they have there. Two nodes that both graphs join in opposite
    directions have one edge, in the refinement's direction, with `turned` set. Such an edge, and one that DISCO alone
    found, has no direction that is decided, unless knowledge leaves no choice. An edge of DISCO's alone may run against
    the refined order, so the union may have cycles.

    Raises:
        InputError: the two graphs do not have the same nodes.
    """
    if set(refined) != set(fitted):
        odd = sorted(set(refined) ^ set(fitted))[0]
        raise InputError(f'Only one of the two graphs has the node "{odd}"; both must be of the same table.')
    found = nx.DiGraph()
    found.add_nodes_from(refined.nodes(data=True))
    for parent, child, numbers in refined.edges(data=True):
        edge = {**numbers, "found_by": LIKELIHOOD}
        if fitted.has_edge(parent, child):
            edge = {**fitted.edges[parent, child], **edge, "found_by": BOTH}
        elif fitted.has_edge(child, parent):
            edge |= {"found_by": BOTH, "turned": True, "decided": 0.0}
        found.add_edge(parent, child, **edge)
    for parent, child, numbers in fitted.edges(data=True):
        if not found.has_edge(parent, child) and not found.has_edge(child, parent):
            is_known = numbers.get("rule", FREE) != FREE
            found.add_edge(parent, child, **numbers, found_by=DISCO, decided=float(is_known))
    return found
