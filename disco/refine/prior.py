"""The prior of a table's effects, edges and directions, fitted to it (empirical Bayes).

How large the effects of a table are and how much they bend is not known beforehand, and a prior far from it misprices
every edge alike. So it is fitted to the graph that a first search finds: the precisions of bends and links by MacKay's
fixed point λ = Σ (1 − λ V) / Σ θ² over the coefficients θ of one kind with posterior variances V (MacKay, Neural
Computation 1992), which maximises Laplace's marginal likelihood; the linear effects' mean, precision and the units in
which they are most alike (`Prior.power`) by maximising it under the normal likelihoods at the fits. Where most of a
table's effects have one sign and like sizes, a weak edge that would have another has to show more, and one of the size
that the spreads of its nodes let expect has to show less (benchmarks/LOG.md).

How far an order from elsewhere is right about directions is fitted too: to the edges whose direction the rows decide.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from scipy.optimize import minimize, minimize_scalar
from torch import Tensor

from disco.likelihood.bank import WIDTH, Bank, Prior
from disco.likelihood.evaluate import Problems
from disco.likelihood.newton import Fits, fit
from disco.likelihood.small import inverse
from disco.refine.scores import AGAINST, SEARCHING, Parents, Scores
from disco.refine.screen import widened
from disco.refine.turning import turnings

BEFORE = Prior(10.0, 1000.0, 4.0)  # what a search begins with: effects about as the lab's designs have them
# Of mean, power and log precision of the linear effects: what is expected, how precisely, so that few edges do not set
# them, and bounds.
_EXPECTED = np.array([0.0, 0.0, math.log(BEFORE.linear)])
_PRECISIONS = np.array([10.0, 4.0, 0.5])
_LINEAR_BOUNDS = ((-2.0, 2.0), (0.0, 1.0), (0.0, math.log(30_000.0)))
_TOLD = 5.0  # nats of direction evidence from which on an edge tells how far an order is right
_ROUNDS = 5
_BOUNDS = ((100.0, 30_000.0), (1.0, 1000.0))  # of bends and link, so that few edges cannot lead them astray


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
    against = scores.against if scores.order is None else trust(scores, order, parents)
    again = scores.but(bank=bank, price=price(bank.nodes, sum(map(len, parents))), against=against)
    return again.but(candidates=widened(again, order, parents))


def price(nodes: int, edges: int) -> float:
    """The log prior odds against one more edge, nats, with a flat prior on how many of all pairs are joined.

    They are (pairs − edges + 1) : (edges + 1) (Scott and Berger, Annals of Statistics 2010), so that a table without
    edges stays without, and never less than even.
    """
    return math.log(max((nodes * (nodes - 1) / 2 - edges + 1) / (edges + 1), 1.0))


def trust(scores: Scores, order: Sequence[int], parents: Sequence[Sequence[int]]) -> float:
    """How the log odds that a direction runs along the scores' order grow with the share of it between the two nodes.

    A logistic regression on the edges of a graph whose direction the rows decide, whichever they say. Beside them
    counts an edge across a tenth of the order, as often along it as `AGAINST` has it, so that without any it is that.

    Returns:
        Nats for the whole order, 0 to 40.

    Raises:
        FitStopped: the scores' `goes_on` says so.
    """
    place = {node: at for at, node in enumerate(scores.order)}
    spans = [
        (place[one.child] - place[one.parent]) / len(place) * math.copysign(1.0, one.nats)
        for one in turnings(scores.but(order=None), order, [tuple(nodes) for nodes in parents])
        if abs(one.nats) >= _TOLD
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
    starts: list[Tensor | None] = [None] * len(batches)
    for _ in range(_ROUNDS):
        fits = [
            fit(bank, problems, start, tolerance=SEARCHING) for problems, start in zip(batches, starts, strict=True)
        ]
        starts = [one.theta for one in fits]
        bank = bank.under(_better(bank, batches, fits))
    return bank.prior


def _better(bank: Bank, batches: Sequence[Problems], fits: Sequence[Fits]) -> Prior:
    """The next round: the fixed point's step for bends and link, the whole way for the linear effects."""
    told, squares = np.zeros(2), np.zeros(2)  # Σ (1 − λ V) and Σ θ², of bends and of the link
    effects = []
    for problems, one in zip(batches, fits, strict=True):
        variance = inverse(one.moments.information, one.penalty).diagonal(dim1=1, dim2=2)
        effects.append(_likelihoods(bank, problems, one, variance))
        unit = bank.unit(problems.node, problems.parents)[..., None]
        width = torch.as_tensor(bank.width, device=unit.device)[problems.parents]
        column = torch.arange(WIDTH, device=unit.device)
        bends = ((column > 0) & (column < width[..., None])).flatten(1)
        theta, varies = (part[:, bank.head :].unflatten(1, (-1, WIDTH)) for part in (one.theta, variance))
        theta, varies = (theta / unit).flatten(1)[bends], (varies / unit.square()).flatten(1)[bends]
        link, link_varies = one.theta[:, bank.head - 1], variance[:, bank.head - 1]
        told += [float((1 - bank.prior.bends * varies).sum()), float((1 - bank.prior.link * link_varies).sum())]
        squares += [float(theta.square().sum()), float(link.square().sum())]
    bends, link = (
        float(np.clip(number / max(square, 1e-12), *bounds)) if number else before
        for number, square, bounds, before in zip(told, squares, _BOUNDS, bank.prior[1:3], strict=True)
    )
    mean, power, linear = _of_linear(np.concatenate(effects, axis=1)) if effects else (0.0, 0.0, bank.prior.linear)
    return Prior(linear, bends, link, mean, power)


def _likelihoods(bank: Bank, problems: Problems, fits: Fits, variance: Tensor) -> np.ndarray:
    """The likelihood −½ J β² + h β of each linear effect β: J, h and its log unit at power 1, (3, edges)."""
    at = slice(bank.head, None, WIDTH)
    mean, precision = (part[..., 0] for part in bank.expected(problems.node, problems.parents))
    information = (1 / variance[:, at] - precision).clamp_min(0.0)
    pull = fits.theta[:, at] / variance[:, at] - precision * mean
    apart = bank.spread[problems.parents] - bank.spread[problems.node, None]
    return torch.stack([information, pull, apart]).flatten(1).cpu().numpy()


def _of_linear(effects: np.ndarray) -> tuple[float, float, float]:
    """Mean, power and precision of the linear effects under which their `_likelihoods` are largest."""
    information, pull, apart = effects
    middle = apart.mean()  # the power tells edges apart, and is not to move them all: that is what the mean is for

    def loss(found: np.ndarray) -> float:
        mean, power, precision = *found[:2], math.exp(found[2])
        unit = np.exp(power * (apart - middle))
        posterior = precision + information * unit**2
        explained = (pull * unit + precision * mean) ** 2 / posterior - precision * mean**2
        return (_PRECISIONS @ (found - _EXPECTED) ** 2 - (explained + found[2] - np.log(posterior)).sum()) / 2

    mean, power, logarithm = minimize(loss, _EXPECTED, method="L-BFGS-B", bounds=_LINEAR_BOUNDS).x
    return float(mean * math.exp(-power * middle)), float(power), math.exp(logarithm + 2 * power * middle)
