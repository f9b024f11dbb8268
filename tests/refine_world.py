"""Quick choices of a refinement, a small table, and one search on it."""

import dataclasses

import networkx as nx
import numpy as np
import pandas as pd

from disco.likelihood.design import Design
from disco.refine import Choice
from disco.refine.evidence import evidence, in_classes
from disco.refine.prior import BEFORE
from disco.refine.scores import Scores, resolve
from disco.refine.search import Optimum, search

PRICE = float(np.log(8))  # of an edge, nats
QUICK = Choice(starts=2, restarts=0, bootstrap=0, folds=0)
ALONE = dataclasses.replace(QUICK, starts=1)


def searched(scores: Scores, order: list[int]) -> Optimum:
    """The end of one search."""
    return resolve([(scores, search(scores, order))])[0]


def design_of(table, **more):
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in table.to_numpy().T])
    return Design.of(ranks, prior=BEFORE, **more)


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
