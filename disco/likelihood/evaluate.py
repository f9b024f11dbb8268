"""The likelihood of many nodes given parents at once: its value, gradient and information at some coefficients.

θ = (b, carrier γ, bend κ, parents β): log p(x_i = v) = v̂ η + C(v)ᵀγ − A(η, γ) with v̂ = v / s_i, η = b + g(s) + offset ·
s_i and s = Σ_k f_k(x_k). With J = ∂η/∂(b, κ, β) and E and Cov under the model at a row,

    ∂/∂γ = Σ C(x) − E C,   ∂/∂(b, κ, β) = Σ (x̂ − E v̂) J,
    information = Σ of Cov of (v̂ J, C),

the expected one, which unlike the observed one is never indefinite; they are the same where κ = 0 is held, and the
log-likelihood is concave there. What is summed over the levels depends on a row through η alone: `exact` sums at every
row; `tabulated` sums once on a grid of η and interpolates (cubic for moments, quintic for the log-likelihood), which
costs no row × level array.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from disco.likelihood.bank import Bank

_GRID = 128  # intervals of a table of η
_MOST_BENT = 20.0  # of κ s, against overflow
_LEAST_BEND = {torch.float32: 1e-3, torch.float64: 1e-7}  # below it rounding spoils the slopes
# What a row at t of a cell gives the point below it and the one above, by powers of t: of A, A′, A″ by the quintic that
# fits all three at both ends, of a value and its slope by a cubic, of a value by a line.
_PIECES = torch.tensor(
    [
        [[1, 0, 0, -10, 15, -6], [0, 1, 0, -6, 8, -3], [0, 0, 0.5, -1.5, 1.5, -0.5],
         [1, 0, -3, 2, 0, 0], [0, 1, -2, 1, 0, 0], [1, -1, 0, 0, 0, 0]],
        [[0, 0, 0, 10, -15, 6], [0, 0, 0, -4, 7, -3], [0, 0, 0, 0.5, -1, 0.5],
         [0, 0, 3, -2, 0, 0], [0, 0, -1, 1, 0, 0], [0, 1, 0, 0, 0, 0]],
    ],
    dtype=torch.float64,
)  # fmt: skip


@dataclass(frozen=True)
class Problems:
    """Nodes with the parents to fit them on.

    Attributes:
        node: (B,).
        parents: node numbers, (B, k), padded with −1.
    """

    node: Tensor
    parents: Tensor

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, Sequence[int]]], device: torch.device | str = "cpu") -> "Problems":
        """From pairs of a node and its parents."""
        widest = max((len(parents) for _, parents in pairs), default=0)
        padded = np.full((len(pairs), widest), -1, dtype=np.int64)
        for number, (_, parents) in enumerate(pairs):
            padded[number, : len(parents)] = list(parents)
        node = torch.tensor([node for node, _ in pairs], dtype=torch.int64)
        return cls(node.to(device), torch.as_tensor(padded).to(device))


@dataclass(frozen=True)
class Moments:
    """What one evaluation gives, at some θ.

    Attributes:
        log_likelihood: without the penalty, (B,).
        gradient: of the penalised log-likelihood, (B, P).
        information: with the penalty, (B, P, P).
        residual: weight · (x̂ − E v̂) at the rows, (B, n).
        slopes: what a column of a parent is multiplied by to give, summed over the rows, its part of the gradient and
            of the information with intercept, carrier and bend, (B, 3 + q, n).
        curvature: the same for the information of two columns of parents, (B, n).
    """

    log_likelihood: Tensor
    gradient: Tensor
    information: Tensor
    residual: Tensor
    slopes: Tensor
    curvature: Tensor


def bent(index: Tensor, bend: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The bent index g = (exp(κ s) − 1) / κ and its derivatives ∂g/∂s and ∂g/∂κ.

    Args:
        index: s.
        bend: κ, broadcast along s; one nearer to 0 than rounding lets it be told counts as the nearest that is.
    """
    least = _LEAST_BEND[index.dtype]
    bend = torch.where(bend.abs() < least, torch.where(bend < 0, -least, least), bend)
    t = (bend * index).clamp_(-_MOST_BENT, _MOST_BENT).add_(1e-20)  # not 0, which divides; what it spoils is times s
    risen = torch.expm1(t)
    slope, first = risen + 1, risen / t
    return index * first, slope, index.square() * (slope - first) / t


class Design:
    """The rows of a batch of problems: parents' columns, own levels, weights."""

    def __init__(self, bank: Bank, problems: Problems, weights: Tensor | None = None) -> None:
        node, parents = problems.node, problems.parents
        filled = bank.columns[parents.clamp_min(0)] * (parents >= 0)[..., None, None].to(bank.columns)
        self.x = filled.flatten(1, 2)  # (B, WIDTH · k, n)
        self.level = bank.ranks.T[node]  # (B, n)
        self.value, self.exists, self.carrier = bank.value[node], bank.exists[node], bank.carrier[node]
        self.own = self.value.gather(1, self.level).to(bank.columns)
        self.weights = None if weights is None else weights.reshape(-1, bank.rows).to(bank.columns)  # (1 or B, n)
        one = torch.ones_like(self.own, dtype=torch.float64)
        counts = torch.zeros_like(self.value).scatter_add_(1, self.level, self.weighted(one))
        if weights is not None:  # the probability of a level that they leave no row would fall to 0 without an end
            self.exists = self.exists & (counts > 0)
        self.carrier_sum = (counts[..., None] * self.carrier).sum(1)  # (B, q)
        self.carrier_width = self.carrier.shape[-1]
        centre, priors = (part.flatten(1) for part in bank.expected(node, parents))
        bend = priors.new_full((len(node), 1), bank.prior.link)
        penalty = torch.cat([bank.carrier_precision[node], bend, priors], 1)
        self.penalty = torch.nn.functional.pad(penalty, (1, 0))  # none on the intercept
        self.centre = torch.nn.functional.pad(centre, (bank.head, 0))
        self.head = bank.head
        self.offset = None
        if bank.offset is not None:  # on the scale of v̂, whose unit is s_i counts
            self.offset = (bank.offset / self.value[:, 1:2]).to(bank.columns)

    def index(self, theta: Tensor) -> Tensor:
        """Σ f_k at the rows, (B, n)."""
        return torch.bmm(theta[:, None, self.head :].to(self.x), self.x).squeeze(1)

    def bent(self, theta: Tensor) -> tuple[Tensor, ...]:
        """η at the rows and the derivatives of `bent`, each (B, n)."""
        index = self.index(theta)
        value, *derivatives = bent(index, theta[:, self.head - 1, None].to(index))
        eta = value + theta[:, :1].to(index)
        return (eta if self.offset is None else eta + self.offset), *derivatives

    def take(self, kept: Tensor) -> "Design":
        """The same of some problems, (B,) true or false."""
        part = copy.copy(self)
        own = (
            *("x", "level", "value", "exists", "carrier", "own", "carrier_sum"),
            *("penalty", "centre", "offset", "weights"),
        )
        for name in own:
            values = getattr(self, name)
            if values is not None and len(values) == len(kept):
                setattr(part, name, values[kept])
        return part

    def log_weights(self, theta: Tensor) -> Tensor:
        """C(v)ᵀγ on the levels, −∞ where a node has no such level, (B, V) double."""
        shape = (self.carrier @ theta[:, 1 : 1 + self.carrier_width, None]).squeeze(-1)
        return shape.masked_fill(~self.exists, -torch.inf)

    def weighted(self, values: Tensor) -> Tensor:
        """Row values times the rows' weights."""
        return values if self.weights is None else values * self.weights

    def assemble(self, theta: Tensor, bent: Sequence[Tensor], expected: Tensor, moments: dict[str, Tensor]) -> Moments:
        """Gradient and information from the moments at the rows.

        Args:
            theta: (B, P).
            bent: the derivatives of `bent`, each (B, n).
            expected: Σ E C over weighted rows, (B, q).
            moments: log_likelihood (B,), mean and variance of v̂ (B, n), covariance Cov(v̂, C) (B, q, n), and
                shape, Σ Cov(C, C), (B, q, q).
        """
        slope, along = bent
        residual = self.weighted(self.own - moments["mean"])
        variance = self.weighted(moments["variance"])
        covariance = moments["covariance"] if self.weights is None else moments["covariance"] * self.weights[:, None]
        steep = variance * slope
        rows = [(residual * slope)[:, None], steep[:, None], covariance * slope[:, None], (steep * along)[:, None]]
        slopes, curvature = torch.cat(rows, 1), steep * slope
        sums = torch.bmm(torch.cat([slopes, self.x * curvature[:, None]], 1), self.x.mT).double()
        own = torch.cat([residual[:, None], variance[:, None], covariance], 1)
        plain, bending = own.sum(2, dtype=torch.float64), torch.bmm(own, along[..., None]).squeeze(2).double()
        twice = (variance * along.square()).sum(1, dtype=torch.float64)
        carrier, head = slice(1, self.head - 1), self.head
        gradient = torch.cat([plain[:, :1], self.carrier_sum - expected, bending[:, :1], sums[:, 0]], 1)
        information = theta.new_empty((*theta.shape, theta.shape[1]))
        information[:, 0, : head - 1] = information[:, : head - 1, 0] = plain[:, 1:]
        information[:, carrier, carrier] = moments["shape"]
        information[:, head - 1, : head - 1] = information[:, : head - 1, head - 1] = bending[:, 1:]
        information[:, head - 1, head - 1] = twice
        information[:, :head, head:] = sums[:, 1 : head + 1]
        information[:, head:, :head] = sums[:, 1 : head + 1].mT
        information[:, head:, head:] = sums[:, head + 1 :]
        gradient = gradient - self.penalty * (theta - self.centre)
        information = information + torch.diag_embed(self.penalty)
        return Moments(moments["log_likelihood"], gradient, information, residual, slopes, curvature)

    def prior(self, theta: Tensor) -> Tensor:
        """The penalty, ½ Σ precision · (θ − mean)², (B,)."""
        return (self.penalty * (theta - self.centre).square()).sum(1) / 2


def exact(design: Design, theta: Tensor) -> Moments:
    """One evaluation by the sum over the levels at every row; memory B · n · V."""
    eta, *bent = design.bent(theta)
    eta = eta.double()
    logits = eta[..., None] * design.value[:, None] + design.log_weights(theta)[:, None]
    normaliser = torch.logsumexp(logits, -1)
    own = logits.gather(2, design.level[..., None]).squeeze(-1) - normaliser
    probability = torch.softmax(logits, -1)
    rows = torch.ones_like(eta) if design.weights is None else design.weights.double().expand_as(eta)
    mean = (probability * design.value[:, None]).sum(-1)
    shape_mean = probability @ design.carrier
    centred = design.value[:, None] - mean[..., None]
    variance = (probability * centred**2).sum(-1)
    covariance = (probability * centred) @ design.carrier  # E (v̂ − E v̂) C
    weighted = (probability * rows[..., None]).sum(1)
    second = design.carrier.mT @ (weighted[..., None] * design.carrier)
    shape = second - (shape_mean * rows[..., None]).mT @ shape_mean
    moments = {
        "log_likelihood": torch.where(rows > 0, own * rows, 0.0).sum(1), "mean": mean.to(design.x),
        "variance": variance.to(design.x), "covariance": covariance.mT.to(design.x), "shape": shape,
    }  # fmt: skip
    return design.assemble(theta, bent, (shape_mean * rows[..., None]).sum(1), moments)


def tabulated(design: Design, theta: Tensor) -> Moments:
    """The same from a table over η: no row × level array, and errors of about 1e-6 in the log-likelihood."""
    eta, *bent = design.bent(theta)
    low, high = (bound.double() for bound in eta.aminmax(dim=1, keepdim=True))
    width = ((high - low) / (_GRID - 1)).clamp_min(1e-3)
    table = _table(design, theta, low, width)
    place = ((eta - low.to(eta)) / width.to(eta)).clamp_(0, _GRID - 1e-3)
    left = place.long()
    at = place - left
    mean, variance, covariance = _at_rows(table, left, at, width)
    sums = _over_rows(table, left, at.double(), width, design.weights)
    carried = (design.carrier_sum * theta[:, 1 : 1 + design.carrier_width]).sum(1)
    own = design.weighted(design.own * eta).sum(1, dtype=torch.float64)
    moments = {
        "log_likelihood": own + carried - sums["normaliser"], "mean": mean, "variance": variance,
        "covariance": covariance, "shape": sums["shape"],
    }  # fmt: skip
    return design.assemble(theta, bent, sums["carrier"], moments)


@dataclass(frozen=True)
class _Table:
    """What depends on η alone, on a grid of _GRID + 1 values of it.

    Attributes:
        normaliser, mean, variance: A, E v̂ and Var v̂, (B, G).
        carrier, covariance: E C and Cov(v̂, C), (B, q, G).
        shape: Cov(C, C), (B, q², G).
        dtype: of what is read at the rows.
    """

    normaliser: Tensor
    mean: Tensor
    variance: Tensor
    carrier: Tensor
    covariance: Tensor
    shape: Tensor
    dtype: torch.dtype


def _table(design: Design, theta: Tensor, low: Tensor, width: Tensor) -> _Table:
    grid = low + width * torch.arange(_GRID + 1, device=theta.device, dtype=torch.float64)
    carrier = design.carrier.mT  # (B, q, V)
    logits = design.value[..., None] * grid[:, None] + design.log_weights(theta)[..., None]  # (B, V, G)
    normaliser = torch.logsumexp(logits, 1)
    probability = torch.exp(logits - normaliser[:, None])
    mean = torch.bmm(design.value[:, None], probability)  # (B, 1, G)
    centred = design.value[..., None] - mean
    weighted = centred * probability
    products = (carrier[:, :, None] * carrier[:, None]).flatten(1, 2)
    expected = torch.bmm(carrier, probability)
    shape = torch.bmm(products, probability) - (expected[:, :, None] * expected[:, None]).flatten(1, 2)
    return _Table(
        normaliser, mean.squeeze(1), (centred * weighted).sum(1), expected, torch.bmm(carrier, weighted), shape,
        design.x.dtype,
    )  # fmt: skip


def _at_rows(table: _Table, left: Tensor, at: Tensor, width: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean of v̂ from a cubic, its variance and Cov(v̂, C) from lines, at the rows."""
    start, rise = table.mean[:, :-1], table.mean.diff(dim=1)
    slope, end = table.variance[:, :-1] * width, table.variance[:, 1:] * width
    cubic = torch.stack([start, slope, 3 * rise - 2 * slope - end, slope + end - 2 * rise], 1)
    coefficients = torch.cat([cubic, table.covariance[..., :-1], table.covariance.diff(dim=2)], 1).to(table.dtype)
    read = coefficients.gather(2, left[:, None].expand(-1, coefficients.shape[1], -1))
    c0, c1, c2, c3 = read[:, :4].unbind(1)
    mean = c0 + at * (c1 + at * (c2 + at * c3))
    # From a line as the other second moments: so a row's information is a mixture of covariances, never indefinite.
    variance = torch.lerp(table.variance.gather(1, left), table.variance.gather(1, left + 1), at.double()).to(at)
    q = table.covariance.shape[1]
    return mean, variance, torch.addcmul(read[:, 4 : 4 + q], at[:, None], read[:, 4 + q :])


def _over_rows(table: _Table, left: Tensor, at: Tensor, width: Tensor, weights: Tensor | None) -> dict[str, Tensor]:
    """Sums over the rows: A by the quintic that fits A, A′, A″ at both ends, E C by a cubic, Cov(C, C) by a line.

    Every sum is one product with how much of the rows each grid point carries.
    """
    batch, points = table.normaliser.shape
    cell = (left + points * torch.arange(batch, device=left.device)[:, None]).flatten()
    part = (torch.ones_like(at) if weights is None else weights.double().expand_as(at)).flatten()
    powers, at = [], at.flatten()
    for power in range(6):
        part = part * at if power else part
        powers.append(at.new_zeros(batch * points).index_add_(0, cell, part))
    below, above = _PIECES.to(at) @ torch.stack(powers)
    above = above.unflatten(1, (batch, points)).roll(1, 2)  # the last cell is empty: nothing comes round
    normal, slope, bend, value, change, line = below.unflatten(1, (batch, points)) + above
    normaliser = normal * table.normaliser + slope * width * table.mean + bend * width**2 * table.variance
    carrier = (value[:, None] * table.carrier + (change * width)[:, None] * table.covariance).sum(2)
    q = table.carrier.shape[1]
    shape = (line[:, None] * table.shape).sum(2).unflatten(1, (q, q))
    return {"normaliser": normaliser.sum(1), "carrier": carrier, "shape": shape}
