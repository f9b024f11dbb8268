"""The prior of a table's effects and edges, fitted to it (empirical Bayes).

How large the effects of a table are and how much they bend is not known beforehand, and a prior far from it misprices
every edge alike. So it is fitted to the graph that a first search finds, by MacKay's fixed point λ = Σ (1 − λ V) / Σ θ²
over the coefficients θ of one kind with posterior variances V (MacKay, Neural Computation 1992), which maximises
Laplace's marginal likelihood.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch

from disco.likelihood.bank import WIDTH, Bank, Precision
from disco.likelihood.evaluate import Problems
from disco.likelihood.newton import Fits, fit
from disco.refine.scores import Parents, Scores
from disco.refine.screen import widened

BEFORE = Precision(10.0, 1000.0, 4.0)  # what a search begins with: effects about as the lab's designs have them
_ROUNDS = 6
_TOLERANCE = 0.05  # nats
_BOUNDS = ((1.0, 100.0), (100.0, 30_000.0), (1.0, 1000.0))  # so that few edges cannot lead it astray


def fitted_to(scores: Scores, order: Sequence[int], parents: Sequence[Parents]) -> Scores:
    """Scores under the prior fitted to a graph, and with the candidates that its screen left out.

    Args:
        scores: those the graph was found by.
        order: all nodes.
        parents: of every node in it.

    Raises:
        FitStopped: the scores' `goes_on` says so.
    """
    bank = scores.bank.under(fitted(scores.bank, parents))
    odds = price(bank.nodes, sum(map(len, parents)))
    again = scores.but(bank=bank, price=odds)
    return again.but(candidates=widened(again, order, parents))


def price(nodes: int, edges: int) -> float:
    """The log prior odds against one more edge, nats: 1 to d, or less where few edges were seen.

    With a flat prior on how many of all pairs are joined (Scott and Berger, Annals of Statistics 2010) the odds against
    the next edge are (pairs − edges + 1) : (edges + 1), so that a table without edges stays without. Where there are
    more, these odds fall far below 1 to d, which lets in edges that make up for others turned (benchmarks/LOG.md).
    """
    return math.log(max(nodes, (nodes * (nodes - 1) / 2 - edges + 1) / (edges + 1)))


def fitted(bank: Bank, parents: Sequence[Sequence[int]]) -> Precision:
    """The precisions of a graph's effects.

    Args:
        bank: the table, with the precisions to begin with.
        parents: of every node.
    """
    by_size: dict[int, list[int]] = {}
    for node, nodes in enumerate(parents):
        by_size.setdefault(len(nodes), []).append(node)
    batches = [
        Problems.of([(node, sorted(parents[node])) for node in nodes], bank.columns.device)
        for size, nodes in by_size.items()
        if size
    ]
    starts: list[torch.Tensor | None] = [None] * len(batches)
    for _ in range(_ROUNDS):
        fits = [
            fit(bank, problems, start, tolerance=_TOLERANCE) for problems, start in zip(batches, starts, strict=True)
        ]
        starts = [one.theta for one in fits]
        bank = bank.under(_better(bank, batches, fits))
    return bank.prior


def _better(bank: Bank, batches: Sequence[Problems], fits: Sequence[Fits]) -> Precision:
    """One round of the fixed point."""
    told, squares = np.zeros(3), np.zeros(3)  # Σ (1 − λ V) and Σ θ², by kind: linear, bends, link
    for problems, one in zip(batches, fits, strict=True):
        variance = torch.linalg.inv(one.moments.information).diagonal(dim1=1, dim2=2).cpu().numpy()
        theta, parents = one.theta.cpu().numpy(), problems.parents.cpu().numpy()
        there = (np.arange(WIDTH) < bank.width[parents][..., None]).reshape(len(theta), -1)
        bends = np.tile(np.arange(WIDTH) > 0, parents.shape[1])
        kinds = (
            (bank.head, there & ~bends),
            (bank.head, there & bends),
            (bank.head - 1, np.ones((len(theta), 1), bool)),
        )
        for kind, (at, which) in enumerate(kinds):
            part = slice(at, at + which.shape[1])
            told[kind] += (1 - bank.prior[kind] * variance[:, part])[which].sum()
            squares[kind] += (theta[:, part] ** 2)[which].sum()
    return Precision(*(
        float(np.clip(told[kind] / max(squares[kind], 1e-12), *_BOUNDS[kind])) if told[kind] else bank.prior[kind]
        for kind in range(3)
    ))  # fmt: skip
