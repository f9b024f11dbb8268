"""Which pairs of nodes may be joined by an edge: a screen that keeps weak edges.

A pair is kept where the partial correlation of the √ranks given all other nodes stands out (Ledoit and Wolf's estimate,
which needs no more rows than columns), or where the Rao statistic of one node's columns does in a model of the other
on the nodes so kept, which sees effects that a correlation does not. How far out is set by how many false candidates a
node may bring, so that the recall does not fall with the rows.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from scipy.stats import chi2, norm
from sklearn.covariance import ledoit_wolf

from disco.errors import FitStopped
from disco.likelihood.bank import Bank
from disco.likelihood.evaluate import Problems
from disco.likelihood.newton import fit
from disco.likelihood.steps import additions
from disco.refine.scores import Scores

_FALSE = 3.0  # false candidates that a node may bring by each of the two rules, on average
_LEAST = 2.0  # standard errors that a partial correlation stands out by at least
_NEIGHBOURS = 30  # of a node's model at most, those of the strongest partial correlation
_TOLERANCE = 0.05  # nats
_AT_ONCE = 64  # nodes looked at in one product


def screen(
    bank: Bank, *, also: np.ndarray | None = None, goes_on: Callable[[], bool] = lambda: True
) -> list[tuple[int, ...]]:
    """The candidates of every node, ascending; symmetric.

    Args:
        bank: the table.
        also: pairs to keep whatever the screen says, for instance the edges of another method, (d, d) true or false.
        goes_on: asked between batches; False raises FitStopped.
    """
    nodes = bank.nodes
    share = min(_FALSE / max(nodes - 1, 1), 0.5)
    partial = np.abs(_partial_correlations(bank))
    kept = partial > max(_LEAST, norm.isf(share / 2))
    kept |= kept.T
    kept |= _standing_out(bank, np.where(kept, partial, 0.0), share, goes_on)
    if also is not None:
        kept |= also
    kept |= kept.T
    np.fill_diagonal(kept, False)
    return [tuple(np.flatnonzero(row).tolist()) for row in kept]


def widened(scores: Scores, order: Sequence[int], parents: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The candidates with those pairs that the screen left out and that would do better in a graph.

    What stands out beside all neighbours is not all: where two nodes have a child in common, conditioning on it can
    hide the edge between them. Beside a node's parents alone that edge shows.

    Args:
        scores: the table's, with the candidates so far.
        order: all nodes.
        parents: of every node in it.

    Raises:
        FitStopped: the scores' `goes_on` says so.
    """
    bank, sets = scores.bank, [set(nodes) for nodes in scores.candidates]
    for place, node in enumerate(order):
        if not scores.goes_on():
            raise FitStopped("the refinement was stopped.")
        others = [other for other in order[:place] if other not in sets[node]]
        problems = Problems.of([(node, sorted(parents[node]))], bank.columns.device)
        fits = fit(bank, problems, tolerance=_TOLERANCE)
        for at in range(0, len(others), _AT_ONCE):
            part = others[at : at + _AT_ONCE]
            promised = additions(bank, problems, fits, torch.tensor([part], device=bank.columns.device)).evidence[0]
            worth = promised.cpu().numpy() > [scores.price_of(other, node) for other in part]
            for other in np.array(part)[worth].tolist():
                sets[node].add(other)
                sets[other].add(node)
    return [tuple(sorted(nodes)) for nodes in sets]


def _partial_correlations(bank: Bank) -> np.ndarray:
    """In standard errors, (d, d); 0 on the diagonal."""
    roots = np.sqrt(bank.ranks.cpu().numpy())
    standard = (roots - roots.mean(0)) / roots.std(0)
    precision = np.linalg.inv(ledoit_wolf(standard)[0])
    scale = np.sqrt(np.diag(precision))
    partial = -precision / np.outer(scale, scale)
    np.fill_diagonal(partial, 0.0)
    free = max(bank.rows - bank.nodes, 1)
    return np.arctanh(partial.clip(-0.999999, 0.999999)) * np.sqrt(free)


def _standing_out(bank: Bank, partial: np.ndarray, share: float, goes_on: Callable[[], bool]) -> np.ndarray:
    """Pairs whose Rao statistic stands out in the model of a node on its neighbours, (d, d), rows the child.

    Args:
        bank: the table.
        partial: how far each pair's partial correlation stands out, 0 where it does not, (d, d).
        share: of the pairs that may stand out by chance.
        goes_on: asked before every node.
    """
    least = chi2.isf(share, bank.width) / 2
    found = np.zeros(partial.shape, dtype=bool)
    for node, row in enumerate(partial):
        if not goes_on():
            raise FitStopped("the refinement was stopped.")
        nearest = np.argsort(-row, kind="stable")[:_NEIGHBOURS]
        neighbours = np.sort(nearest[row[nearest] > 0])
        problems = Problems.of([(node, neighbours.tolist())], bank.columns.device)
        fits = fit(bank, problems, tolerance=_TOLERANCE)
        for at in range(0, bank.nodes, _AT_ONCE):
            part = torch.arange(at, min(at + _AT_ONCE, bank.nodes), device=bank.columns.device)
            gain = additions(bank, problems, fits, part[None]).gain[0].cpu().numpy()
            found[node, at : at + _AT_ONCE] = gain > least[at : at + _AT_ONCE]
        found[node, [node, *neighbours]] = False
    return found
