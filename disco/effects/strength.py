"""How strong a hidden cause of both nodes of an edge would have to be to make the edge by itself.

A hidden cause, standard normal, acts on either node with k times the effect of the node's strongest measured cause, in
standard deviations of its sum of effects. Both nodes are drawn anew: the parent with this cause, the child with it and
without the edge, at the same means. Then the child seems to depend on the parent. The k at which it does so as much as
in the table, from the parent's 10 % to its 90 % quantile, is the strength: a robustness value for counts (after Cinelli
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

    Raises:
        InputError: there is no such node.
    """
    nodes, edge = fitted.nodes, (effect_question.node(fitted, parent), effect_question.node(fitted, child))
    parents = next((one.parents for one in fitted.graphs.dags if one.is_near and edge[0] in one.parents[edge[1]]), None)
    if parents is None:
        return math.nan
    nodes.fit(enumerate(parents))
    sizes = {key: _sizes(nodes, key) for key in enumerate(parents)}
    usual = float(np.median([size for by_parent in sizes.values() for size in by_parent.values()]))
    return _strength(nodes, parents, edge, sizes, usual, effect_question.between(fitted, edge[0]))


def _sizes(nodes: Nodes, key: Key) -> dict[int, float]:
    """The standard deviation over the rows of each parent's effect."""
    one = nodes.conditional(key, -1)
    return {
        parent: float(effect[nodes.levels[:, parent]].std()) for parent, effect in zip(key[1], one.effects, strict=True)
    }


def _strength(
    nodes: Nodes,
    parents: Sequence[tuple[int, ...]],
    edge: tuple[int, int],
    sizes: dict[Key, dict[int, float]],
    usual: float,
    values: tuple[float, float],
) -> float:
    parent, child = edge
    own = (parent, parents[parent]), (child, parents[child])
    strongest = [
        max((size for node, size in sizes[key].items() if node != parent), default=usual) or usual for key in own
    ]
    wanted = abs(_log_ratio(nodes, own[1], parent, *values))
    least, most = 0.0, MOST
    if _seems(nodes, own, edge, strongest, MOST, values) < wanted:
        return math.inf
    for _ in range(_STEPS):
        middle = (least + most) / 2
        if _seems(nodes, own, edge, strongest, middle, values) < wanted:
            least = middle
        else:
            most = middle
    return (least + most) / 2


def _log_ratio(nodes: Nodes, key: Key, parent: int, low: float, high: float) -> float:
    """The log ratio of the child's means at two values of a parent, all else as in the rows."""
    one, at = nodes.conditional(key, -1), key[1].index(parent)
    others = one.index_of(nodes.levels) - one.effects[at][nodes.levels[:, parent]]
    basis = [
        nodes.basis_at(parent, float(np.clip(value, *nodes.parent_grids[parent][[0, -1]]))) for value in (high, low)
    ]
    index = np.stack([others + one.at(at, columns) for columns in basis])
    above, below = one.mean(nodes.grids[key[0]], index, np.arange(len(others)))
    return math.log(above / below)


def _seems(
    nodes: Nodes,
    own: tuple[Key, Key],
    edge: tuple[int, int],
    strongest: list[float],
    times: float,
    values: tuple[float, float],
) -> float:
    """The absolute log ratio that the child seems to have if a hidden cause is this strong and there is no edge."""
    (parent, child), random = edge, np.random.default_rng([41, *edge])
    hidden = random.standard_normal(nodes.design.rows)
    drawn = nodes.given.counts.copy()
    for key, size in zip(own, strongest, strict=True):
        one = nodes.conditional(key, -1)
        index = one.index_of(nodes.levels)
        if key[0] == child:
            effect = one.effects[key[1].index(parent)][nodes.levels[:, parent]]
            index = index - effect + effect.mean()
        grid = nodes.grids[key[0]]
        drawn.isetitem(key[0], grid[_drawn(one, grid, index, times * size * hidden, random)])
    others = [node for node in own[1][1] if node != parent]
    names = [drawn.columns[node] for node in (parent, child, *others)]
    if min(drawn[name].nunique() for name in names[:2]) < 2:
        return 0.0
    again = Nodes(Prepared(drawn[names].reset_index(drop=True), nodes.given.adjustment))
    key = (1, tuple(sorted({0, *range(2, len(names))})))
    again.fit([key])
    return abs(_log_ratio(again, key, 0, *values))


def _drawn(
    one: NodeAtRows, grid: np.ndarray, index: np.ndarray, hidden: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Levels drawn with a hidden cause added to the canonical parameter, at the same mean, (n,)."""

    def mean(by: np.ndarray) -> float:
        return float(one.moved(by).mean(grid, index[None], rows)[0])

    rows = np.arange(len(index))
    wanted, (low, high) = mean(np.zeros(len(index))), _SPANS
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(hidden + middle) < wanted else (low, middle)
    return one.moved(hidden + low).drawn(index[None], rows, spread(len(rows), random))[0]
