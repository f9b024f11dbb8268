"""Training batches of corrupted rows, and the score-entropy losses of both networks.

Joint loss (paper, *Denoising Score-Entropy Objective*, R = V): for t ~ U(ε_t, 1), σ = σ(t), x ~ q_σ(· | x_0),

    Σ_j Σ_{y = x_j ± 1 in the grid} σ̇(t) ℓ_SE(s_θ(x; σ)_{j,y}, q_σ(y | x_0j) / q_σ(x_j | x_0j)),

averaged over the batch. Projection loss (*Score-Entropy Training*): for log σ uniform and a random R, ℓ_SE
between the correction e^c and s_θ(x) / s_θ(x_R, fill), averaged over the neighbours of j ∈ R, plus the same
on R = V, where the target correction is 1. Each is a sum over a batch's rows, so it can be computed in chunks,
with the divisor of the whole batch.

Covariates and exposure of a row, (c,), accompany every noisy draw of that row unchanged.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from disco.paper.corruption import corrupt, log_ratios, neighbour_mask, sigma_at
from disco.paper.networks import JointNetwork, ProjectionNetwork, stream
from disco.paper.settings import Settings

BLOCK_ENTRIES = 1 << 22  # rank entries corrupted at once, to limit memory
_LOG_RATIO_BOUND = 30.0  # keeps exp finite in float32


class JointBatch(NamedTuple):
    """Corrupted rows of joint training; the first axis of each tensor is the fold.

    Attributes:
        noisy: x ~ q_σ(· | x_0), (F, n, d).
        sigma: (F, n).
        target: log q_σ(x ± 1 | x_0) − log q_σ(x | x_0), (F, n, d, 2).
        covariates: covariates and exposure at those rows, (F, n, c).
    """

    noisy: Tensor
    sigma: Tensor
    target: Tensor
    covariates: Tensor


class ProjectionBatch(NamedTuple):
    """Corrupted rows of projection training; the first axis of each tensor is the fold.

    Attributes:
        noisy: x ~ q_σ(· | x_0), (F, n, d).
        sigma: (F, n).
        mask: remaining sets as 0 and 1, (F, n, d).
        covariates: covariates and exposure at those rows, (F, n, c).
    """

    noisy: Tensor
    sigma: Tensor
    mask: Tensor
    covariates: Tensor


class Clean(NamedTuple):
    """Rows before their corruption: `ranks` x_0, (n, d), and `covariates`, (n, c)."""

    ranks: Tensor
    covariates: Tensor

    def take(self, rows: Tensor | slice) -> "Clean":
        """A selection of rows."""
        return Clean(self.ranks[rows], self.covariates[rows])


Batch = JointBatch | ProjectionBatch


def stacked(folds: Sequence[Batch]) -> Batch:
    """Stack one batch per fold, without a fold axis, into one batch."""
    return type(folds[0])._make(torch.stack(tensors) for tensors in zip(*folds, strict=True))


def divided(batch: Batch, rows: int) -> list[Batch]:
    """The chunks of a batch, each of at most `rows` rows of every fold."""
    return [type(batch)._make(values) for values in zip(*(value.split(rows, dim=1) for value in batch), strict=True)]


Draw = Callable[[Clean, int, Settings, torch.Generator], Batch]


def draw_joint(rows: Clean, top: int, settings: Settings, generator: torch.Generator) -> JointBatch:
    """Corrupt one fold's rows for the joint loss."""
    ranks = rows.ranks
    uniform = torch.rand(len(ranks), generator=generator, device=ranks.device)
    time = settings.time_min + (1 - settings.time_min) * uniform
    sigma = sigma_at(time, settings.sigma_min, settings.sigma_max)
    noisy = corrupt(ranks, sigma, top, generator)
    return JointBatch(noisy.float(), sigma, log_ratios(noisy, ranks, sigma, top), rows.covariates)


def draw_projection(rows: Clean, top: int, settings: Settings, generator: torch.Generator) -> ProjectionBatch:
    """Corrupt one fold's rows, with log σ uniform, and draw a remaining set for each row."""
    ranks = rows.ranks
    uniform = torch.rand(len(ranks), generator=generator, device=ranks.device)
    sigma = sigma_at(uniform, settings.sigma_min, settings.sigma_max)
    noisy = corrupt(ranks, sigma, top, generator)
    mask = draw_masks(ranks, settings.full_set_probability, generator)
    return ProjectionBatch(noisy.float(), sigma, mask, rows.covariates)


def draw_masks(like: Tensor, full_set_probability: float, generator: torch.Generator) -> Tensor:
    """One remaining set per row (paper, *Mask Distribution*), as 0 and 1, (rows, d).

    The size is uniform in {2, …, d}, and the subset is uniform given its size. With probability `full_set_probability`
    it is replaced by the full set.
    """
    rows, nodes = like.shape
    sizes = torch.randint(2, nodes + 1, (rows,), generator=generator, device=like.device)
    rank = torch.rand(rows, nodes, generator=generator, device=like.device).argsort(dim=1).argsort(dim=1)
    is_full = torch.rand(rows, generator=generator, device=like.device) < full_set_probability
    return ((rank < sizes[:, None]) | is_full[:, None]).float()


def epoch_batches(
    draw: Draw,
    rows: Sequence[Clean],
    tops: Sequence[int],
    keys: Sequence[tuple[int, ...]],
    settings: Settings,
    visited: int,
) -> Iterator[Batch]:
    """The shuffled, corrupted batches of one epoch.

    Args:
        draw: `draw_joint` or `draw_projection`.
        rows, tops, keys: each fold's rows, grid bound K and random stream.
        visited: rows per fold; at most the size of the smallest fold.
    """
    device, nodes, size = rows[0].ranks.device, rows[0].ranks.shape[1], settings.batch_size
    generators = [stream(device, *key) for key in keys]
    orders = [
        torch.randperm(len(clean.ranks), generator=generator, device=device)
        for clean, generator in zip(rows, generators, strict=True)
    ]
    # The block's size must not depend on the number of folds in the batch; otherwise a fold's draws would.
    block = size * max(1, BLOCK_ENTRIES // (size * nodes))
    for start in range(0, visited, block):
        stop = min(start + block, visited)
        block_batch = stacked(
            [
                draw(clean.take(order[start:stop]), top, settings, generator)
                for clean, order, top, generator in zip(rows, orders, tops, generators, strict=True)
            ]
        )
        for first in range(0, stop - start, size):
            yield type(block_batch)._make(value[:, first : first + size] for value in block_batch)


def score_entropy(log_prediction: Tensor, log_target: Tensor) -> Tensor:
    """ℓ_SE(u, v) = u − v + v log(v / u) from log u and log v (paper, Denoising Score-Entropy Objective)."""
    target = torch.exp(log_target)
    return torch.exp(log_prediction) - target + target * (log_target - log_prediction)


def joint_losses(network: JointNetwork, chunk: JointBatch, batch: JointBatch, settings: Settings) -> Tensor:
    """A chunk's contribution to the joint loss of every fold, (F,): the whole loss if `chunk` is `batch`."""
    predicted = network(chunk.noisy, chunk.covariates, chunk.sigma.log()).clamp_max(_LOG_RATIO_BOUND)
    inside = neighbour_mask(chunk.noisy, network.features.top[:, None, None])
    entries = torch.where(inside, score_entropy(predicted, chunk.target), 0.0)
    sigma_rate = chunk.sigma * math.log(settings.sigma_max / settings.sigma_min)
    return (entries.sum(dim=(2, 3)) * sigma_rate).mean(dim=1) * (chunk.noisy.shape[1] / batch.noisy.shape[1])


def projection_losses(
    network: ProjectionNetwork, chunk: ProjectionBatch, batch: ProjectionBatch, joint: JointNetwork, settings: Settings
) -> Tensor:
    """A chunk's contribution to the projection loss of every fold, including the full-set term, (F,)."""
    clip, rows = settings.log_clip, chunk.noisy.shape[1]
    log_sigma, covariates = chunk.sigma.log().repeat(1, 2), chunk.covariates.repeat(1, 2, 1)
    with torch.no_grad():
        filled = network.filled(chunk.noisy, chunk.mask)
        both = joint(torch.cat([chunk.noisy, filled], dim=1), covariates, log_sigma)
        target = (both[:, :rows] - both[:, rows:]).clamp(-clip, clip)
    # The same pass also evaluates the full set: the same rows with a mask of ones.
    masks = torch.cat([chunk.mask, torch.ones_like(chunk.mask)], dim=1)
    correction = network(chunk.noisy.repeat(1, 2, 1), masks, covariates, log_sigma).clamp(-clip, clip)
    inside, remaining = _included(network, chunk)
    all_inside, all_remaining = _included(network, batch)
    masked = _added(score_entropy(correction[:, :rows], target), remaining, all_remaining)
    full = _added(score_entropy(correction[:, rows:], torch.zeros_like(target)), inside, all_inside)
    return masked + settings.full_set_weight * full


def masked_losses(
    network: ProjectionNetwork,
    chunk: ProjectionBatch,
    batch: ProjectionBatch,
    joint: JointNetwork,
    larger: Tensor,
    settings: Settings,
) -> Tensor:
    """A chunk's contribution to the projection loss of every fold without the full-set term, (F,).

    `larger` is the log concrete score of a set that contains each row's R, (F, n, d, 2), without gradient.
    """
    clip, log_sigma = settings.log_clip, chunk.sigma.log()
    with torch.no_grad():
        baseline = joint(network.filled(chunk.noisy, chunk.mask), chunk.covariates, log_sigma)
        target = (larger - baseline).clamp(-clip, clip)
    correction = network(chunk.noisy, chunk.mask, chunk.covariates, log_sigma).clamp(-clip, clip)
    (_, remaining), (_, all_remaining) = _included(network, chunk), _included(network, batch)
    return _added(score_entropy(correction, target), remaining, all_remaining)


def _included(network: ProjectionNetwork, batch: ProjectionBatch) -> tuple[Tensor, Tensor]:
    """The entries whose neighbour is in the grid, and those of remaining nodes among them, (F, n, d, 2)."""
    inside = neighbour_mask(batch.noisy, network.features.top[:, None, None])
    return inside, inside & (batch.mask[..., None] > 0)


def _added(entries: Tensor, included: Tensor, of_batch: Tensor) -> Tensor:
    """A chunk's contribution to the mean over the included entries of the batch, (F,)."""
    total = torch.where(included, entries, 0.0).sum(dim=(1, 2, 3))
    return total / of_batch.sum(dim=(1, 2, 3)).clamp_min(1)
