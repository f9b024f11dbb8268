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

_FALSE = 3.0  # false candidates per node by each of the two rules, on average
_LEAST = 2.0  # smallest partial correlation of a kept pair, in standard errors
_MOST = 30  # candidates that a node names by each of the two rules, those that stand out most
_LEAST_VARIANCE = 1e-9  # of a principal component of the standardised √ranks
_BLOCK = 512  # nodes per product of all partial correlations
_AT_ONCE = 64  # candidates per product
_SIDE_BY_SIDE = 16  # nodes fitted in one batch
_PART = 128  # nodes screened by one call


class HasDesign(Protocol):
    """What has a table's design, as a task."""

    @property
    def design(self) -> RankDesign: ...


def screen(
    design: RankDesign,
    *,
    also: np.ndarray | None = None,
    rules: Resolved | None = None,
    reporter: Reporter = SILENT,
    within: HasDesign | None = None,
) -> list[tuple[int, ...]]:
    """Every node's candidates, ascending; symmetric.

    Args:
        design: the table.
        also: mask of pairs to keep in any case, for instance another method's edges, (d, d).
        rules: pairs forbidden in both directions are excluded, and required ones are kept.
        reporter: receives the number of finished nodes before every batch.
        within: the task of this design, if later work shares it too: then a worker gets the table once.
    """
    nodes = design.nodes
    share = min(_FALSE / max(nodes - 1, 1), 0.5)
    least = max(_LEAST, -ndtri(share / 2))
    kept, neighbours = np.zeros((nodes, nodes), dtype=bool), list[list[int]]()
    for _, partial in _partial_correlations(design):
        neighbours += [_largest(row, least) for row in partial]
    for node, own in enumerate(neighbours):
        kept[node, own] = True
    kept |= _standing_out(within or design, neighbours, share, reporter)
    if also is not None:
        kept |= also
    if rules is not None:
        kept |= rules.required
    kept |= kept.T
    if rules is not None:
        kept &= ~(rules.forbidden & rules.forbidden.T)
    np.fill_diagonal(kept, False)
    return [tuple(np.flatnonzero(row).tolist()) for row in kept]


def widened(scores: Scores, order: Sequence[int], parents: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The candidates, plus the screened-out pairs that would raise the score of a graph (`supported`)."""
    return with_pairs(scores.candidates, supported(scores, order, parents, range(len(order))))


def with_pairs(candidates: Sequence[tuple[int, ...]], pairs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The candidates and some more pairs, symmetric."""
    sets = [set(nodes) for nodes in candidates]
    for one, other in pairs:
        sets[one].add(other)
        sets[other].add(one)
    return [tuple(sorted(nodes)) for nodes in sets]


def parts_of(nodes: int) -> list[range]:
    """The nodes in parts that may be screened apart."""
    return [range(first, min(first + _PART, nodes)) for first in range(0, nodes, _PART)]


def supported(
    scores: Scores, order: Sequence[int], parents: Sequence[Sequence[int]], part: range
) -> list[tuple[int, int]]:
    """The screened-out pairs (child, earlier node) that would raise the score of a graph.

    The screen conditions on all neighbours. A common child of two nodes can hide the edge between them; given a node's
    parents alone, the edge is visible.

    Args:
        scores: the table's scores, with the candidates so far.
        order: all nodes.
        parents: of every node in it.
        part: the positions of the children.
    """
    design, found = scores.design, list[tuple[int, int]]()
    for first in range(part.start, part.stop, _SIDE_BY_SIDE):
        scores.reporter.check()
        nodes = order[first : min(first + _SIDE_BY_SIDE, part.stop)]
        problems = Problems.of([(node, sorted(parents[node])) for node in nodes])
        fits = fit(design, problems, tolerance=SEARCHING)
        before = [_open(scores, order[: first + number], node) for number, node in enumerate(nodes)]
        for at in range(0, max(map(len, before)), _AT_ONCE):
            lists = [(node, others[at : at + _AT_ONCE]) for node, others in zip(nodes, before, strict=True)]
            others = Problems.of(lists).parents
            predicted = additions(design, problems, fits, others).evidence
            found += [
                (node, other)
                for node, ones, worth in zip(nodes, others.tolist(), predicted, strict=True)
                for other, nats in zip(ones, worth, strict=True)
                if other >= 0 and nats > scores.cost_of(other, node)
            ]
    return found


def _open(scores: Scores, before: Sequence[int], node: int) -> list[int]:
    """The nodes before a node that are no candidates, nor forbidden."""
    known, rules = scores.index[node], scores.rules
    never = () if rules is None else set(np.flatnonzero(rules.forbidden[:, node]).tolist())
    return [other for other in before if other not in known and other not in never]


def correlations(design: RankDesign, values: np.ndarray | None = None) -> np.ndarray:
    """Correlations of the √ranks, or of other values (n, d), given the rows' own columns, (d, d)."""
    standard = _standardised(design, values)
    return standard.T @ standard / design.rows


def _standardised(design: RankDesign, values: np.ndarray | None = None) -> np.ndarray:
    """The standardised √ranks, or other values, without what the rows' own columns explain, (n, d)."""
    roots, own = np.sqrt(design.parent_ranks) if values is None else values, _own(design)
    if own.shape[1]:
        around = np.column_stack([np.ones(design.rows), own])
        roots = roots - around @ np.linalg.lstsq(around, roots, rcond=None)[0]
    return (roots - roots.mean(0)) / np.maximum(roots.std(0), _LEAST_VARIANCE)


def _own(design: RankDesign) -> np.ndarray:
    """The rows' own columns, (n, columns)."""
    return design.columns[design.nodes :].reshape(-1, design.rows)[design.kinds.ravel() >= 0].T.astype(float)


def _partial_correlations(design: RankDesign) -> Iterator[tuple[int, np.ndarray]]:
    """The sizes of partial correlations given the rows' own columns too, in standard errors, block by block.

    Returns:
        For every block of nodes, the first of them and (nodes, d); 0 for a node with itself.
    """
    root, diagonal = _precision(_standardised(design))
    scale = np.sqrt(diagonal)
    free = max(design.rows - design.nodes - _own(design).shape[1], 1)
    for first in range(0, design.nodes, _BLOCK):
        part = slice(first, first + _BLOCK)
        partial = root[part] @ root.T / np.outer(scale[part], scale)
        np.fill_diagonal(partial[:, first:], 0.0)
        yield first, np.arctanh(np.abs(partial).clip(max=0.999999)) * np.sqrt(free)


def _precision(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of the shrunk covariance of centred columns, (n, d): R and its diagonal, (d,).

    Other than on the diagonal, it is R Rᵀ or −R Rᵀ, R (d, ·). With fewer rows than columns, the covariance is a
    multiple of the identity and a product of the rows, and so is its inverse (Woodbury).
    """
    rows, nodes = values.shape
    share, mean = _shrinkage(values)
    if nodes <= rows:
        found, vectors = np.linalg.eigh((1 - share) * (values.T @ values / rows) + share * mean * np.eye(nodes))
        # If other columns determine a column, no variance is left, and the shrinkage is too small to show it.
        root = vectors / np.sqrt(np.maximum(found, _LEAST_VARIANCE))
        return root, (root**2).sum(1)
    found, vectors = np.linalg.eigh(values @ values.T / rows)
    added = max(share * mean, _LEAST_VARIANCE)
    root = values.T @ vectors * np.sqrt((1 - share) / rows / (added + (1 - share) * found.clip(0)) / added)
    return root, 1 / added - (root**2).sum(1)


def _shrinkage(values: np.ndarray) -> tuple[float, float]:
    """How far to shrink the covariance of centred columns, (n, d), towards a multiple of the identity, and which.

    Ledoit and Wolf's optimal linear shrinkage (2004), as in scikit-learn, whose import takes half of the time of a
    small refinement.
    """
    rows, nodes = values.shape
    product = values.T @ values if nodes <= rows else values @ values.T  # both have the same sum of squares
    squares, mean = (product**2).sum() / rows**2, np.trace(product) / rows / nodes
    apart = squares - nodes * mean**2
    error = ((values**2).sum(1) ** 2).sum() / rows - squares
    share = 1.0 if error >= rows * apart else max(error, 0.0) / rows / apart
    return float(share), float(mean)


def _largest(values: np.ndarray, least: float) -> list[int]:
    """The nodes with the largest values above the least one, ascending."""
    found = np.flatnonzero(values > least)
    return sorted(found[np.argsort(-values[found], kind="stable")[:_MOST]].tolist())


def _standing_out(
    shared: RankDesign | HasDesign, neighbours: Sequence[list[int]], share: float, reporter: Reporter
) -> np.ndarray:
    """Pairs with a large Rao statistic in the model of a node on its neighbours, (d, d); the child is the row.

    Args:
        shared: the table, or its task.
        neighbours: of every node, ascending.
        share: allowed share of pairs kept by chance.
        reporter: receives the number of finished nodes before every part.
    """
    design = _design_of(shared)
    least, found = chdtri(design.width[: design.nodes], share) / 2, np.zeros((design.nodes,) * 2, dtype=bool)
    asked = [(part, [neighbours[node] for node in part], least) for part in parts_of(design.nodes)]
    for (part, *_), pairs in zip(asked, each(_outstanding, (shared,), asked, reporter), strict=True):
        reporter.check(part.stop)
        found[pairs[0] + part.start, pairs[1]] = True
    return found


def _design_of(shared: RankDesign | HasDesign) -> RankDesign:
    return shared if isinstance(shared, RankDesign) else shared.design


def _outstanding(
    shared: RankDesign | HasDesign, asked: tuple[range, list[list[int]], np.ndarray], reporter: Reporter
) -> tuple[np.ndarray, ...]:
    """The pairs of some nodes: the children, counted from the first of these, and the others.

    Args:
        asked: these nodes, their neighbours, and the least statistic of every node, (d,).
    """
    design, (part, neighbours, each_least) = _design_of(shared), asked
    least, above = each_least, np.zeros((len(part), design.nodes))
    found = np.zeros((len(part), design.nodes), dtype=bool)
    for first in range(0, len(part), _SIDE_BY_SIDE):
        reporter.check()
        own = neighbours[first : first + _SIDE_BY_SIDE]
        nodes = part[first : first + _SIDE_BY_SIDE]
        problems = Problems.of(list(zip(nodes, own, strict=True)))
        fits = fit(design, problems, tolerance=SEARCHING)
        for at in range(0, design.nodes, _AT_ONCE):
            others = np.arange(at, min(at + _AT_ONCE, design.nodes))
            gain = additions(design, problems, fits, np.tile(others, (len(nodes), 1))).gain
            above[first : first + len(nodes), at : at + _AT_ONCE] = gain - least[at : at + _AT_ONCE]
        for number, node in enumerate(nodes):
            above[first + number, [node, *own[number]]] = 0.0
            found[first + number, _largest(above[first + number], 0.0)] = True
    return found.nonzero()
