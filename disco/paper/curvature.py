"""Curvature of log p_R at almost no noise, from log concrete-score entries, and the scores computed from it.

With ℓ_{j,R}(x; σ) the log concrete-score entry for raising x_j by one (paper, Eq. estimated-curvatures),

    H_{ij,R}(x; σ) = ℓ_{j,R}(x + e_i; σ) − ℓ_{j,R}(x; σ).

The conditional curvature score (CCS) averages H_jj over the noise levels and then computes the variance within levels
of x_j (Eq. cond-var-score). The constant-curvature criterion uses the plain variance instead. The off-diagonal
curvature score (OCS) averages |H_ij| (Eq. empirical-ocs). A shift past K stays at K. The `clipped` boundary uses every
row, `admissible` only rows whose shifts stay inside the grid (*Curvature Estimation*).

With an adjustment, ℓ and the curvature are those of the conditional law given the row's covariates and exposure. A
sink's curvature still depends on its own value alone: covariates and exposure shift its canonical parameter, as its
parents do.

Axes: F folds, S noise levels, n held-out rows, d nodes, c covariates.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from disco.errors import InputError
from disco.paper.networks import UP, FoldedMLP, JointNetwork, ProjectionNetwork
from disco.paper.plan import most_evaluated
from disco.paper.ranks import FoldRanks
from disco.paper.settings import CHOICES, Settings
from disco.table.cells import dense_ranks

BOUNDARIES, CRITERIA = CHOICES["boundary"], CHOICES["criterion"]
PAIR_SCORES = ("ocs", "curvature")
ROWS_AT_ONCE = {"cpu": 1 << 13, "cuda": 1 << 17}  # rows per fold in one call of the hidden layers
OUT_OF_MEMORY = (
    "The GPU ran out of memory: end other programs that use it, use the device cpu, or a smaller width or batch_size. "
    "A fit resumes after its last checkpoint."
)


class ConcreteScores(Protocol):
    """Upward log concrete-score entries of R-marginals: fitted networks, or exact ones in tests."""

    top: Tensor  # K of each fold, (F,)

    def entries(self, rows: "States", remaining: Sequence[int]) -> Tensor:
        """ℓ_{j,R}(x) of every j ∈ R, (F, S, n, |R|)."""

    def entries_after(self, rows: "States", remaining: Sequence[int], node: int) -> Tensor:
        """ℓ_{j,R}(x + e_node) of every j ∈ R, (F, S, n, |R|)."""

    def own_entries_after(self, rows: "States", remaining: Sequence[int], nodes: Sequence[int]) -> Tensor:
        """ℓ_{j,R}(x + e_j) of each j in `nodes`, (F, S, n, len(nodes))."""


class States(NamedTuple):
    """Rows at which curvature is evaluated: `ranks` (F, n, d) float, `covariates` (F, n, c)."""

    ranks: Tensor
    covariates: Tensor


@dataclass(frozen=True)
class HeldOut:
    """The evaluation rows of every fold, padded to one length.

    Attributes:
        ranks: (F, n, d) float.
        covariates: covariates and exposure at those rows, (F, n, c).
        valid: mask of rows that are not padding, (F, n).
        level: each entry's number among its column's distinct held-out ranks, (F, n, d), on the CPU.
        rows: row numbers among the rows divided into folds, (F, n); padding −1.
    """

    ranks: Tensor
    covariates: Tensor
    valid: Tensor
    level: Tensor
    rows: np.ndarray

    @classmethod
    def of(cls, folds: Sequence[FoldRanks], settings: Settings, device: torch.device | str = "cpu") -> "HeldOut":
        """The held-out rows, or a random sample of `plan.most_evaluated` of them in each fold."""
        nodes, inputs = folds[0].train.shape[1], folds[0].inputs.covariates.shape[1]
        limit, chosen = most_evaluated(settings, nodes), []
        for number, fold in enumerate(folds):
            rows = np.random.default_rng([settings.seed, 3, number]).permutation(len(fold.rows))
            chosen.append(np.sort(rows[:limit]))
        shape = (len(folds), max(len(sample) for sample in chosen))
        ranks, level = np.zeros((*shape, nodes), np.float32), np.zeros((*shape, nodes), np.int64)
        covariates, rows = np.zeros((*shape, inputs), np.float32), np.full(shape, -1)
        for number, (fold, sample) in enumerate(zip(folds, chosen, strict=True)):
            at = number, slice(len(sample))
            ranks[at], level[at] = fold.held_out[sample], dense_ranks(fold.held_out[sample])
            covariates[at], rows[at] = fold.held_out_inputs.covariates[sample], fold.rows[sample]
        at_ranks, at_inputs, valid = (torch.as_tensor(values).to(device) for values in (ranks, covariates, rows >= 0))
        return cls(at_ranks, at_inputs, valid, torch.as_tensor(level), rows)

    def at(self, rows: slice) -> States:
        """Some of the rows of every fold."""
        return States(self.ranks[:, rows], self.covariates[:, rows])


class NetworkScores:
    """`ConcreteScores` from fitted networks; only the effect of a shift is recomputed.

    Without a projection network, only those of all nodes.

    Raising x_j changes the first layer's pre-activation only through x_j's two features, so the first layer is computed
    once per remaining set. Only one output column is needed, so the last layer is a dot product.
    """

    def __init__(self, joint: JointNetwork, projection: ProjectionNetwork | None, settings: Settings) -> None:
        self.joint, self.projection, self.clip = joint, projection, settings.log_clip
        self.top = joint.features.top
        self.offset = joint.mlp.weights[0].shape[1] - joint.features.mean.shape[-1] - 1  # c
        levels = np.geomspace(settings.noise_min, settings.noise_max, settings.noise_levels)
        self.log_sigma = torch.tensor(np.log(levels), dtype=torch.float32, device=self.top.device)

    def _first(self, rows: States, remaining: Sequence[int]) -> "_First":
        """The outputs of the input layers without the noise level's terms; a shift changes them by a rank-1 term."""
        ranks, covariates = rows
        joint, projection = self.joint, self.projection
        corrected = None
        if projection is None:
            assert len(remaining) == ranks.shape[-1]
            filled = ranks
        else:
            mask = torch.zeros(ranks.shape[-1], device=ranks.device)
            mask[list(remaining)] = 1.0
            mask = mask.expand_as(ranks)
            filled = projection.filled(ranks, mask)
            masked = torch.cat([covariates, joint.features(ranks, covariates) * mask.repeat(1, 1, 2), mask], dim=-1)
            corrected = torch.baddbmm(projection.mlp.biases[0], masked, projection.mlp.weights[0][:, :-1])
        inputs = torch.cat([covariates, joint.features(filled, covariates)], dim=-1)
        return _First(
            torch.baddbmm(joint.mlp.biases[0], inputs, joint.mlp.weights[0][:, :-1]),
            corrected,
            None if joint.skip is None else inputs @ joint.skip[:, :-1, UP::2],
        )

    def _shift(self, value: Tensor, weight: Tensor, ranks: Tensor, node: int) -> Tensor:
        """`value`, a linear function of the features, after raising one node by one level, unless it is at the top."""
        current, first, second = (ranks[..., node], self.offset + node, self.offset + ranks.shape[-1] + node)
        change = self.joint.features.change(current, torch.minimum(current + 1, self.top[:, None]), node)
        return torch.baddbmm(value, change, weight[:, [first, second]])

    def _hidden(self, mlp: FoldedMLP, first: Tensor) -> Tensor:
        """The last hidden activations at every noise level, (F, S, n, H)."""
        noise = self.log_sigma[:, None, None] * mlp.weights[0][:, None, -1:]
        activation = first[:, None] + noise
        return mlp.hidden(activation.flatten(1, 2)).unflatten(1, activation.shape[1:3])

    def _entries(self, first: "_First", nodes: Sequence[int]) -> Tensor:
        columns = [2 * node + UP for node in nodes]
        joint = self._read(self.joint.mlp, first.joint, columns)
        if first.linear is not None:
            joint = joint + first.linear[:, None, :, list(nodes)] + self._linear_noise(columns)
        if first.projection is None:
            return joint
        correction = self._read(self._correcting, first.projection, columns)
        return joint + correction.clamp(-self.clip, self.clip)

    def _read(self, mlp: FoldedMLP, first: Tensor, columns: list[int]) -> Tensor:
        hidden = self._hidden(mlp, first)
        out = torch.baddbmm(mlp.biases[-1][..., columns], hidden.flatten(1, 2), mlp.weights[-1][..., columns])
        return out.unflatten(1, hidden.shape[1:3])

    @property
    def _correcting(self) -> FoldedMLP:
        assert self.projection is not None
        return self.projection.mlp

    @property
    def _skip(self) -> Tensor:
        assert self.joint.skip is not None
        return self.joint.skip

    def _linear_noise(self, columns: list[int]) -> Tensor:
        return self.log_sigma[:, None, None] * self._skip[:, None, -1:, columns]

    def entries(self, rows: States, remaining: Sequence[int]) -> Tensor:
        """See `ConcreteScores`."""
        return self._entries(self._first(rows, remaining), remaining)

    def entries_after(self, rows: States, remaining: Sequence[int], node: int) -> Tensor:
        """See `ConcreteScores`."""
        ranks, first, joint = rows.ranks, self._first(rows, remaining), self.joint
        shifted = _First(
            self._shift(first.joint, joint.mlp.weights[0], ranks, node),
            None
            if first.projection is None
            else self._shift(first.projection, self._correcting.weights[0], ranks, node),
            None if first.linear is None else self._shift(first.linear, self._skip[..., UP::2], ranks, node),
        )
        return self._entries(shifted, remaining)

    def own_entries_after(self, rows: States, remaining: Sequence[int], nodes: Sequence[int]) -> Tensor:
        """See `ConcreteScores`."""
        ranks, first = rows.ranks, self._first(rows, remaining)
        at_once = ranks.shape[1] * len(self.log_sigma)
        group = max(1, ROWS_AT_ONCE[ranks.device.type] // at_once)
        out = []
        for at in range(0, len(nodes), group):
            block = nodes[at : at + group]
            out.append(self._diagonal(self.joint.mlp, first.joint, ranks, block))
            if first.projection is not None:
                out[-1] += self._diagonal(self._correcting, first.projection, ranks, block).clamp(-self.clip, self.clip)
        entries = torch.cat(out, dim=-1)
        return entries if first.linear is None else entries + self._diagonal_linear(first.linear, ranks, nodes)

    def _diagonal(self, mlp: FoldedMLP, first: Tensor, ranks: Tensor, nodes: Sequence[int]) -> Tensor:
        """The output of each node after a shift of the same node, (F, S, n, len(nodes)), in one pass."""
        shifted = torch.stack([self._shift(first, mlp.weights[0], ranks, node) for node in nodes], dim=1)
        hidden = self._hidden(mlp, shifted.flatten(1, 2)).unflatten(2, shifted.shape[1:3])  # (F, S, nodes, n, H)
        columns = [2 * node + UP for node in nodes]
        weight = mlp.weights[-1][..., columns].transpose(1, 2)[:, None, :, :, None]
        return (hidden @ weight).squeeze(-1).transpose(2, 3) + mlp.biases[-1][:, None, :, columns]

    def _diagonal_linear(self, linear: Tensor, ranks: Tensor, nodes: Sequence[int]) -> Tensor:
        shifted = [self._shift(linear[..., [node]], self._skip[..., [2 * node + UP]], ranks, node) for node in nodes]
        return torch.cat(shifted, dim=-1)[:, None] + self._linear_noise([2 * node + UP for node in nodes])


class _First(NamedTuple):
    """The outputs of the input layers at some rows.

    `joint` and `projection` are pre-activations of the first hidden layer, (F, n, H); `linear` is the skip connection's
    upward outputs, (F, n, d). None without that network or connection.
    """

    joint: Tensor
    projection: Tensor | None
    linear: Tensor | None


def by_parts(held_out: HeldOut, levels: int, evaluate: Callable[[slice], None]) -> None:
    """Evaluate slices of the held-out rows; a GPU that runs out of memory gets smaller ones from then on.

    InputError: its memory is too small for one row.
    """
    device, start = held_out.ranks.device.type, 0
    while start < held_out.ranks.shape[1]:
        size = max(1, ROWS_AT_ONCE[device] // levels)
        try:
            evaluate(slice(start, start + size))
            start += size
        except torch.OutOfMemoryError as error:
            if size == 1:
                raise InputError(OUT_OF_MEMORY) from error
            ROWS_AT_ONCE[device] //= 2


@contextmanager
def full_float32() -> Iterator[None]:
    """Switch off gradients and reduced precision: curvatures are small differences of nearly equal numbers."""
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_float32_matmul_precision(precision)


@full_float32()
def diagonal(
    scores: ConcreteScores, held_out: HeldOut, remaining: Sequence[int], nodes: Sequence[int], levels: int
) -> Tensor:
    """Ĥ_{j,R} of some nodes of R at every held-out row, averaged over the noise levels, (F, n, len(nodes))."""
    position = {node: index for index, node in enumerate(remaining)}
    indices = [position[node] for node in nodes]
    curvatures = list[Tensor]()

    def evaluate(chunk: slice) -> None:
        rows = held_out.at(chunk)
        unshifted = scores.entries(rows, remaining)[..., indices]
        curvatures.append((scores.own_entries_after(rows, remaining, nodes) - unshifted).mean(dim=1))

    by_parts(held_out, levels, evaluate)
    return torch.cat(curvatures, dim=1)


@full_float32()
def off_diagonal(scores: ConcreteScores, held_out: HeldOut, remaining: Sequence[int], node: int, levels: int) -> Tensor:
    """|Ĥ_{ij,R}| and Ĥ_{ij,R} for i = `node` and every j ∈ R at every held-out row, averaged over the noise levels.

    Shape (2, F, n, |R|). By the commuting-difference identity, one batch shifted in coordinate i suffices for all j.
    """
    curvatures = list[Tensor]()

    def evaluate(chunk: slice) -> None:
        rows = held_out.at(chunk)
        shifted, unshifted = scores.entries_after(rows, remaining, node), scores.entries(rows, remaining)
        change = shifted - unshifted
        curvatures.append(torch.stack([change.abs().mean(dim=1), change.mean(dim=1)]))

    by_parts(held_out, levels, evaluate)
    return torch.cat(curvatures, dim=2)


def counted(held_out: HeldOut, top: Tensor, nodes: Sequence[int], steps: int, boundary: str) -> Tensor:
    """Mask of rows used for each node's score, (F, n, len(nodes)): with `admissible`, those with x_j + steps ≤ K."""
    valid = held_out.valid[..., None].expand(-1, -1, len(nodes))
    if boundary == "clipped":
        return valid
    return valid & (held_out.ranks[..., list(nodes)] + steps <= top[:, None, None])


def conditional_variance(curvature: Tensor, level: Tensor, included: Tensor, min_rows: int) -> Tensor:
    """The CCS of every node (Eq. cond-var-score), (F, nodes); NaN if no level has `min_rows` = n_min ≥ 2 rows.

    Args:
        curvature: Ĥ_j at every row, (F, n, nodes).
        level: each row's level of x_j, (F, n, nodes), from 0.
        included: mask of the used rows, (F, n, nodes).
    """
    folds, rows, nodes = curvature.shape
    levels = int(level.max()) + 1
    offset = torch.arange(folds * nodes).reshape(folds, 1, nodes) * levels
    group = (level + offset)[included]
    values = curvature[included].double()
    size = folds * nodes * levels
    count = torch.zeros(size, dtype=torch.float64).index_add_(0, group, torch.ones_like(values))
    mean = torch.zeros_like(count).index_add_(0, group, values) / count.clamp_min(1)
    squares = torch.zeros_like(count).index_add_(0, group, (values - mean[group]).square())
    weight = torch.where(count >= min_rows, count, 0.0)
    weighted = weight * squares / (count - 1).clamp_min(1)
    return weighted.reshape(folds, nodes, levels).sum(-1) / weight.reshape(folds, nodes, levels).sum(-1)


def plain_variance(curvature: Tensor, included: Tensor) -> Tensor:
    """The constant-curvature criterion Var[Ĥ_j], the sample variance, (F, nodes); NaN with fewer than two rows."""
    return conditional_variance(curvature, torch.zeros_like(curvature, dtype=torch.int64), included, 2)


def sink_scores(
    curvature: Tensor, top: Tensor, held_out: HeldOut, remaining: Sequence[int], settings: Settings
) -> dict[tuple[str, str], np.ndarray]:
    """The score of every remaining node: (criterion, boundary) → (F, |R|) float64; NaN where unavailable.

    `curvature` is Ĥ_jj of every node of R at the held-out rows, (F, n, |R|), and `top` is K of each fold, (F,).
    """
    # Grouped on the CPU, so that a fit is reproducible to the last bit: a GPU sums groups in varying order.
    curvature = curvature.cpu()
    level = held_out.level[..., list(remaining)]
    result: dict[tuple[str, str], np.ndarray] = {}
    for boundary in BOUNDARIES:
        included = counted(held_out, top, remaining, 2, boundary).cpu()
        ccs = conditional_variance(curvature, level, included, settings.min_level_rows)
        result["ccs", boundary] = ccs.numpy()
        result["constant", boundary] = plain_variance(curvature, included).numpy()
    return result


def off_diagonal_scores(
    values: Tensor, top: Tensor, held_out: HeldOut, remaining: Sequence[int], node: int
) -> dict[tuple[str, str], np.ndarray]:
    """OCS_{j→i} of i = `node` and every other j ∈ R (Eq. empirical-ocs), and the mean of the signed curvature.

    `values` are |Ĥ_ij| and Ĥ_ij of every j ∈ R at the held-out rows, (2, F, n, |R|), and `top` is K of each fold, (F,).
    Returns ("ocs" or "curvature", boundary) → (F, |R|) float64, NaN at i itself and where no row is admissible.
    """
    values = values.double()
    index = list(remaining).index(node)
    result: dict[tuple[str, str], np.ndarray] = {}
    for boundary in BOUNDARIES:
        included = counted(held_out, top, remaining, 1, boundary)
        included = included & included[..., [index]]
        means = torch.where(included, values, 0.0).sum(dim=2) / included.sum(dim=1)
        means[..., index] = math.nan
        result |= {(kind, boundary): mean for kind, mean in zip(PAIR_SCORES, means.cpu().numpy(), strict=True)}
    return result
