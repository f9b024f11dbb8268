"""The likelihood of many nodes given parents at once: value, gradient and information at given coefficients.

θ = (b, base measure γ, bend κ, rows' own columns α, parents β): log p(x_i = v) = v̂ η + C(v)ᵀγ − A(η, γ) with
v̂ = v / s_i, η = b + g(s) + h(z) + offset · s_i, h(z) linear in α and s = Σ_k f_k(x_k). With J = ∂η/∂(b, κ, α, β) and E
and Cov under the model at a row,

    ∂/∂γ = Σ C(x) − E C,   ∂/∂(b, κ, α, β) = Σ (x̂ − E v̂) J,
    information = Σ of Cov of (v̂ J, C),

the expected information, which is never indefinite, unlike the observed one. If κ is fixed at 0, the two are equal and
the log-likelihood is concave. The sums over the levels depend on a row through η alone. `exact` sums at every row.
`tabulated` sums once on a grid of η and interpolates (cubic for moments, quintic for the log-likelihood), without a row
× level array; a fit on a CPU uses the same in compiled form (`disco.likelihood.compiled`).

The grid ends where only one level remains, the lowest or the highest. Beyond it A is exactly linear in η, and the
moments are constant. If a parent separates the levels of its child, η reaches thousands at some rows, and a grid over
all of them would miss the bends of A in between.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from disco.likelihood.batch import BatchDesign, Derivatives

GRID = 128  # cells of a table over η that contain rows
# Weights of the grid points below and above a row at position t of its cell, by powers of t. The first three are for A,
# A′ and A″, by the quintic that fits all three at both ends; the next two for a value and its slope, by a cubic; the
# last for a value, by a line.
PIECES = torch.tensor(
    [
        [[1, 0, 0, -10, 15, -6], [0, 1, 0, -6, 8, -3], [0, 0, 0.5, -1.5, 1.5, -0.5],
         [1, 0, -3, 2, 0, 0], [0, 1, -2, 1, 0, 0], [1, -1, 0, 0, 0, 0]],
        [[0, 0, 0, 10, -15, 6], [0, 0, 0, -4, 7, -3], [0, 0, 0, 0.5, -1, 0.5],
         [0, 0, 3, -2, 0, 0], [0, 0, -1, 1, 0, 0], [0, 1, 0, 0, 0, 0]],
    ],
    dtype=torch.float64,
)  # fmt: skip # a table


def exact(design: BatchDesign, theta: Tensor) -> Derivatives:
    """One evaluation by the sum over the levels at every row; memory B · n · V."""
    eta, *bent = design.bent(theta)
    eta = eta.double()
    logits = eta[..., None] * design.value[:, None] + design.log_weights(theta)[:, None]
    normaliser = torch.logsumexp(logits, -1)
    probability = torch.softmax(logits, -1)
    weights = torch.ones_like(eta) if design.weights is None else design.weights.double().expand_as(eta)
    mean = (probability * design.value[:, None]).sum(-1)
    shape_mean = probability @ design.measure
    centred = design.value[:, None] - mean[..., None]
    variance = (probability * centred**2).sum(-1)
    covariance = (probability * centred) @ design.measure  # E (v̂ − E v̂) C
    weighted = (probability * weights[..., None]).sum(1)
    second = design.measure.mT @ (weighted[..., None] * design.measure)
    shape = second - (shape_mean * weights[..., None]).mT @ shape_mean
    sums = {
        "normaliser": (normaliser * weights).sum(1),
        "measure": (shape_mean * weights[..., None]).sum(1),
        "shape": shape,
    }
    moments = torch.cat([mean[:, None], variance[:, None], covariance.mT], 1)
    return design.assemble(theta, sums, design.at_rows(eta, torch.zeros_like(eta), bent, moments.to(design.x)))


def tabulated(design: BatchDesign, theta: Tensor) -> Derivatives:
    """The same from a table over η, without a row × level array; errors of about 1e-6 in the log-likelihood."""
    eta, *bent = design.bent(theta)
    least, most = (bound.double() for bound in eta.aminmax(dim=1, keepdim=True))
    bottom, top = design.bounds(design.log_weights(theta))
    low = torch.minimum(torch.maximum(least, bottom), most)
    width = ((torch.maximum(torch.minimum(most, top), low) - low) / (GRID - 1)).clamp_min(1e-3)
    table = _table(design, theta, low, width)
    t = (eta - low.to(eta)) / width.to(eta)
    inside = t.clamp(0, GRID - 1e-3)
    beyond = (t - inside) * width.to(eta)
    left = inside.long()
    at = inside - left
    sums = _over_rows(table, _powers(left, at.double(), design.weights), width)
    moments = _moments(_coefficients(table, width), left, at)
    return design.assemble(theta, sums, design.at_rows(eta - beyond, beyond, bent, moments))


@dataclass(frozen=True)
class _Table:
    """All functions of η alone, on a grid of G = GRID + 1 values.

    Attributes:
        normaliser, mean, variance: A, E v̂ and Var v̂, (B, G).
        measure, covariance: E C and Cov(v̂, C), (B, q, G).
        shape: Cov(C, C), (B, q², G).
        dtype: type of the values at the rows.
    """

    normaliser: Tensor
    mean: Tensor
    variance: Tensor
    measure: Tensor
    covariance: Tensor
    shape: Tensor
    dtype: torch.dtype


def _table(design: BatchDesign, theta: Tensor, low: Tensor, width: Tensor) -> _Table:
    grid = low + width * torch.arange(GRID + 1, device=theta.device, dtype=torch.float64)
    measure = design.measure.mT  # (B, q, V)
    logits = design.value[..., None] * grid[:, None] + design.log_weights(theta)[..., None]  # (B, V, G)
    top = logits.amax(1, keepdim=True)
    probability = logits.sub_(top).exp_()
    total = probability.sum(1, keepdim=True)
    normaliser = (top + total.log()).squeeze(1)
    probability /= total
    mean = torch.bmm(design.value[:, None], probability)  # (B, 1, G)
    centred = design.value[..., None] - mean
    weighted = centred * probability
    products = (measure[:, :, None] * measure[:, None]).flatten(1, 2)
    expected = torch.bmm(measure, probability)
    shape = torch.bmm(products, probability) - (expected[:, :, None] * expected[:, None]).flatten(1, 2)
    return _Table(
        normaliser,
        mean.squeeze(1),
        (centred * weighted).sum(1),
        expected,
        torch.bmm(measure, weighted),
        shape,
        design.columns.dtype,
    )


def _coefficients(table: _Table, width: Tensor) -> Tensor:
    """Polynomials of the position in each cell: a cubic for E v̂, lines for Var v̂ and Cov(v̂, C), (B, 6 + 2 q, G).

    All second moments are interpolated linearly, so that the information of a row is a mixture of covariances and never
    indefinite.
    """
    start, rise = table.mean[:, :-1], table.mean.diff(dim=1)
    slope, end = table.variance[:, :-1] * width, table.variance[:, 1:] * width
    cubic = torch.stack([start, slope, 3 * rise - 2 * slope - end, slope + end - 2 * rise], 1)
    seconds = torch.cat([table.variance[:, None], table.covariance], 1)
    return torch.cat([cubic, seconds[..., :-1], seconds.diff(dim=2)], 1).to(table.dtype)


def _moments(coefficients: Tensor, left: Tensor, at: Tensor) -> Tensor:
    """E v̂, Var v̂ and Cov(v̂, C) at the rows, (B, 2 + q, n)."""
    c0, c1, c2, c3, *lines = coefficients.gather(2, left[:, None].expand(-1, coefficients.shape[1], -1)).unbind(1)
    constant, slope = (torch.stack(half, 1) for half in (lines[: len(lines) // 2], lines[len(lines) // 2 :]))
    mean = c0 + at * (c1 + at * (c2 + at * c3))
    return torch.cat([mean[:, None], constant + at[:, None] * slope], 1)


def _powers(left: Tensor, at: Tensor, weights: Tensor | None) -> Tensor:
    """Weight times the powers 0 to 5 of the position in the cell, summed over the rows of every cell, (B, G + 1, 6)."""
    batch = len(left)
    cell = (left + (GRID + 1) * torch.arange(batch, device=left.device)[:, None]).flatten()
    part = (torch.ones_like(at) if weights is None else weights.double().expand_as(at)).flatten()
    powers, at = [], at.flatten()
    for power in range(6):
        part = part * at if power else part
        powers.append(at.new_zeros(batch * (GRID + 1)).index_add_(0, cell, part))
    return torch.stack(powers, 1).unflatten(0, (batch, GRID + 1))


def _over_rows(table: _Table, powers: Tensor, width: Tensor) -> dict[str, Tensor]:
    """Sums over the rows: A by the quintic that fits A, A′, A″ at both ends, E C by a cubic, Cov(C, C) by a line.

    Every sum is one product of the table with the weights of its grid points.
    """
    below, above = (powers[None] @ PIECES.to(powers).mT[:, None]).unbind()  # (B, G + 1, 6)
    weights = below + above.roll(1, 1)  # the last cell is empty, so nothing wraps around
    normal, slope, bend, value, change, line = weights.unbind(2)
    normaliser = normal * table.normaliser + slope * width * table.mean + bend * width**2 * table.variance
    measure = (value[:, None] * table.measure + (change * width)[:, None] * table.covariance).sum(2)
    q = table.measure.shape[1]
    shape = (line[:, None] * table.shape).sum(2).unflatten(1, (q, q))
    return {"normaliser": normaliser.sum(1), "measure": measure, "shape": shape}
