"""A batch of nodes given parents: their columns at the rows, and an evaluation's sums over the rows.

`disco.likelihood.evaluate` explains the likelihood and its derivatives. These parts do not depend on the method for the
sums over the levels.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from disco.likelihood.design import WIDTH, Design
from disco.likelihood.link import bent

FAR = 20.0  # nats by which a level must outweigh all others to count as the only one


@dataclass(frozen=True)
class Problems:
    """Nodes, each with its parents.

    Attributes:
        node: (B,).
        parents: node numbers, (B, k), padded with −1.
    """

    node: Tensor
    parents: Tensor

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, Sequence[int]]], device: torch.device | str = "cpu") -> "Problems":
        """The problems for pairs of a node and its parents."""
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
        gradient: the gradient of the penalised log-likelihood, (B, P).
        information: the information with the penalty, (B, P, P).
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
    """An evaluation's sums over the rows that are not sums over the levels.

    With r = weight · (x̂ − E v̂, Var v̂, Cov(v̂, C)) at the rows, (B, 2 + q, n):

    Attributes:
        slopes, curvature: as in `Derivatives`.
        index: Σ x̂ η, (B,), minus the increase of A beyond the grid.
        plain: Σ r, (B, 2 + q).
        bending: Σ r ∂g/∂κ and Σ r (∂g/∂κ)², (B, 2 + q, 2).
        products: with x the rows' own columns and the parents', Σ slopes · x, then Σ curvature · x · x,
            (B, 3 + q + WIDTH · (m + k), WIDTH · (m + k)); for the rows' own without the slope ∂g/∂s.
    """

    slopes: Tensor
    curvature: Tensor
    index: Tensor
    plain: Tensor
    bending: Tensor
    products: Tensor


def columns_of(columns: Tensor, nodes: Tensor) -> Tensor:
    """The columns, (d, WIDTH, n), of nodes (B, k), 0 for a node −1: (B, WIDTH · k, n)."""
    found = columns.index_select(0, nodes.clamp_min(0).flatten()).unflatten(0, nodes.shape)
    found[nodes < 0] = 0.0
    return found.flatten(1, 2)


class BatchDesign:
    """The rows of a batch of problems: columns, own levels, weights. The first `outside` blocks are the rows' own."""

    def __init__(self, design: Design, problems: Problems, weights: Tensor | None = None) -> None:
        node, self.parents = problems.node, design.blocks(problems.parents)
        self.columns, self.outside = design.columns, design.own
        self.level = design.ranks.T[node]  # (B, n)
        levels = int(design.exists[node].sum(1).max())
        self.value, self.exists, self.measure, counts = (
            part[node, :levels] for part in (design.value, design.exists, design.measure, design.counts)
        )  # (B, V), (B, V), (B, V, q), (B, V)
        self.weights = None
        if design.own_rows is not None:
            own = design.own_rows[node]
            weights = own if weights is None else weights.reshape(-1, design.rows) * own
        if weights is not None:
            self.weights = weights.reshape(-1, design.rows).to(design.columns)  # (1 or B, n)
            each = self.weights.double().expand(self.level.shape)
            counts = torch.zeros_like(self.value).scatter_add_(1, self.level, each)
            # The log-probability of a level without weighted rows would decrease without bound.
            self.exists = self.exists & (counts > 0)
        self.measure_sum = (counts[..., None] * self.measure).sum(1)  # (B, q)
        self.measure_width = self.measure.shape[-1]
        centre, priors = (part.flatten(1) for part in design.expected(node, problems.parents))
        bend = priors.new_full((len(node), 1), design.prior.link)
        own = design.own_precision.flatten().expand(len(node), -1)
        penalty = torch.cat([design.measure_precision[node], bend, own, priors], 1)
        self.penalty = torch.nn.functional.pad(penalty, (1, 0))  # none on the intercept
        self.centre = torch.nn.functional.pad(centre, (design.head, 0))
        self.head = design.bend + 1
        self.mean: Tensor | None = None  # x̂ at the rows if they are cells (`cells`), (B, n)
        self.offset = None
        if design.offset is not None:  # on the scale of v̂, in units of s_i counts
            self.offset = (design.offset / self.value[:, 1:2]).to(design.columns)

    @cached_property
    def x(self) -> Tensor:
        """The rows' own columns and the parents' columns, (B, WIDTH · (m + k), n); 0 for padding."""
        return columns_of(self.columns, self.parents)

    @cached_property
    def own(self) -> Tensor:
        """x̂ at the rows, (B, n)."""
        return self.mean if self.mean is not None else self.value.gather(1, self.level).to(self.columns)

    def index(self, theta: Tensor) -> Tensor:
        """Σ f_k at the rows, (B, n)."""
        first = WIDTH * self.outside
        return torch.bmm(theta[:, None, self.head + first :].to(self.x), self.x[:, first:]).squeeze(1)

    def beside(self, theta: Tensor) -> Tensor | float:
        """h(z) at the rows, (B, n); 0 without covariates."""
        last = WIDTH * self.outside
        if not last:
            return 0.0
        return torch.bmm(theta[:, None, self.head : self.head + last].to(self.x), self.x[:, :last]).squeeze(1)

    def bent(self, theta: Tensor) -> tuple[Tensor, ...]:
        """η at the rows and the derivatives of `bent`, each (B, n)."""
        index = self.index(theta)
        value, *derivatives = bent(index, theta[:, self.head - 1, None].to(index))
        eta = value + theta[:, :1].to(index) + self.beside(theta)
        return (eta if self.offset is None else eta + self.offset), *derivatives

    def take(self, kept: Tensor) -> "BatchDesign":
        """The design of some problems, by number."""
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
        """C(v)ᵀγ on the levels, (B, V) double; −∞ for levels that a node lacks."""
        shape = (self.measure @ theta[:, 1 : 1 + self.measure_width, None]).squeeze(-1)
        return shape.masked_fill(~self.exists, -torch.inf)

    def weighted(self, values: Tensor) -> Tensor:
        """Row values times the rows' weights."""
        return values if self.weights is None else values * self.weights

    def bounds(self, log_weights: Tensor) -> tuple[Tensor, Tensor]:
        """η below which only the lowest level remains, and above which only the highest, (B, 1) each; ±∞ for one level.

        Args:
            log_weights: the levels' log weights, (B, V).
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
        """The sums over the rows, given the moments at the rows.

        Args:
            eta: on the grid, (B, n).
            beyond: distance of η below or above the grid, (B, n).
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
        products = self._products(own, along, slopes, curvature)
        low, high = (self.value.gather(1, end).to(self.own) for end in self.ends())
        # Beyond the grid A increases with the one remaining level; that is subtracted before large numbers are added.
        apart = self.own - torch.where(beyond > 0, high, low)
        index = self.weighted(self.own * eta + apart * beyond).sum(1, dtype=torch.float64)
        bending = torch.bmm(own, torch.stack([along, along.square()], 2)).double()
        return AtRows(slopes, curvature, index, own.sum(2, dtype=torch.float64), bending, products)

    def _products(self, own: Tensor, along: Tensor, slopes: Tensor, curvature: Tensor) -> Tensor:
        """`AtRows.products`."""
        first = WIDTH * self.outside
        x = self.x[:, first:]
        of_parents = torch.bmm(torch.cat([slopes, x * curvature[:, None]], 1), x.mT).double()
        if not first:
            return of_parents
        z = self.x[:, :first]
        level = torch.cat([own, (own[:, 1] * along)[:, None], z * own[:, 1:2]], 1)
        of_rows = torch.bmm(level, z.mT).double()
        between = torch.bmm(z * slopes[:, 1:2], x.mT).double()
        size = slopes.shape[1]
        left = torch.cat([of_rows, between.mT], 1)
        return torch.cat([left, torch.cat([of_parents[:, :size], between, of_parents[:, size:]], 1)], 2)

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
