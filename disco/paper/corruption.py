"""Birth–death noise on a rank grid: schedule, sampling and probability ratios.

The corruption of a coordinate (paper, *Joint Concrete-Score Training*) is the continuous-time chain on
{0, …, K} with rate 1 to each neighbour, reflected at both ends, run for time σ. It is a folded Skellam walk:

    x = fold(x_0 + N⁺ − N⁻),   N⁺, N⁻ ~ Poisson(σ),

where fold reflects about −1/2 and K + 1/2. So the kernel is a sum over mirror images of f_σ(m) = e^(−2σ) I_|m|(2σ).
With g the sum of f over shifts by the period 2(K + 1), which is even and periodic,

    q_σ(y | x_0) = g(y − x_0) + g(y + x_0 + 1).

A draw and its ratios cost O(1) per entry for any K. All terms are positive, so ratios of 10⁻³ keep their relative
accuracy in float32; a spectral sum of cosines would lose it.
"""

import torch
from torch import Tensor

# For σ ≤ 3 and m > 40, f_σ(m) is below 1e-24, which is negligible.
_REACH = 40


def sigma_at(time: Tensor, sigma_min: float, sigma_max: float) -> Tensor:
    """The geometric schedule σ(t) = σ_min^(1−t) σ_max^t, same shape as `time`."""
    return sigma_min * (sigma_max / sigma_min) ** time


def fold_onto_grid(walk: Tensor, top: int) -> Tensor:
    """Reflect integers about −1/2 and K + 1/2 onto {0, …, K}."""
    period = 2 * (top + 1)
    wrapped = torch.remainder(walk, period)
    return torch.minimum(wrapped, period - 1 - wrapped)


def corrupt(ranks: Tensor, sigma: Tensor, top: int, generator: torch.Generator) -> Tensor:
    """Draw x ~ q_σ(· | x_0), independently for each coordinate: integers, (rows, nodes).

    Args:
        ranks: x_0, integers in {0, …, top}, (rows, nodes); `generator` is on their device.
        sigma: (rows,).
        top: the grid bound K.
    """
    rate = sigma[:, None].expand(ranks.shape)
    steps = torch.poisson(rate, generator) - torch.poisson(rate, generator)
    return fold_onto_grid(ranks + steps.to(ranks.dtype), top)


def walk_probabilities(sigma: Tensor, reach: int) -> Tensor:
    """f_σ(m) = e^(−2σ) I_m(2σ) for m = 0, …, reach, (rows, reach + 1).

    Uses the backward continued fraction of I_m / I_{m−1}. All terms are positive, so the relative accuracy is that of
    the arithmetic, even where f is tiny.
    """
    z = 2 * sigma
    ratio = torch.zeros_like(z)
    ratios = []
    for order in range(reach + 20, 0, -1):
        ratio = z / (2 * order + z * ratio)
        if order <= reach:
            ratios.append(ratio)
    steps = torch.stack([torch.special.i0e(z), *reversed(ratios)], dim=-1)
    return torch.cumprod(steps, dim=-1)


def image_sums(sigma: Tensor, top: int) -> Tensor:
    """g(m) for m = 0, …, min(K + 1, 41): f_σ summed over shifts by 2(K + 1), (rows, length).

    The last entry stands for all larger m, and is 0 if the grid is wider than the reach of the walk.
    """
    walk = walk_probabilities(sigma, _REACH)
    walk = torch.cat([walk, torch.zeros_like(walk[:, :1])], dim=1)
    period = 2 * (top + 1)
    length = min(top + 1, _REACH + 1) + 1
    turns = _REACH // period + 1
    shifts = period * torch.arange(-turns, turns + 1, device=sigma.device)
    distance = (torch.arange(length, device=sigma.device)[:, None] + shifts).abs()
    return walk[:, distance.clamp(max=_REACH + 1)].sum(dim=-1)


def log_kernel(to: Tensor, start: Tensor, sums: Tensor, top: int) -> Tensor:
    """log q_σ(y | x_0), (rows, nodes), for any y = `to` and x_0 = `start` in {0, …, top}, (rows, nodes).

    `sums` is `image_sums` of each row's noise level, (rows, length).
    """
    last = sums.shape[1] - 1
    direct = (to - start).abs()
    mirrored = to + start + 1
    mirrored = torch.minimum(mirrored, 2 * (top + 1) - mirrored)
    total = sums.gather(1, direct.clamp(max=last)) + sums.gather(1, mirrored.clamp(0, last))
    return torch.log(total.clamp_min(torch.finfo(total.dtype).tiny))


def log_ratios(noisy: Tensor, start: Tensor, sigma: Tensor, top: int) -> Tensor:
    """log ρ = log q_σ(x ± 1 | x_0) − log q_σ(x | x_0), (rows, nodes, 2): down, up (paper, *Denoising objective*).

    x = `noisy` and x_0 = `start` are (rows, nodes), `sigma` is (rows,). An entry whose neighbour is outside the grid
    {0, …, top} is meaningless; see `neighbour_mask`.
    """
    sums = image_sums(sigma, top)
    here = log_kernel(noisy, start, sums, top)
    down = log_kernel((noisy - 1).clamp_min(0), start, sums, top)
    up = log_kernel((noisy + 1).clamp_max(top), start, sums, top)
    return torch.stack([down - here, up - here], dim=-1)


def neighbour_mask(ranks: Tensor, top: Tensor | int) -> Tensor:
    """Whether x − 1 and x + 1 lie in {0, …, K}: boolean, with the shape of `ranks` and a last axis (down, up)."""
    return torch.stack([ranks > 0, ranks < top], dim=-1)
