"""What one parent more or less would do, from a fit's last evaluation alone: Rao and Wald statistics.

With g and I the gradient and information of the fitted coefficients θ, and u, J, K those of a candidate's columns (J
its own, K with θ), the efficient score is u − Kᵀ I⁻¹ g, its variance J − Kᵀ I⁻¹ K, and half of their quadratic form
is the gain in log-likelihood that the candidate promises (Rao, 1948). Dropping a parent with coefficients β, whose
variance under I⁻¹ is V, promises to cost half of βᵀ V⁻¹ β (Wald). The step that reaches the promised point is a start
for the next fit that Newton rarely has to better more than once.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from disco.likelihood import rows
from disco.likelihood.bank import WIDTH, Bank
from disco.likelihood.evaluate import Problems, columns_of
from disco.likelihood.newton import Fits

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
    """The promise of every candidate parent.

    Args:
        bank: the table.
        problems, fits: B fitted nodes.
        candidates: node numbers, (B, c), padded with −1.
    """
    moments, theta, count = fits.moments, fits.theta, candidates.shape[1]
    summed = rows.products if theta.device.type == "cpu" else products
    sums, pairs = summed(bank.columns, problems.parents, moments.slopes, moments.curvature, candidates)
    score, cross = sums[:, 0].flatten(1), sums[:, 1:].flatten(2)
    right = torch.cat([cross, moments.gradient[..., None]], 2)
    solved = torch.linalg.solve(moments.information, right)  # I⁻¹ (K, g)
    inverse_cross, inverse_gradient = solved[..., :-1], solved[..., -1:]
    efficient = (score - torch.bmm(cross.mT, inverse_gradient).squeeze(-1)).unflatten(1, (count, WIDTH))
    k = cross.unflatten(2, (count, WIDTH)).permute(0, 2, 1, 3)  # (B, c, P, WIDTH)
    ik = inverse_cross.unflatten(2, (count, WIDTH)).permute(0, 2, 1, 3)
    variance = pairs - k.mT @ ik
    own_information = pairs.diagonal(dim1=2, dim2=3)
    left = variance.diagonal(dim1=2, dim2=3)
    missing = left <= _LEAST * own_information + 1e-9  # padding, and what θ spans already
    efficient = efficient.masked_fill(missing, 0.0)
    keep = (~missing).double()
    centre, prior = bank.expected(problems.node, candidates)
    centre = centre * keep
    variance = variance * keep[..., None] * keep[..., None, :] + torch.diag_embed(prior)
    pull = (efficient + prior * centre)[..., None]
    own = torch.linalg.solve(variance, pull)
    gain = (pull * own).sum((2, 3)) / 2 - (prior * centre.square()).sum(2) / 2
    evidence = gain + (prior.log().sum(2) - torch.linalg.slogdet(variance)[1]) / 2
    others = inverse_gradient.mT - (ik @ own).squeeze(-1)
    # Fits.theta is one step ahead of the evaluation: what of `others` it has taken already comes off.
    taken = inverse_gradient.mT * fits.converged[:, None, None]
    return Additions(gain, evidence, own.squeeze(-1), (others - taken).to(theta))


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
    """What every parent of every problem is worth."""
    count, size = problems.parents.shape[1], fits.theta.shape[1]
    inverse = torch.linalg.inv(fits.moments.information)
    beside = inverse[:, :, size - WIDTH * count :].unflatten(2, (count, WIDTH))  # (B, P, k, WIDTH)
    block = beside[:, size - WIDTH * count :].unflatten(1, (count, WIDTH)).diagonal(dim1=1, dim2=3).permute(0, 3, 1, 2)
    beta = fits.theta[:, size - WIDTH * count :].unflatten(1, (count, WIDTH))
    centre, prior = bank.expected(problems.node, problems.parents)
    pull = torch.linalg.solve(block, beta)
    apart = (prior * centre.square()).sum(2) / 2  # that its own coefficients cost at 0, and no longer
    loss = (beta * pull).sum(2) / 2 - apart
    occam = prior.log().sum(2) + torch.linalg.slogdet(block)[1]
    return Removals(loss, loss + occam / 2, -torch.einsum("bpkw,bkw->bkp", beside, pull))
