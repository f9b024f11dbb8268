"""The likelihood of many nodes given parents at once: its value, gradient and information at given coefficients.

θ = (b, base measure γ, bend κ, parents β): log p(x_i = v) = v̂ η + C(v)ᵀγ − A(η, γ) with v̂ = v / s_i, η = b + g(s) +
offset · s_i and s = Σ_k f_k(x_k). With J = ∂η/∂(b, κ, β) and E and Cov under the model at a row,

    ∂/∂γ = Σ C(x) − E C,   ∂/∂(b, κ, β) = Σ (x̂ − E v̂) J,
    information = Σ of Cov of (v̂ J, C),

the expected information, which unlike the observed one is never indefinite. If κ is held at 0, the two are the same and
the log-likelihood is concave. The sums over the levels depend on a row through η alone. `exact` sums at every row.
`tabulated` sums once on a grid of η and interpolates (cubic for moments, quintic for the log-likelihood), which needs
no row × level array; a fit on a CPU does the same, compiled (`disco.likelihood.compiled`).

The grid ends where only one level is left, the lowest or the highest. Beyond it A is exactly a straight line in η, and
the moments are constant. If a parent separates the levels of its child, η runs to thousands at some rows, and a grid
over all of them would miss the bends of A in between.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from disco.likelihood.bank import Bank
from disco.likelihood.link import bent

GRID = 128  # cells of a table over η that rows lie in
FAR = 20.0  # nats by which a level must outweigh every other to count as the only one left
# Weights of the grid points below and above a row at place t of its cell, by powers of t. The first three are those of
# A, A′ and A″, by the quintic that fits all three at both ends; the next two of a value and its slope, by a cubic; the
# last of a value, by a line.
PIECES = torch.tensor(
    [
        [[1, 0, 0, -10, 15, -6], [0, 1, 0, -6, 8, -3], [0, 0, 0.5, -1.5, 1.5, -0.5],
         [1, 0, -3, 2, 0, 0], [0, 1, -2, 1, 0, 0], [1, -1, 0, 0, 0, 0]],
        [[0, 0, 0, 10, -15, 6], [0, 0, 0, -4, 7, -3], [0, 0, 0, 0.5, -1, 0.5],
         [0, 0, 3, -2, 0, 0], [0, 0, -1, 1, 0, 0], [0, 1, 0, 0, 0, 0]],
    ],
    dtype=torch.float64,
)  # fmt: skip # a table


@dataclass(frozen=True)
class Problems:
    """Nodes, each with the parents to fit it on.

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
class Derivatives:
    """One evaluation at some θ.

    Attributes:
        log_likelihood: without the penalty, (B,).
        gradient: of the penalised log-likelihood, (B, P).
        information: with the penalty, (B, P, P).
        slopes: row weights w, (B, 3 + q, n): Σ w · x is the gradient of a parent's column x, then its information with
            the intercept, base measure and bend.
        curvature: row weights w, (B, n): Σ w · x · z is the information of two parents' columns x and z.
    """

    log_likelihood: Tensor
    gradient: Tensor
    information: Tensor
    slopes: Tensor
    curvature: Tensor


@dataclass(frozen=True)
class AtRows:
    """The sums over the rows of an evaluation that are not sums over the levels.

    With r = weight · (x̂ − E v̂, Var v̂, Cov(v̂, C)) at the rows, (B, 2 + q, n):

    Attributes:
        slopes, curvature: as in `Derivatives`.
        index: Σ x̂ η, (B,), minus the rise of A beyond the grid.
        plain: Σ r, (B, 2 + q).
        bending: Σ r ∂g/∂κ and Σ r (∂g/∂κ)², (B, 2 + q, 2).
        products: Σ slopes · x, then Σ curvature · x · x, (B, 3 + q + WIDTH · k, WIDTH · k).
    """

    slopes: Tensor
    curvature: Tensor
    index: Tensor
    plain: Tensor
    bending: Tensor
    products: Tensor


def columns_of(columns: Tensor, nodes: Tensor) -> Tensor:
    """The columns (d, WIDTH, n) of nodes (B, k), 0 for a node −1: (B, WIDTH · k, n)."""
    found = columns.index_select(0, nodes.clamp_min(0).flatten()).unflatten(0, nodes.shape)
    found[nodes < 0] = 0.0
    return found.flatten(1, 2)


class BatchDesign:
    """The rows of a batch of problems: parents' columns, own levels, weights."""

    def __init__(self, bank: Bank, problems: Problems, weights: Tensor | None = None) -> None:
        node, self.parents = problems.node, problems.parents
        self.columns = bank.columns
        self.level = bank.ranks.T[node]  # (B, n)
        levels = int(bank.exists[node].sum(1).max())
        self.value, self.exists, self.measure, counts = (
            part[node, :levels] for part in (bank.value, bank.exists, bank.measure, bank.counts)
        )  # (B, V), (B, V), (B, V, q), (B, V)
        self.weights = None
        if weights is not None:
            self.weights = weights.reshape(-1, bank.rows).to(bank.columns)  # (1 or B, n)
            each = self.weights.double().expand(self.level.shape)
            counts = torch.zeros_like(self.value).scatter_add_(1, self.level, each)
            # The log-probability of a level without weighted rows would fall without limit.
            self.exists = self.exists & (counts > 0)
        self.measure_sum = (counts[..., None] * self.measure).sum(1)  # (B, q)
        self.measure_width = self.measure.shape[-1]
        centre, priors = (part.flatten(1) for part in bank.expected(node, self.parents))
        bend = priors.new_full((len(node), 1), bank.prior.link)
        penalty = torch.cat([bank.measure_precision[node], bend, priors], 1)
        self.penalty = torch.nn.functional.pad(penalty, (1, 0))  # none on the intercept
        self.centre = torch.nn.functional.pad(centre, (bank.head, 0))
        self.head = bank.head
        self.offset = None
        if bank.offset is not None:  # on the scale of v̂, whose unit is s_i counts
            self.offset = (bank.offset / self.value[:, 1:2]).to(bank.columns)

    @cached_property
    def x(self) -> Tensor:
        """Columns of the parents, (B, WIDTH · k, n); 0 for padding."""
        return columns_of(self.columns, self.parents)

    @cached_property
    def own(self) -> Tensor:
        """x̂ at the rows, (B, n)."""
        return self.value.gather(1, self.level).to(self.columns)

    def index(self, theta: Tensor) -> Tensor:
        """Σ f_k at the rows, (B, n)."""
        return torch.bmm(theta[:, None, self.head :].to(self.x), self.x).squeeze(1)

    def bent(self, theta: Tensor) -> tuple[Tensor, ...]:
        """η at the rows and the derivatives of `bent`, each (B, n)."""
        index = self.index(theta)
        value, *derivatives = bent(index, theta[:, self.head - 1, None].to(index))
        eta = value + theta[:, :1].to(index)
        return (eta if self.offset is None else eta + self.offset), *derivatives

    def take(self, kept: Tensor) -> "BatchDesign":
        """The design of some of the problems, by number."""
        part = copy.copy(self)
        own = (
            *("x", "parents", "level", "value", "exists", "measure", "own", "measure_sum"),
            *("penalty", "centre", "offset", "weights"),
        )
        for name in own:
            values = getattr(self, name)
            if values is not None and len(values) == len(self.x):
                setattr(part, name, values.index_select(0, kept))
        return part

    def log_weights(self, theta: Tensor) -> Tensor:
        """C(v)ᵀγ on the levels, (B, V) double; −∞ if a node has no such level."""
        shape = (self.measure @ theta[:, 1 : 1 + self.measure_width, None]).squeeze(-1)
        return shape.masked_fill(~self.exists, -torch.inf)

    def weighted(self, values: Tensor) -> Tensor:
        """Row values times the rows' weights."""
        return values if self.weights is None else values * self.weights

    def bounds(self, log_weights: Tensor) -> tuple[Tensor, Tensor]:
        """η below which only the lowest level is left, and above which only the highest, (B, 1) each; ±∞ for one level.

        Args:
            log_weights: of the levels, (B, V).
        """
        ends = []
        for end in self.ends():
            own = log_weights.gather(1, end)
            apart = self.value - self.value.gather(1, end)
            tie = (own - log_weights - FAR) / apart  # the η at which a level is FAR nats behind
            ends.append(tie.masked_fill(~self.exists | (apart == 0), torch.nan))
        low, high = ends[0].nan_to_num(torch.inf).amin(1), ends[1].nan_to_num(-torch.inf).amax(1)
        return low[:, None], high[:, None]

    def ends(self) -> tuple[Tensor, Tensor]:
        """The lowest and the highest level of each node, (B, 1) each."""
        level = torch.arange(self.exists.shape[1], device=self.exists.device)
        low = torch.where(self.exists, level, len(level)).amin(1, keepdim=True)
        return low, torch.where(self.exists, level, -1).amax(1, keepdim=True)

    def at_rows(self, eta: Tensor, beyond: Tensor, bent: Sequence[Tensor], moments: Tensor) -> AtRows:
        """The sums over the rows, given the moments there.

        Args:
            eta: on the grid, (B, n).
            beyond: how far η lies below or above the grid, (B, n).
            bent: the derivatives of `bent`, each (B, n).
            moments: E v̂, Var v̂ and Cov(v̂, C) at the rows, (B, 2 + q, n).
        """
        slope, along = bent
        own = torch.cat([(self.own - moments[:, 0])[:, None], moments[:, 1:]], 1)
        if self.weights is not None:
            own *= self.weights[:, None]
        slopes = own * slope[:, None]
        slopes = torch.cat([slopes, (slopes[:, 1] * along)[:, None]], 1)
        curvature = slopes[:, 1] * slope
        products = torch.bmm(torch.cat([slopes, self.x * curvature[:, None]], 1), self.x.mT).double()
        low, high = (self.value.gather(1, end).to(self.own) for end in self.ends())
        # Beyond the grid A rises with the one level left; that is subtracted before large numbers are added.
        apart = self.own - torch.where(beyond > 0, high, low)
        index = self.weighted(self.own * eta + apart * beyond).sum(1, dtype=torch.float64)
        bending = torch.bmm(own, torch.stack([along, along.square()], 2)).double()
        return AtRows(slopes, curvature, index, own.sum(2, dtype=torch.float64), bending, products)

    def assemble(self, theta: Tensor, sums: dict[str, Tensor], at_rows: AtRows) -> Derivatives:
        """Log-likelihood, gradient and information.

        Args:
            theta: (B, P).
            sums: over the weighted rows: normaliser Σ A (B,), measure Σ E C (B, q) and shape Σ Cov(C, C) (B, q, q).
            at_rows: the other sums over the rows.
        """
        head, measure = self.head, slice(1, self.head - 1)
        plain, bending, products = at_rows.plain, at_rows.bending, at_rows.products
        parts = [plain[:, :1], self.measure_sum - sums["measure"], bending[:, :1, 0], products[:, 0]]
        gradient = torch.cat(parts, 1) - self.penalty * (theta - self.centre)
        information = torch.diag_embed(self.penalty)
        information[:, 0, : head - 1] = information[:, : head - 1, 0] = plain[:, 1:]
        information[:, measure, measure] += sums["shape"]
        information[:, head - 1, : head - 1] = information[:, : head - 1, head - 1] = bending[:, 1:, 0]
        information[:, head - 1, head - 1] += bending[:, 1, 1]
        information[:, :head, head:] = products[:, 1 : head + 1]
        information[:, head:, :head] = products[:, 1 : head + 1].mT
        information[:, head:, head:] += products[:, head + 1 :]
        carried = (self.measure_sum * theta[:, measure]).sum(1)
        log_likelihood = at_rows.index + carried - sums["normaliser"]
        return Derivatives(log_likelihood, gradient, information, at_rows.slopes, at_rows.curvature)

    def prior(self, theta: Tensor) -> Tensor:
        """The penalty, ½ Σ precision · (θ − mean)², (B,)."""
        return (self.penalty * (theta - self.centre).square()).sum(1) / 2


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
    """The same from a table over η: no row × level array, and errors of about 1e-6 in the log-likelihood."""
    eta, *bent = design.bent(theta)
    least, most = (bound.double() for bound in eta.aminmax(dim=1, keepdim=True))
    bottom, top = design.bounds(design.log_weights(theta))
    low = torch.minimum(torch.maximum(least, bottom), most)
    width = ((torch.maximum(torch.minimum(most, top), low) - low) / (GRID - 1)).clamp_min(1e-3)
    table = _table(design, theta, low, width)
    place = (eta - low.to(eta)) / width.to(eta)
    inside = place.clamp(0, GRID - 1e-3)
    beyond = (place - inside) * width.to(eta)
    left = inside.long()
    at = inside - left
    sums = _over_rows(table, _powers(left, at.double(), design.weights), width)
    moments = _moments(_coefficients(table, width), left, at)
    return design.assemble(theta, sums, design.at_rows(eta - beyond, beyond, bent, moments))


@dataclass(frozen=True)
class _Table:
    """Everything that depends on η alone, on a grid of G = GRID + 1 values of it.

    Attributes:
        normaliser, mean, variance: A, E v̂ and Var v̂, (B, G).
        measure, covariance: E C and Cov(v̂, C), (B, q, G).
        shape: Cov(C, C), (B, q², G).
        dtype: of the values at the rows.
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
    """Polynomials of the place in each cell: a cubic for E v̂, lines for Var v̂ and Cov(v̂, C), (B, 6 + 2 q, G).

    All second moments are interpolated by lines, so that the information of a row is a mixture of covariances and never
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
    """Weight times the powers 0 to 5 of the place in the cell, summed over the rows of every cell, (B, G + 1, 6)."""
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
    weights = below + above.roll(1, 1)  # the last cell is empty: nothing comes round
    normal, slope, bend, value, change, line = weights.unbind(2)
    normaliser = normal * table.normaliser + slope * width * table.mean + bend * width**2 * table.variance
    measure = (value[:, None] * table.measure + (change * width)[:, None] * table.covariance).sum(2)
    q = table.measure.shape[1]
    shape = (line[:, None] * table.shape).sum(2).unflatten(1, (q, q))
    return {"normaliser": normaliser.sum(1), "measure": measure, "shape": shape}
