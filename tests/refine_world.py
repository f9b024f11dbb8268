"""Quick choices of a refinement, a small table, one search on it, refinements by hand, and all small DAGs."""

import dataclasses
from functools import cache
from itertools import combinations, product

import networkx as nx
import numpy as np
import pandas as pd

from disco.graph.result import GraphResult
from disco.likelihood.rank_design import RankDesign
from disco.refine import Choice, Refined
from disco.refine.edge_evidence import evidence, in_classes
from disco.refine.node_scores import Scores, resolve
from disco.refine.order_search import Optimum, search
from disco.refine.prior import BEFORE

PRICE = float(np.log(8))  # of an edge, nats
QUICK = Choice(starts=2, restarts=0, bootstrap=0, folds=0)
ALONE = dataclasses.replace(QUICK, starts=1)
FOUR = "abcd"
NO_STARTS = pd.DataFrame({"start": ["one"], "sweep": [1], "score": [0.0]})


def searched(scores: Scores, order: list[int]) -> Optimum:
    """The end of one search."""
    return resolve([(scores, search(scores, order))])[0]


def design_of(table, **more):
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in table.to_numpy().T])
    return RankDesign.of(ranks, prior=BEFORE, **more)


def all_pairs(nodes):
    return [tuple(other for other in range(nodes) if other != node) for node in range(nodes)]


def chain(rows=1200, seed=0):
    """a → b → c with strong, curved effects, and d unconnected."""
    random = np.random.default_rng(seed)
    a = random.poisson(2.0, rows)
    b = random.poisson(0.3 + 0.5 * (a - 2.0) ** 2)
    c = random.poisson(0.5 + 0.9 * np.sqrt(b))
    return pd.DataFrame({"c": c, "a": a, "d": random.poisson(1.5, rows), "b": b})


def evidence_of(scores: Scores, parents: list[tuple[int, ...]]) -> pd.DataFrame:
    """The evidence for the edges of the graph with these parents of each node."""
    graph = nx.DiGraph((parent, child) for child, nodes in enumerate(parents) for parent in nodes)
    graph.add_nodes_from(range(len(parents)))
    rows = evidence(scores, in_classes(scores), list(nx.lexicographical_topological_sort(graph)), parents)
    return rows.set_index(["parent", "child"])


def refined(order, sources, orders=None, starts=NO_STARTS, tables=None, bootstrap=0, nats=np.inf):
    """A refinement with edges (parent, child): source, and this direction evidence for each."""
    rows = [(*pair, source) for pair, source in sources.items()]
    edges = pd.DataFrame(rows, columns=["parent", "child", "source"]).astype(str).assign(direction_nats=nats)
    found = GraphResult(list(order), edges, choices={"bootstrap": bootstrap})
    return Refined(found, starts, "one", 0.0, 0, 0, None, orders, tables)


@cache
def dags():
    """All 543 DAGs of four nodes."""
    found = []
    for choice in product((None, 1, -1), repeat=6):
        graph = nx.DiGraph()
        graph.add_nodes_from(FOUR)
        graph.add_edges_from(pair[::way] for pair, way in zip(combinations(FOUR, 2), choice, strict=True) if way)
        if nx.is_directed_acyclic_graph(graph):
            found.append(graph)
    return found
