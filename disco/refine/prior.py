"""The prior of a table's effects, edges and directions, fitted to it (empirical Bayes).

How large the effects of a table are and how much they bend is not known beforehand, and a prior far from it misprices
every edge alike. So it is fitted to the graph that a first search finds, by MacKay's fixed point λ = Σ (1 − λ V) / Σ θ²
over the coefficients θ of one kind with posterior variances V (MacKay, Neural Computation 1992), which maximises
Laplace's marginal likelihood. The linear effects have a mean too: where most of a table's effects have one sign and
like sizes, a weak edge of the other sign has to show more (benchmarks/LOG.md).

How far an order from elsewhere is right about directions is fitted too: to the edges whose direction the rows decide.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from scipy.optimize import minimize_scalar

from disco.likelihood.bank import WIDTH, Bank, Prior
from disco.likelihood.evaluate import Problems
from disco.likelihood.newton import Fits, fit
from disco.refine.evidence import BOUND, evidence
from disco.refine.scores import AGAINST, Parents, Scores
from disco.refine.screen import widened

BEFORE = Prior(10.0, 1000.0, 4.0)  # what a search begins with: effects about as the lab's designs have them
_TO_NONE = 10.0  # precision of the linear effects' mean about 0, so that few edges do not set it
_ROUNDS = 8
_TOLERANCE = 0.05  # nats
_BOUNDS = ((1.0, 200.0), (100.0, 30_000.0), (1.0, 1000.0))  # so that few edges cannot lead it astray


def fitted_to(scores: Scores, order: Sequence[int], parents: Sequence[Parents]) -> Scores:
    """Scores under the priors fitted to a graph, and with the candidates that its screen left out.

    Args:
        scores: those the graph was found by.
        order: all nodes.
        parents: of every node in it.

    Raises:
        FitStopped: the scores' `goes_on` says so.
    """
    bank = scores.bank.under(fitted(scores.bank, parents))
    against = scores.against if scores.order is None else trust(scores, parents)
    again = scores.but(bank=bank, price=price(bank.nodes, sum(map(len, parents))), against=against)
    return again.but(candidates=widened(again, order, parents))


def price(nodes: int, edges: int) -> float:
    """The log prior odds against one more edge, nats, with a flat prior on how many of all pairs are joined.

    They are (pairs − edges + 1) : (edges + 1) (Scott and Berger, Annals of Statistics 2010), so that a table without
    edges stays without, and never less than even.
    """
    return math.log(max((nodes * (nodes - 1) / 2 - edges + 1) / (edges + 1), 1.0))


def trust(scores: Scores, parents: Sequence[Sequence[int]]) -> float:
    """How the log odds that a direction runs along the scores' order grow with the share of it between the two nodes.

    A logistic regression on the edges of a graph whose direction the rows decide, whichever they say. Beside them
    counts an edge across a tenth of the order, as often along it as `AGAINST` has it, so that without any it is that.

    Returns:
        Nats for the whole order, 0 to 40.

    Raises:
        FitStopped: the scores' `goes_on` says so.
    """
    place = {node: at for at, node in enumerate(scores.order)}
    rows = evidence(scores, [tuple(nodes) for nodes in parents])
    spans = [
        (place[child] - place[parent]) / len(place) * math.copysign(1.0, nats)
        for parent, child, nats in zip(rows["parent"], rows["child"], rows["direction_nats"], strict=True)
        if abs(nats) >= BOUND
    ] + [0.1, -0.1]
    along, counts = np.array(spans), np.append(np.ones(len(spans) - 1), math.exp(-0.1 * AGAINST))
    return float(
        minimize_scalar(lambda nats: counts @ np.logaddexp(0, -nats * along), bounds=(0, 40), method="bounded").x
    )


def fitted(bank: Bank, parents: Sequence[Sequence[int]]) -> Prior:
    """The prior of a graph's effects.

    Args:
        bank: the table, with the prior to begin with.
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


def _better(bank: Bank, batches: Sequence[Problems], fits: Sequence[Fits]) -> Prior:
    """One round of the fixed point."""
    told, squares = np.zeros(3), np.zeros(3)  # Σ (1 − λ V) and Σ (θ − mean)², by kind: linear, bends, link
    effects, many = 0.0, 0
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
            mean = 0.0 if kind else bank.prior.mean
            squares[kind] += ((theta[:, part] - mean) ** 2)[which].sum()
        at, linear = kinds[0]
        effects += theta[:, at : at + linear.shape[1]][linear].sum()
        many += linear.sum()
    precisions = [
        float(np.clip(told[kind] / max(squares[kind], 1e-12), *_BOUNDS[kind])) if told[kind] else bank.prior[kind]
        for kind in range(3)
    ]
    mean = bank.prior.linear * effects / (bank.prior.linear * many + _TO_NONE)
    return Prior(*precisions, mean=float(mean))
