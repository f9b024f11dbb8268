"""Which pairs of nodes may be joined by an edge: a screen that keeps weak edges.

A pair is kept if the partial correlation of the √ranks given all other nodes is large (Ledoit and Wolf's estimate,
which works with fewer rows than columns), or if the Rao statistic of one node's columns is large in a model of the
other node on the nodes kept so far. The latter detects effects that a correlation misses. The threshold follows from
the allowed number of false candidates per node, so that recall does not fall with the number of rows. In many real
tables nearly all nodes go along with each other: then a node names only those that stand out most. A pair is kept if
either node names it, so a hub keeps all of its neighbours.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
from scipy.special import chdtri, ndtri

from disco.cluster import each
from disco.knowledge import Resolved
from disco.likelihood.batch import Problems
from disco.likelihood.newton import fit
from disco.likelihood.rank_design import RankDesign
from disco.likelihood.score_test import additions
from disco.progress import SILENT, Reporter
from disco.refine.node_scores import SEARCHING, Scores

_FALSE_PER_NODE = 3.0  # expected false candidates by each of the two rules
_LEAST_PARTIAL = 2.0  # smallest partial correlation of a kept pair, in standard errors
_MOST_PER_NODE = 30  # candidates that a node names by each of the two rules, those that stand out most
_LEAST_VARIANCE = 1e-9  # of a principal component of the standardised √ranks
_BLOCK = 512  # nodes per product of all partial correlations
_PRODUCT = 64  # candidates per product
_BATCH = 16  # nodes fitted in one batch
_NODES_PER_CALL = 128  # nodes screened by one call


class HasDesign(Protocol):
    """Anything with a table's design, such as a task."""

    @property
    def design(self) -> RankDesign: ...


def screen(
    design: RankDesign,
    *,
    also: np.ndarray | None = None,
    rules: Resolved | None = None,
    reporter: Reporter = SILENT,
    within: HasDesign | None = None,
    leading: int = 0,
) -> list[tuple[int, ...]]:
    """Every node's candidates, ascending; symmetric.

    Args:
        also: mask of pairs to keep in any case, for instance another method's edges, (d, d).
        rules: pairs forbidden in both directions are excluded, and required ones are kept.
        reporter: receives the number of finished nodes before every batch.
        within: the task of this design, if later work shares it too: then a worker gets the table once.
        leading: number of nodes at the start that have no causes.
    """
    nodes = design.nodes
    level = min(_FALSE_PER_NODE / max(nodes - 1, 1), 0.5)
    threshold = max(_LEAST_PARTIAL, -ndtri(level / 2))
    joined, neighbours = np.zeros((nodes, nodes), dtype=bool), list[list[int]]()
    for _, partial in _partial_correlations(design):
        neighbours += [_largest(row, threshold) for row in partial]
    for node, largest in enumerate(neighbours):
        joined[node, largest] = True
    joined |= _dependent(within or design, neighbours, level, reporter, leading)
    if also is not None:
        joined |= also
    if rules is not None:
        joined |= rules.required
    joined |= joined.T
    if rules is not None:
        joined &= ~(rules.forbidden & rules.forbidden.T)
    np.fill_diagonal(joined, False)
    return [tuple(np.flatnonzero(row).tolist()) for row in joined]


def widened(scores: Scores, order: Sequence[int], parents: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The candidates, plus the screened-out pairs that would raise the score of a graph (`supported`)."""
    return with_pairs(scores.candidates, supported(scores, order, parents, range(len(order))))


def with_pairs(candidates: Sequence[tuple[int, ...]], pairs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The candidates with further pairs, symmetric."""
    sets = [set(nodes) for nodes in candidates]
    for first, second in pairs:
        sets[first].add(second)
        sets[second].add(first)
    return [tuple(sorted(nodes)) for nodes in sets]


def parts_of(nodes: int, start: int = 0) -> list[range]:
    """Ranges of nodes, from a first one on, that can be screened independently."""
    return [range(first, min(first + _NODES_PER_CALL, nodes)) for first in range(start, nodes, _NODES_PER_CALL)]


def supported(
    scores: Scores, order: Sequence[int], parents: Sequence[Sequence[int]], positions: range
) -> list[tuple[int, int]]:
    """The screened-out pairs (child, earlier node) that would raise the score of a graph; the children at some
    positions.

    The screen conditions on all neighbours. A common child of two nodes can hide the edge between them; given a node's
    parents alone, the edge is visible.
    """
    design, pairs = scores.design, list[tuple[int, int]]()
    for first in range(positions.start, positions.stop, _BATCH):
        scores.reporter.check()
        nodes = order[first : min(first + _BATCH, positions.stop)]
        problems = Problems.of([(node, sorted(parents[node])) for node in nodes])
        fits = fit(design, problems, tolerance=SEARCHING)
        earlier = [_untested(scores, order[: first + number], node) for number, node in enumerate(nodes)]
        for at in range(0, max(map(len, earlier)), _PRODUCT):
            lists = [(node, candidates[at : at + _PRODUCT]) for node, candidates in zip(nodes, earlier, strict=True)]
            candidates = Problems.of(lists).parents
            predicted = additions(design, problems, fits, candidates).evidence
            pairs += [
                (node, candidate)
                for node, row, worth in zip(nodes, candidates.tolist(), predicted, strict=True)
                for candidate, nats in zip(row, worth, strict=True)
                if candidate >= 0 and nats > scores.cost_of(candidate, node)
            ]
    return pairs


def _untested(scores: Scores, earlier: Sequence[int], node: int) -> list[int]:
    """The earlier nodes that are neither candidates of a node nor forbidden."""
    candidates, rules = scores.index[node], scores.rules
    never = () if rules is None else set(np.flatnonzero(rules.forbidden[:, node]).tolist())
    return [other_node for other_node in earlier if other_node not in candidates and other_node not in never]


def correlations(design: RankDesign, values: np.ndarray | None = None) -> np.ndarray:
    """Correlations of the √ranks, or of other values (n, d), given the rows' own columns, (d, d)."""
    standard = _standardised(design, values)
    return standard.T @ standard / design.rows


def _standardised(design: RankDesign, values: np.ndarray | None = None) -> np.ndarray:
    """The standardised √ranks, or other values, without what the rows' own columns explain, (n, d)."""
    roots, covariates = np.sqrt(design.parent_ranks) if values is None else values, _row_columns(design)
    if covariates.shape[1]:
        around = np.column_stack([np.ones(design.rows), covariates])
        roots = roots - around @ np.linalg.lstsq(around, roots, rcond=None)[0]
    return (roots - roots.mean(0)) / np.maximum(roots.std(0), _LEAST_VARIANCE)


def _row_columns(design: RankDesign) -> np.ndarray:
    """The rows' own columns, (n, columns)."""
    return design.columns[design.nodes :].reshape(-1, design.rows)[design.kinds.ravel() >= 0].T.astype(float)


def _partial_correlations(design: RankDesign) -> Iterator[tuple[int, np.ndarray]]:
    """Absolute partial correlations given the rows' own columns too, in standard errors.

    Yields the first node of every block and (nodes, d); 0 for a node with itself.
    """
    root, diagonal = _precision(_standardised(design))
    scale = np.sqrt(diagonal)
    free = max(design.rows - design.nodes - _row_columns(design).shape[1], 1)
    for first in range(0, design.nodes, _BLOCK):
        block = slice(first, first + _BLOCK)
        partial = root[block] @ root.T / np.outer(scale[block], scale)
        np.fill_diagonal(partial[:, first:], 0.0)
        yield first, np.arctanh(np.abs(partial).clip(max=0.999999)) * np.sqrt(free)


def _precision(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of the shrunk covariance of centred columns, (n, d), as R (d, ·) and its diagonal, (d,).

    Off the diagonal, it is R Rᵀ or −R Rᵀ. With fewer rows than columns, the covariance is a multiple of the identity
    and a product of the rows, and so is its inverse (Woodbury).
    """
    rows, nodes = values.shape
    share, mean = _shrinkage(values)
    if nodes <= rows:
        eigenvalues, vectors = np.linalg.eigh((1 - share) * (values.T @ values / rows) + share * mean * np.eye(nodes))
        # If other columns determine a column, no variance is left, and the shrinkage is too small to show it.
        root = vectors / np.sqrt(np.maximum(eigenvalues, _LEAST_VARIANCE))
        return root, (root**2).sum(1)
    eigenvalues, vectors = np.linalg.eigh(values @ values.T / rows)
    added = max(share * mean, _LEAST_VARIANCE)
    root = values.T @ vectors * np.sqrt((1 - share) / rows / (added + (1 - share) * eigenvalues.clip(0)) / added)
    return root, 1 / added - (root**2).sum(1)


def _shrinkage(values: np.ndarray) -> tuple[float, float]:
    """The share and the scale of the identity towards which the covariance of centred columns, (n, d), is shrunk.

    Ledoit and Wolf's optimal linear shrinkage (2004), as in scikit-learn, whose import takes half of the time of a
    small refinement.
    """
    rows, nodes = values.shape
    product = values.T @ values if nodes <= rows else values @ values.T  # both have the same sum of squares
    squares, mean = (product**2).sum() / rows**2, np.trace(product) / rows / nodes
    distance = squares - nodes * mean**2
    error = ((values**2).sum(1) ** 2).sum() / rows - squares
    share = 1.0 if error >= rows * distance else max(error, 0.0) / rows / distance
    return float(share), float(mean)


def _largest(values: np.ndarray, threshold: float) -> list[int]:
    above = np.flatnonzero(values > threshold)
    return sorted(above[np.argsort(-values[above], kind="stable")[:_MOST_PER_NODE]].tolist())


def _dependent(
    shared: RankDesign | HasDesign, neighbours: Sequence[list[int]], level: float, reporter: Reporter, leading: int
) -> np.ndarray:
    """Pairs whose Rao statistic given the child's neighbours rejects independence at a level, (d, d); rows are
    children.
    """
    design = _design_of(shared)
    thresholds, joined = chdtri(design.width[: design.nodes], level) / 2, np.zeros((design.nodes,) * 2, dtype=bool)
    requests = [(nodes, [neighbours[node] for node in nodes], thresholds) for nodes in parts_of(design.nodes, leading)]
    for (nodes, *_), pairs in zip(requests, each(_dependent_of, (shared,), requests, reporter), strict=True):
        reporter.check(nodes.stop)
        joined[pairs[0] + nodes.start, pairs[1]] = True
    return joined


def _design_of(shared: RankDesign | HasDesign) -> RankDesign:
    return shared if isinstance(shared, RankDesign) else shared.design


def _dependent_of(
    shared: RankDesign | HasDesign, request: tuple[range, list[list[int]], np.ndarray], reporter: Reporter
) -> tuple[np.ndarray, ...]:
    """The pairs of some nodes: the children, counted from the first of these, and the others.

    The request has these nodes, their neighbours, and the smallest statistic required of every node, (d,).
    """
    design, (screened, neighbours, limits) = _design_of(shared), request
    thresholds, above = limits, np.zeros((len(screened), design.nodes))
    joined = np.zeros((len(screened), design.nodes), dtype=bool)
    for first in range(0, len(screened), _BATCH):
        reporter.check()
        parents = neighbours[first : first + _BATCH]
        nodes = screened[first : first + _BATCH]
        problems = Problems.of(list(zip(nodes, parents, strict=True)))
        fits = fit(design, problems, tolerance=SEARCHING)
        for at in range(0, design.nodes, _PRODUCT):
            candidates = np.arange(at, min(at + _PRODUCT, design.nodes))
            gain = additions(design, problems, fits, np.tile(candidates, (len(nodes), 1))).gain
            above[first : first + len(nodes), at : at + _PRODUCT] = gain - thresholds[at : at + _PRODUCT]
        for number, node in enumerate(nodes):
            above[first + number, [node, *parents[number]]] = 0.0
            joined[first + number, _largest(above[first + number], 0.0)] = True
    return joined.nonzero()
