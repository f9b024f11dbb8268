"""How strong a hidden cause of both nodes of an edge would have to be to make the edge by itself.

A hidden cause, standard normal, acts on either node with k times the effect of the node's strongest measured cause, in
standard deviations of its sum of effects. Both nodes are drawn anew: the parent with this cause, the child with it and
without the edge, at the same means. Then the child seems to depend on the parent. The k at which it does so as much as
in the table, from the parent's 10% to its 90% quantile, is the strength: a robustness value for counts (after Cinelli
and Hazlett, JRSS B 2020). A node without another measured cause is compared with the median of the graph's effects.
"""

import math
from collections.abc import Sequence

import numpy as np

from disco.effects import effect_question
from disco.effects.drawing import spread
from disco.effects.graph_fits import FittedGraphs
from disco.effects.nodes import Key, NodeAtRows, Nodes
from disco.table.prepared import Prepared

MOST = 8.0  # k; a larger one is infinite
_STEPS = 7  # of the bisection
_SPANS = (-30.0, 30.0)  # of the shift that keeps a mean
_HALVINGS = 20


def strength(fitted: FittedGraphs, parent: str, child: str) -> float:
    """The strength of an edge, k; infinite above `MOST`, NaN if no graph of the whole table has this edge.

    InputError: there is no such node.
    """
    nodes, edge = fitted.nodes, (effect_question.node(fitted, parent), effect_question.node(fitted, child))
    parents = next((dag.parents for dag in fitted.graphs.dags if dag.is_near and edge[0] in dag.parents[edge[1]]), None)
    if parents is None:
        return math.nan
    nodes.fit(enumerate(parents))
    sizes = {key: _sizes(nodes, key) for key in enumerate(parents)}
    usual = float(np.median([size for by_parent in sizes.values() for size in by_parent.values()]))
    keys, values = [(node, parents[node]) for node in edge], effect_question.between(fitted, edge[0])
    strongest = [
        max((size for node, size in sizes[key].items() if node != edge[0]), default=usual) or usual for key in keys
    ]
    observed = abs(_log_ratio(nodes, keys[1], edge[0], *values))
    lower, upper = 0.0, MOST
    if _seems(nodes, keys, strongest, MOST, values) < observed:
        return math.inf
    for _ in range(_STEPS):
        middle = (lower + upper) / 2
        if _seems(nodes, keys, strongest, middle, values) < observed:
            lower = middle
        else:
            upper = middle
    return (lower + upper) / 2


def _sizes(nodes: Nodes, key: Key) -> dict[int, float]:
    """The standard deviation over the rows of each parent's effect."""
    distribution = nodes.conditional(key, -1)
    return {
        parent: float(effect[nodes.levels[:, parent]].std())
        for parent, effect in zip(key[1], distribution.effects, strict=True)
    }


def _log_ratio(nodes: Nodes, key: Key, parent: int, low: float, high: float) -> float:
    """The log ratio of the child's means at two values of a parent, all else as in the rows."""
    distribution, at = nodes.conditional(key, -1), key[1].index(parent)
    rest = distribution.index_of(nodes.levels) - distribution.effects[at][nodes.levels[:, parent]]
    basis = [
        nodes.basis_at(parent, float(np.clip(value, *nodes.parent_grids[parent][[0, -1]]))) for value in (high, low)
    ]
    index = np.stack([rest + distribution.at(at, columns) for columns in basis])
    above, below = distribution.mean(nodes.grids[key[0]], index, np.arange(len(rest)))
    return math.log(above / below)


def _seems(
    nodes: Nodes, keys: Sequence[Key], strongest: list[float], times: float, values: tuple[float, float]
) -> float:
    """The absolute log ratio that the child seems to have without the edge, given a hidden cause of this strength."""
    parent, child = (node for node, _ in keys)
    random = np.random.default_rng([41, parent, child])
    hidden = random.standard_normal(nodes.design.rows)
    drawn = nodes.given.counts.copy()
    for key, size in zip(keys, strongest, strict=True):
        distribution = nodes.conditional(key, -1)
        index = distribution.index_of(nodes.levels)
        if key[0] == child:
            effect = distribution.effects[key[1].index(parent)][nodes.levels[:, parent]]
            index = index - effect + effect.mean()
        grid = nodes.grids[key[0]]
        drawn.isetitem(key[0], grid[_drawn(distribution, grid, index, times * size * hidden, random)])
    other_parents = [node for node in keys[1][1] if node != parent]
    names = [drawn.columns[node] for node in (parent, child, *other_parents)]
    if min(drawn[name].nunique() for name in names[:2]) < 2:
        return 0.0
    again = Nodes(Prepared(drawn[names].reset_index(drop=True), nodes.given.adjustment))
    key = (1, tuple(sorted({0, *range(2, len(names))})))
    again.fit([key])
    return abs(_log_ratio(again, key, 0, *values))


def _drawn(
    distribution: NodeAtRows, grid: np.ndarray, index: np.ndarray, hidden: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Levels drawn with a hidden cause added to the canonical parameter, at the same mean, (n,)."""

    def mean(by: np.ndarray) -> float:
        return float(distribution.moved(by).mean(grid, index[None], rows)[0])

    rows = np.arange(len(index))
    target, (low, high) = mean(np.zeros(len(index))), _SPANS
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(hidden + middle) < target else (low, middle)
    return distribution.moved(hidden + low).drawn(index[None], rows, spread(len(rows), random))[0]
