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
            of the information with θ, (B, 1 + P, n).
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
        x = bank.columns.index_select(0, parents.clamp_min(0).flatten()).unflatten(0, parents.shape)
        x[parents < 0] = 0.0
        self.x = x.flatten(1, 2)  # (B, WIDTH · k, n)
        self.level = bank.ranks.T[node]  # (B, n)
        levels = int(bank.exists[node].sum(1).max())
        self.value, self.exists, self.carrier = (
            part[node, :levels] for part in (bank.value, bank.exists, bank.carrier)
        )  # (B, V), (B, V), (B, V, q)
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
        """The same of some problems, by number."""
        part = copy.copy(self)
        own = (
            *("x", "level", "value", "exists", "carrier", "own", "carrier_sum"),
            *("penalty", "centre", "offset", "weights"),
        )
        for name in own:
            values = getattr(self, name)
            if values is not None and len(values) == len(self.x):
                setattr(part, name, values.index_select(0, kept))
        return part

    def log_weights(self, theta: Tensor) -> Tensor:
        """C(v)ᵀγ on the levels, −∞ where a node has no such level, (B, V) double."""
        shape = (self.carrier @ theta[:, 1 : 1 + self.carrier_width, None]).squeeze(-1)
        return shape.masked_fill(~self.exists, -torch.inf)

    def weighted(self, values: Tensor) -> Tensor:
        """Row values times the rows' weights."""
        return values if self.weights is None else values * self.weights

    def assemble(self, theta: Tensor, bent: Sequence[Tensor], sums: dict[str, Tensor], moments: Tensor) -> Moments:
        """Gradient and information from the moments at the rows.

        Args:
            theta: (B, P).
            bent: the derivatives of `bent`, each (B, n).
            sums: over the weighted rows: normaliser Σ A (B,), carrier Σ E C (B, q), shape Σ Cov(C, C) (B, q, q) and
                index Σ x̂ η (B,).
            moments: E v̂, Var v̂ and Cov(v̂, C) at the rows, (B, 2 + q, n).
        """
        slope, along = bent
        own = torch.cat([(self.own - moments[:, 0])[:, None], moments[:, 1:]], 1)
        if self.weights is not None:
            own *= self.weights[:, None]
        head = self.head
        slopes = self.x.new_empty((len(theta), 1 + theta.shape[1], self.x.shape[2]))
        torch.mul(own, slope[:, None], out=slopes[:, :head])
        torch.mul(slopes[:, 1], along, out=slopes[:, head])
        curvature = slopes[:, 1] * slope
        torch.mul(self.x, curvature[:, None], out=slopes[:, 1 + head :])
        products = torch.bmm(slopes, self.x.mT).double()
        plain = own.sum(2, dtype=torch.float64)
        bending = torch.bmm(own, torch.stack([along, along.square()], 2)).double()
        carrier = slice(1, head - 1)
        gradient = [plain[:, :1], self.carrier_sum - sums["carrier"], bending[:, :1, 0], products[:, 0]]
        gradient = torch.cat(gradient, 1) - self.penalty * (theta - self.centre)
        information = torch.diag_embed(self.penalty)
        information[:, 0, : head - 1] = information[:, : head - 1, 0] = plain[:, 1:]
        information[:, carrier, carrier] += sums["shape"]
        information[:, head - 1, : head - 1] = information[:, : head - 1, head - 1] = bending[:, 1:, 0]
        information[:, head - 1, head - 1] += bending[:, 1, 1]
        information[:, :head, head:] = products[:, 1 : head + 1]
        information[:, head:, :head] = products[:, 1 : head + 1].mT
        information[:, head:, head:] += products[:, head + 1 :]
        carried = (self.carrier_sum * theta[:, carrier]).sum(1)
        log_likelihood = sums["index"] + carried - sums["normaliser"]
        return Moments(log_likelihood, gradient, information, own[:, 0], slopes, curvature)

    def prior(self, theta: Tensor) -> Tensor:
        """The penalty, ½ Σ precision · (θ − mean)², (B,)."""
        return (self.penalty * (theta - self.centre).square()).sum(1) / 2


def exact(design: Design, theta: Tensor) -> Moments:
    """One evaluation by the sum over the levels at every row; memory B · n · V."""
    eta, *bent = design.bent(theta)
    eta = eta.double()
    logits = eta[..., None] * design.value[:, None] + design.log_weights(theta)[:, None]
    normaliser = torch.logsumexp(logits, -1)
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
    sums = {
        "normaliser": (normaliser * rows).sum(1), "carrier": (shape_mean * rows[..., None]).sum(1), "shape": shape,
        "index": (design.own.double() * eta * rows).sum(1),
    }  # fmt: skip
    moments = torch.cat([mean[:, None], variance[:, None], covariance.mT], 1)
    return design.assemble(theta, bent, sums, moments.to(design.x))


def tabulated(design: Design, theta: Tensor) -> Moments:
    """The same from a table over η: no row × level array, and errors of about 1e-6 in the log-likelihood."""
    eta, *bent = design.bent(theta)
    low, high = (bound.double() for bound in eta.aminmax(dim=1, keepdim=True))
    width = ((high - low) / (_GRID - 1)).clamp_min(1e-3)
    table = _table(design, theta, low, width)
    place = ((eta - low.to(eta)) / width.to(eta)).clamp_(0, _GRID - 1e-3)
    left = place.long()
    at = place - left
    sums = _over_rows(table, left, at.double(), width, design.weights)
    sums["index"] = design.weighted(design.own * eta).sum(1, dtype=torch.float64)
    return design.assemble(theta, bent, sums, _at_rows(table, left, at, width))


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
    top = logits.amax(1, keepdim=True)
    probability = logits.sub_(top).exp_()
    total = probability.sum(1, keepdim=True)
    normaliser = (top + total.log()).squeeze(1)
    probability /= total
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


def _at_rows(table: _Table, left: Tensor, at: Tensor, width: Tensor) -> Tensor:
    """Mean of v̂ from a cubic, its variance and Cov(v̂, C) from lines, at the rows, (B, 2 + q, n).

    All second moments are from lines: so a row's information is a mixture of covariances, never indefinite.
    """
    start, rise = table.mean[:, :-1], table.mean.diff(dim=1)
    slope, end = table.variance[:, :-1] * width, table.variance[:, 1:] * width
    cubic = torch.stack([start, slope, 3 * rise - 2 * slope - end, slope + end - 2 * rise], 1)
    seconds = torch.cat([table.variance[:, None], table.covariance], 1)
    coefficients = torch.cat([cubic, seconds[..., :-1], seconds.diff(dim=2)], 1).to(table.dtype)
    read = coefficients.gather(2, left[:, None].expand(-1, coefficients.shape[1], -1))
    c0, c1, c2, c3 = read[:, :4].unbind(1)
    moments = at.new_empty((len(at), 1 + seconds.shape[1], at.shape[1]))
    torch.addcmul(c0, at, torch.addcmul(c1, at, torch.addcmul(c2, at, c3)), out=moments[:, 0])
    lines, rises = read[:, 4:].chunk(2, 1)
    torch.addcmul(lines, at[:, None], rises, out=moments[:, 1:])
    return moments


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
