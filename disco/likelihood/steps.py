"""What one parent more or less would do, from a fit's last evaluation alone: Rao and Wald statistics.

With g and I the gradient and information of the fitted coefficients θ, and u, J, K those of a candidate's columns (J
its own, K with θ), the efficient score is u − Kᵀ I⁻¹ g, its variance J − Kᵀ I⁻¹ K, and half of their quadratic form
is the gain in log-likelihood that the candidate promises (Rao, 1948). Dropping a parent with coefficients β, whose
variance under I⁻¹ is V, promises to cost half of βᵀ V⁻¹ β (Wald). The step that reaches the promised point is a start
for the next fit that Newton rarely has to better more than once.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from disco.likelihood import rows
from disco.likelihood.bank import WIDTH, Bank
from disco.likelihood.evaluate import Problems, columns_of
from disco.likelihood.newton import Fits
from disco.likelihood.rows import arrays, compiled, copy, side_by_side
from disco.likelihood.small import backward, dot, factorise, forward

_LEAST = 1e-6  # share of a column's own information under which what θ leaves of it counts as nothing


class Additions(NamedTuple):
    """What candidates promise.

    Attributes:
        gain: in penalised log-likelihood, nats, (B, c).
        evidence: in `Fits.evidence`, nats, (B, c).
        own: the candidate's coefficients after the step, (B, c, WIDTH).
        others: the step of θ beside it, (B, c, P).
    """

    gain: Tensor
    evidence: Tensor
    own: Tensor
    others: Tensor


class Removals(NamedTuple):
    """What parents are worth.

    Attributes:
        loss: in penalised log-likelihood, nats, (B, k).
        evidence: in `Fits.evidence`, nats, (B, k).
        others: the step of θ that drops the parent, its own coefficients going to 0, (B, k, P).
    """

    loss: Tensor
    evidence: Tensor
    others: Tensor


def additions(bank: Bank, problems: Problems, fits: Fits, candidates: Tensor) -> Additions:
    """The promise of every candidate parent, on the CPU.

    Args:
        bank: the table.
        problems, fits: B fitted nodes.
        candidates: node numbers, (B, c), padded with −1.
    """
    moments, theta, (batch, count) = fits.moments, fits.theta, candidates.shape
    summed = rows.products if theta.device.type == "cpu" else products
    sums, pairs = summed(bank.columns, problems.parents, moments.slopes, moments.curvature, candidates)
    centre, prior = bank.expected(problems.node, candidates)
    gain, evidence = (torch.zeros((batch, count), dtype=torch.float64) for _ in range(2))
    own, others = (torch.zeros((batch, count, size), dtype=torch.float64) for size in (WIDTH, theta.shape[1]))
    given = (moments.information, fits.penalty, moments.gradient, fits.converged, sums.permute(0, 2, 3, 1), pairs)
    results = arrays(*(part.cpu() for part in (*given, centre, prior)), gain, evidence, own, others)
    side_by_side(batch, lambda part: _additions(*(one[part] for one in results)))
    return Additions(gain, evidence, own, others)


@compiled
def _additions(
    information, penalty, gradient, converged, sums, pairs, centre, prior, gain, evidence, own, others
):  # fmt: skip
    """One problem after another; `sums` (B, c, WIDTH, 1 + P) begin with the candidates' own gradients."""
    size = gradient.shape[1]
    factor, cross, variance = np.empty((size, size)), np.empty((WIDTH, size)), np.empty((WIDTH, WIDTH))
    small, pull, there = np.empty((WIDTH, WIDTH)), np.empty(WIDTH), np.empty(WIDTH)
    for b in range(len(gradient)):
        factorise(information[b], penalty[b], factor)
        reached = gradient[b].copy()
        forward(factor, reached)
        for c in range(sums.shape[1]):
            for w in range(WIDTH):
                copy(sums[b, c, w, 1:], cross[w])
                forward(factor, cross[w])
                for v in range(w + 1):
                    variance[w, v] = pairs[b, c, w, v] - dot(cross[w], cross[v])
                # Padding, and what θ spans already.
                there[w] = variance[w, w] > _LEAST * pairs[b, c, w, w] + 1e-9
            penalised = apart = 0.0
            for w in range(WIDTH):
                for v in range(w):
                    variance[w, v] *= there[w] * there[v]
                variance[w, w] = there[w] * variance[w, w] + prior[b, c, w]
                expected = there[w] * prior[b, c, w] * centre[b, c, w]
                pull[w] = there[w] * (sums[b, c, w, 0] - dot(cross[w], reached)) + expected
                own[b, c, w] = pull[w]
                penalised += math.log(prior[b, c, w])
                apart += expected * centre[b, c, w]
            log_determinant, _ = factorise(variance, prior[b, c], small)
            forward(small, own[b, c])
            backward(small, own[b, c])
            gain[b, c] = (dot(pull, own[b, c]) - apart) / 2
            evidence[b, c] = gain[b, c] + (penalised - log_determinant) / 2
            # θ is one step ahead of the evaluation where the fit converged.
            for i in range(size):
                step = 0.0 if converged[b] else reached[i]
                for w in range(WIDTH):
                    step -= cross[w, i] * own[b, c, w]
                others[b, c, i] = step
            backward(factor, others[b, c])


def products(
    columns: Tensor, parents: Tensor, slopes: Tensor, curvature: Tensor, candidates: Tensor
) -> tuple[Tensor, Tensor]:
    """`rows.products` by arrays: problems with the same candidates share what is read of the table."""
    left = torch.cat([slopes, columns_of(columns, parents) * curvature[:, None]], 1)
    (batch, size), count = left.shape[:2], candidates.shape[1]
    sums = torch.zeros((batch, size, count, WIDTH), dtype=torch.float64, device=left.device)
    pairs = sums.new_zeros((batch, count, WIDTH, WIDTH))
    if not count:
        return sums, pairs
    lists, group = candidates.unique(dim=0, return_inverse=True)
    for number, nodes in enumerate(lists):
        members, there = (group == number).nonzero().squeeze(1), (nodes >= 0).nonzero().squeeze(1)
        z = columns.index_select(0, nodes[there])  # (c, WIDTH, n)
        product = torch.mm(left.index_select(0, members).flatten(0, 1), z.flatten(0, 1).T).double()
        sums[members[:, None], :, there] = (
            product.unflatten(0, (len(members), size)).unflatten(2, (-1, WIDTH)).transpose(1, 2)
        )
        for member in members.tolist():
            pairs[member, there] = torch.bmm(z * curvature[member], z.mT).double()
    return sums, pairs


def removals(bank: Bank, problems: Problems, fits: Fits) -> Removals:
    """What every parent of every problem is worth, on the CPU."""
    (batch, count), size = problems.parents.shape, fits.theta.shape[1]
    centre, prior = bank.expected(problems.node, problems.parents)
    loss, evidence = (torch.zeros((batch, count), dtype=torch.float64) for _ in range(2))
    others = torch.zeros((batch, count, size), dtype=torch.float64)
    given = (fits.moments.information, fits.penalty, fits.theta, centre, prior)
    results = arrays(*(part.cpu() for part in given), loss, evidence, others)
    side_by_side(batch, lambda part: _removals(*(one[part] for one in results)))
    return Removals(loss, evidence, others)


@compiled
def _removals(information, penalty, theta, centre, prior, loss, evidence, others):
    size, count = theta.shape[1], prior.shape[1]
    factor, beside, pull = np.empty((size, size)), np.empty((WIDTH, size)), np.empty(WIDTH)
    block, small, least = np.empty((WIDTH, WIDTH)), np.empty((WIDTH, WIDTH)), np.empty(WIDTH)
    for b in range(len(theta)):
        factorise(information[b], penalty[b], factor)
        for k in range(count):
            first = size - WIDTH * (count - k)
            beside[:] = 0.0
            for w in range(WIDTH):
                beside[w, first + w] = 1.0
                forward(factor, beside[w])
                backward(factor, beside[w])
                # The least variance that an effect can have is what it has where all others are known.
                least[w] = 1.0 / max(information[b, first + w, first + w], penalty[b, first + w])
            penalised = apart = 0.0
            for w in range(WIDTH):
                for v in range(w + 1):
                    block[w, v] = beside[w, first + v]
                pull[w] = theta[b, first + w]
                penalised += math.log(prior[b, k, w])
                apart += prior[b, k, w] * centre[b, k, w] ** 2
            log_determinant, _ = factorise(block, least, small)
            forward(small, pull)
            backward(small, pull)
            # What its own coefficients cost at 0 under the prior, and no longer do, comes off.
            loss[b, k] = (dot(theta[b, first : first + WIDTH], pull) - apart) / 2
            evidence[b, k] = loss[b, k] + (penalised + log_determinant) / 2
            for i in range(size):
                for w in range(WIDTH):
                    others[b, k, i] -= beside[w, i] * pull[w]
