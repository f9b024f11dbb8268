"""Which pairs of nodes may be joined by an edge: a screen that keeps weak edges.

A pair is kept if the partial correlation of the √ranks given all other nodes is large (Ledoit and Wolf's estimate,
which works with fewer rows than columns), or if the Rao statistic of one node's columns is large in a model of the
other node on the nodes kept so far. The latter detects effects that a correlation misses. The threshold follows from
the allowed number of false candidates per node, so that recall does not fall with the number of rows.
"""

from collections.abc import Sequence

import numpy as np
import torch
from scipy.special import chdtri, ndtri

from disco.knowledge import Resolved
from disco.likelihood.batch import Problems
from disco.likelihood.design import Design
from disco.likelihood.newton import fit
from disco.likelihood.steps import additions
from disco.progress import SILENT, Reporter
from disco.refine.scores import SEARCHING, Scores

_FALSE = 3.0  # false candidates per node by each of the two rules, on average
_LEAST = 2.0  # smallest partial correlation of a kept pair, in standard errors
_NEIGHBOURS = 30  # largest number in a node's model, by partial correlation
_LEAST_VARIANCE = 1e-9  # of a principal component of the standardised √ranks
_AT_ONCE = 64  # candidates per product
_SIDE_BY_SIDE = 16  # nodes fitted in one batch


def screen(
    design: Design, *, also: np.ndarray | None = None, rules: Resolved | None = None, reporter: Reporter = SILENT
) -> list[tuple[int, ...]]:
    """Every node's candidates, ascending; symmetric.

    Args:
        design: the table.
        also: mask of pairs to keep in any case, for instance another method's edges, (d, d).
        rules: pairs forbidden in both directions are excluded, and required ones are kept.
        reporter: receives the number of finished nodes before every batch.
    """
    nodes = design.nodes
    share = min(_FALSE / max(nodes - 1, 1), 0.5)
    partial = np.abs(_partial_correlations(design))
    kept = partial > max(_LEAST, -ndtri(share / 2))
    kept |= kept.T
    kept |= _standing_out(design, np.where(kept, partial, 0.0), share, reporter)
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
    """The candidates, plus the screened-out pairs that would raise the score of a graph.

    The screen conditions on all neighbours. A common child of two nodes can hide the edge between them; given a node's
    parents alone, the edge is visible.

    Args:
        scores: the table's scores, with the candidates so far.
        order: all nodes.
        parents: of every node in it.
    """
    design, sets = scores.design, [set(nodes) for nodes in scores.candidates]
    never = np.zeros((design.nodes, design.nodes), dtype=bool) if scores.rules is None else scores.rules.forbidden
    for first in range(0, len(order), _SIDE_BY_SIDE):
        scores.reporter.check()
        nodes = order[first : first + _SIDE_BY_SIDE]
        problems = Problems.of([(node, sorted(parents[node])) for node in nodes], design.columns.device)
        fits = fit(design, problems, tolerance=SEARCHING)
        before = [
            [other for other in order[: first + number] if other not in sets[node] and not never[other, node]]
            for number, node in enumerate(nodes)
        ]
        for at in range(0, max(map(len, before)), _AT_ONCE):
            lists = Problems.of(
                [(node, others[at : at + _AT_ONCE]) for node, others in zip(nodes, before, strict=True)],
                design.columns.device,
            )
            predicted = additions(design, problems, fits, lists.parents).evidence.cpu().numpy()
            for node, others, worth in zip(nodes, lists.parents.tolist(), predicted, strict=True):
                for other, nats in zip(others, worth, strict=True):
                    if other >= 0 and nats > scores.cost_of(other, node):
                        sets[node].add(other)
                        sets[other].add(node)
    return [tuple(sorted(nodes)) for nodes in sets]


def correlations(design: Design) -> np.ndarray:
    """Correlations of the √ranks given the rows' own columns, (d, d)."""
    standard = _standardised(design)
    return standard.T @ standard / design.rows


def _standardised(design: Design) -> np.ndarray:
    """The standardised √ranks without what the rows' own columns explain, (n, d)."""
    roots, own = np.sqrt(design.parent_ranks.cpu().numpy()), _own(design)
    if own.shape[1]:
        around = np.column_stack([np.ones(design.rows), own])
        roots = roots - around @ np.linalg.lstsq(around, roots, rcond=None)[0]
    return (roots - roots.mean(0)) / np.maximum(roots.std(0), _LEAST_VARIANCE)


def _own(design: Design) -> np.ndarray:
    """The rows' own columns, (n, columns)."""
    return design.columns[design.nodes :].flatten(0, 1)[design.kinds.flatten() >= 0].cpu().numpy().T.astype(float)


def _partial_correlations(design: Design) -> np.ndarray:
    """Partial correlations given the rows' own columns too, in standard errors, (d, d); 0 on the diagonal."""
    values, vectors = np.linalg.eigh(shrunk_covariance(_standardised(design)))
    # If other columns determine a column, no variance is left, and the shrinkage is too small to show it.
    precision = (vectors / np.maximum(values, _LEAST_VARIANCE)) @ vectors.T
    scale = np.sqrt(np.diag(precision))
    partial = -precision / np.outer(scale, scale)
    np.fill_diagonal(partial, 0.0)
    free = max(design.rows - design.nodes - _own(design).shape[1], 1)
    return np.arctanh(partial.clip(-0.999999, 0.999999)) * np.sqrt(free)


def shrunk_covariance(values: np.ndarray) -> np.ndarray:
    """The covariance of centred columns, shrunk towards a multiple of the identity; (rows, d) → (d, d).

    Ledoit and Wolf's optimal linear shrinkage (2004), as in scikit-learn, whose import takes half of the time of a
    small refinement.
    """
    rows, nodes = values.shape
    found = values.T @ values / rows
    mean = np.trace(found) / nodes
    apart = ((found - mean * np.eye(nodes)) ** 2).sum()
    error = (((values**2).sum(1) ** 2).sum() / rows - (found**2).sum()) / rows
    share = 1.0 if error >= apart else max(error, 0.0) / apart
    return (1 - share) * found + share * mean * np.eye(nodes)


def _standing_out(design: Design, partial: np.ndarray, share: float, reporter: Reporter) -> np.ndarray:
    """Pairs with a large Rao statistic in the model of a node on its neighbours, (d, d); the child is the row.

    Args:
        design: the table.
        partial: each pair's partial correlation in standard errors, 0 if not large, (d, d).
        share: allowed share of pairs kept by chance.
        reporter: receives the number of finished nodes before every batch.
    """
    least = torch.as_tensor(chdtri(design.width[: design.nodes], share) / 2)
    found = np.zeros(partial.shape, dtype=bool)
    neighbours = [
        [int(other) for other in np.sort(np.argsort(-row, kind="stable")[:_NEIGHBOURS]) if row[other] > 0]
        for row in partial
    ]
    for first in range(0, design.nodes, _SIDE_BY_SIDE):
        reporter.check(first)
        nodes = range(first, min(first + _SIDE_BY_SIDE, design.nodes))
        problems = Problems.of([(node, neighbours[node]) for node in nodes], design.columns.device)
        fits = fit(design, problems, tolerance=SEARCHING)
        for at in range(0, design.nodes, _AT_ONCE):
            part = torch.arange(at, min(at + _AT_ONCE, design.nodes), device=design.columns.device)
            gain = additions(design, problems, fits, part.expand(len(nodes), -1)).gain.cpu()
            found[first : first + len(nodes), at : at + _AT_ONCE] = gain > least[at : at + _AT_ONCE]
        for node in nodes:
            found[node, [node, *neighbours[node]]] = False
    return found
