"""The order of a linear model: a search by best insertion whose scores follow from the correlations alone.

Under linear models of the standardised √ranks, a node's BIC given possible parents takes microseconds, where a fit of
the likelihood takes milliseconds. So a start and many restarts are searched here, and the likelihood continues from the
best. These models know no direction that the Markov equivalence class leaves open, only which nodes are close.

The moves are those of `disco.refine.order_search`. A node's parents are those that a forward and then a backward
selection finds among all candidates before it (*grow–shrink*, as in Andrews et al., 2023).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from disco.likelihood.cpu import in_order
from disco.likelihood.products import copy
from disco.linear.near import near
from disco.linear.parent_selection import MOST_PARENTS, gain_of, select
from disco.progress import Reporter, Sketch

_MOST_SWEEPS = 50
_RESTARTS = 24
_PATIENCE = 8  # restarts in succession without a gain, after which no other follows
_MOST_SELECTIONS = 400_000  # of parents; no restart begins after as many
_LEAST_GAIN = 1e-3  # smallest gain of a move, nats


class LinearModel(NamedTuple):
    """Linear models of all nodes.

    Attributes:
        correlations: of all columns, (m, m).
        half: half of the number of rows.
        cost: of a column among a node's parents, nats.
        candidates: every node's candidates, (d, c), padded.
        counts: number of candidates, (d,).
        columns: every node's columns as a parent, (d, w), padded with −1.
        own: every node's column as a child, (d,).
        owner: the node of every column, (m,), −1 for a column without a node.
        always: columns without a node, which may be among the parents of every node.
    """

    correlations: np.ndarray
    half: float
    cost: float
    candidates: np.ndarray
    counts: np.ndarray
    columns: np.ndarray
    own: np.ndarray
    owner: np.ndarray
    always: np.ndarray

    @classmethod
    def of(
        cls,
        correlations: np.ndarray,
        rows: float,
        candidates: Sequence[Sequence[int]],
        columns: Sequence[Sequence[int]] | None = None,
        child_columns: Sequence[int] | np.ndarray | None = None,
        always: Sequence[int] = (),
        cost: float | None = None,
    ) -> "LinearModel":
        """The models of columns, by default one per node; each column costs log(rows) / 2 by default."""
        columns = [(node,) for node in range(len(candidates))] if columns is None else columns
        listed, as_parents, counts = _padded(candidates), _padded(columns), np.array([*map(len, candidates)])
        children = as_parents[:, 0] if child_columns is None else np.array(child_columns)
        owner = np.full(len(correlations), -1)
        for node, node_columns in enumerate(columns):
            owner[list(node_columns)] = node
        standard = np.ascontiguousarray(correlations, float)
        price = np.log(rows) / 2 if cost is None else cost
        return cls(standard, rows / 2, price, listed, counts, as_parents, children, owner, np.array(always, dtype=int))


class Graph(NamedTuple):
    """An order, sources first, with every node's gain from its parents, nats, changed in place.

    `parents` has their columns, (d, MOST_PARENTS), padded; `size` their number, (d,).
    """

    order: np.ndarray
    score: np.ndarray
    parents: np.ndarray
    size: np.ndarray

    @property
    def edges(self) -> list[tuple[int, int]]:
        """(parent, child) of every edge, where a node has one column."""
        return [(int(parent), node) for node, size in enumerate(self.size) for parent in self.parents[node, :size]]


def _padded(lists: Sequence[Sequence[int]]) -> np.ndarray:
    """Lists of different lengths as rows, padded with −1."""
    out = np.full((len(lists), max(map(len, lists))), -1)
    for row, values in zip(out, lists, strict=True):
        row[: len(values)] = values
    return out


def order_by_linear_models(
    correlations: np.ndarray, rows: int, candidates: Sequence[Sequence[int]], seed: int, reporter: Reporter
) -> list[int]:
    """The best order of searches from a random start and of restarts near the best.

    `correlations` are those of the columns, (d, d); the candidates of all nodes are symmetric.
    """
    model = LinearModel.of(correlations, rows, candidates)
    best = _first(model, seed)
    reached, selections, without = -np.inf, 0, 0
    for number in range(_RESTARTS + 1):
        result = searched(model, best if number == 0 else np.array(near(best.tolist(), number, seed)), reporter)
        score = float(result.graph.score.sum())
        without = 0 if score > reached + _LEAST_GAIN else without + 1
        if score > reached:
            best, reached = result.graph.order, score
        selections += result.selections
        if without == _PATIENCE or selections > _MOST_SELECTIONS or reporter.has_enough:
            break
    return best.tolist()


def first_graph(
    correlations: np.ndarray, rows: int, candidates: Sequence[Sequence[int]], seed: int, reporter: Reporter
) -> Sketch:
    """The graph at the end of the first of those searches."""
    model = LinearModel.of(correlations, rows, candidates)
    return _sketch(model, searched(model, _first(model, seed), reporter).graph)


def _first(model: LinearModel, seed: int) -> np.ndarray:
    return np.random.default_rng([seed, 23]).permutation(len(model.correlations))


def _sketch(model: LinearModel, graph: Graph) -> Sketch:
    """The graph with each edge's gain in BIC."""
    edges = []
    for node, size in enumerate(graph.size.tolist()):
        parents = graph.parents[node, :size]
        inverse = np.linalg.pinv(model.correlations[np.ix_(parents, parents)])
        effects = inverse @ model.correlations[parents, node]
        residual = max(1 - effects @ model.correlations[parents, node], 1e-10)
        gains = model.half * np.log1p(effects**2 / np.diag(inverse) / residual) - model.cost
        edges += [(int(parent), node, float(gain)) for parent, gain in zip(parents, gains, strict=True)]
    return Sketch(graph.order.tolist(), edges)


class LinearSearchResult(NamedTuple):
    """The end of a search, and the number of selections of parents."""

    graph: Graph
    selections: int


def along(model: LinearModel, order: Sequence[int] | np.ndarray) -> Graph:
    """The best graph in an order."""
    nodes = len(order)
    graph = Graph(np.array(order), np.zeros(nodes), np.zeros((nodes, MOST_PARENTS), int), np.zeros(nodes, int))
    _begin(model, graph)
    return graph


def searched(model: LinearModel, order: np.ndarray, reporter: Reporter) -> LinearSearchResult:
    """Sweeps over all nodes from an order, until none moves."""
    graph, selections = along(model, order), len(order)
    for _ in range(_MOST_SWEEPS):
        reporter.check()
        moved, count = _sweep(model, graph)
        selections += count
        if not moved:
            break
    return LinearSearchResult(graph, selections)


@in_order
def _begin(model, graph):
    """Select every node's parents among the nodes before it."""
    position, allowed, work = _room(model)
    position[graph.order] = np.arange(len(position))
    for node in graph.order:
        count = _allow_earlier(model, position, node, -1, allowed)
        graph.score[node], graph.size[node] = select(model, node, allowed[:count], graph.parents[node], work)


@in_order
def _sweep(model, graph):
    """Move every node to where the score is best, the last one first; whether any moved, and the number of selections.

    Row 0 of three arrays has the selections of the nodes around a node with it as a candidate, row 1 those without it,
    row 2 its own after the first 0, 1, 2 … of those around.
    """
    position, allowed, work = _room(model)
    width = model.candidates.shape[1] + 1
    around = np.empty(width, np.int64)
    score, size = np.zeros((3, width)), np.zeros((3, width), np.int64)
    parents = np.zeros((3, width, MOST_PARENTS), np.int64)
    moved, selections = False, 0
    position[graph.order] = np.arange(len(position))
    for node in graph.order[::-1].copy():
        count, current = _around(model, position, node, around)
        for number in range(3 * count + 1):
            kind = 0 if number < count else 1 if number < 2 * count else 2
            at = number - kind * count
            target, selected = node if kind == 2 else around[at], parents[kind, at]
            newcomer, is_known = -1, False
            if kind == 2:
                is_known, score[2, at], size[2, at] = at == 0 and len(model.always) == 0, 0.0, 0
                if at > 0:
                    newcomer, score[2, at], size[2, at] = around[at - 1], score[2, at - 1], size[2, at - 1]
                    copy(parents[2, at - 1], selected)
            else:
                score[kind, at], size[kind, at] = graph.score[target], graph.size[target]
                copy(graph.parents[target], selected)
                is_before, is_parent = position[node] < position[target], False
                for i in range(size[kind, at]):
                    is_parent |= model.owner[selected[i]] == node
                is_known = is_before if kind == 0 else not is_parent
                newcomer = node if kind == 0 else -1
            if is_known or (newcomer >= 0 and gain_of(model, target, selected[: size[kind, at]], newcomer, work) <= 0):
                continue  # the earlier selection stays the best
            if kind == 2:
                last = _allow_always(model, allowed)
                for i in range(at):
                    last = _allow(model, around[i], allowed, last)
            else:
                last = _allow_earlier(model, position, target, node, allowed)
                if kind == 0:
                    last = _allow(model, node, allowed, last)
            score[kind, at], size[kind, at] = select(model, target, allowed[:last], selected, work)
            selections += 1
        best = _best_place(score, count, current)
        if best != current:
            moved = True
            for at in range(count):
                kind, target = 1 if at < best else 0, around[at]
                graph.score[target], graph.size[target] = score[kind, at], size[kind, at]
                copy(parents[kind, at], graph.parents[target])
            graph.score[node], graph.size[node] = score[2, best], size[2, best]
            copy(parents[2, best], graph.parents[node])
            _insert(graph.order, position, node, position[around[best - 1]] if best else -1)
    return moved, selections


@in_order
def _room(model):
    """Arrays for the positions of all nodes, for the nodes that may be parents, and for selections."""
    width = (model.candidates.shape[1] + 1) * model.columns.shape[1] + len(model.always)
    columns = np.empty((width, MOST_PARENTS)), np.empty((2, width)), np.empty(width, np.bool_)
    factors = np.empty((2, MOST_PARENTS, MOST_PARENTS)), np.empty((2, MOST_PARENTS))
    return np.empty(len(model.counts), np.int64), np.empty(width, np.int64), (columns, factors)


@in_order
def _allow_earlier(model, position, node, besides, allowed):
    """Write the columns of a node's candidates before it, besides one, into `allowed`; returns their number."""
    count = _allow_always(model, allowed)
    for i in range(model.counts[node]):
        candidate = model.candidates[node, i]
        if position[candidate] < position[node] and candidate != besides:
            count = _allow(model, candidate, allowed, count)
    return count


@in_order
def _allow_always(model, allowed):
    """Write the columns without a node into `allowed`; returns their number."""
    copy(model.always, allowed)
    return len(model.always)


@in_order
def _allow(model, node, allowed, count):
    """Write a node's columns into `allowed`, after `count` others; returns the number of all."""
    for column in model.columns[node]:
        if column >= 0:
            allowed[count] = column
            count += 1
    return count


@in_order
def _around(model, position, node, around):
    """Write a node's candidates into `around` in their order; returns their number, and that of those before it."""
    count, current = model.counts[node], 0
    for i in range(count):
        candidate, at = model.candidates[node, i], i
        while at > 0 and position[around[at - 1]] > position[candidate]:
            around[at] = around[at - 1]
            at -= 1
        around[at] = candidate
        current += position[candidate] < position[node]
    return count, current


@in_order
def _best_place(score, count, current):
    """How many of the nodes around a node should precede it: the current number, unless another scores better."""
    later, reached, best, top = 0.0, 0.0, current, -np.inf
    for at in range(count, -1, -1):
        if at < count:
            later += score[0, at] - score[1, at]
        total = score[2, at] + later
        if at == current:
            reached = total
        if total > top:
            best, top = at, total
    return best if top > reached + _LEAST_GAIN else current


@in_order
def _insert(order, position, node, last):
    """Move a node to right after position `last`, −1 for the first position."""
    first = position[node]
    if first <= last:
        for i in range(first, last):
            order[i] = order[i + 1]
        order[last] = node
    else:
        for i in range(first, last + 1, -1):
            order[i] = order[i - 1]
        order[last + 1] = node
    for i in range(min(first, last + 1), min(max(first, last + 1) + 1, len(order))):
        position[order[i]] = i
