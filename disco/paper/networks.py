"""The two networks of DISCO, with all folds in one batch.

Both are multilayer perceptrons (MLPs) on rank features (paper, *Network architecture*): hidden layers of equal
width, SiLU, no normalisation, no dropout. The joint network maps (x, σ) to log concrete-score entries,
(nodes, 2) for the neighbours x_j − 1 and x_j + 1. The projection network also receives the remaining set R and maps
(x_R, R, σ) to a log correction of a positive baseline (paper, *Score-Entropy Training*).

With an adjustment, both also receive its c numbers at the row: covariates and exposure. These are never corrupted and
never removed, so the scores are those of the counts' conditional law given them.

The first axis of every parameter and buffer is the fold, so folds never mix, and dropping or reading one is indexing.
Axes: F folds, n rows, d nodes, c covariates, H width.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from disco.paper.ranks import FoldRanks
from disco.paper.settings import Settings

_STD_FLOOR = 1e-4
_LEAST_RESIDUAL = 0.05  # smallest standard deviation given the adjustment, as a share of the feature's
DOWN, UP = 0, 1  # the last axis of every log-ratio tensor


def stream(device: torch.device | str, *key: int) -> torch.Generator:
    """A separate random stream for each key, such as (seed, stage, fold, epoch)."""
    state = np.random.SeedSequence(key).generate_state(1, np.uint64)[0]
    return torch.Generator(device=device).manual_seed(int(state >> np.uint64(1)))


class RankFeatures(nn.Module):
    """Value features [x / K, log(1 + x) / log(1 + K)], standardised with the moments of the training split.

    With covariates z, the mean is the least-squares fit, mean + z slopes. So a covariate's effects on two nodes do not
    correlate their features, which a briefly trained network would mistake for an effect.
    """

    top: Tensor
    mean: Tensor
    std: Tensor
    slopes: Tensor

    def __init__(self, top: Tensor, mean: Tensor, std: Tensor, slopes: Tensor) -> None:
        super().__init__()
        self.register_buffer("top", top)  # (F,)
        self.register_buffer("mean", mean)  # (F, 1, 2 d)
        self.register_buffer("std", std)  # (F, 1, 2 d)
        self.register_buffer("slopes", slopes, persistent=slopes.shape[1] > 0)  # (F, c, 2 d)

    @classmethod
    def fitted(cls, folds: Sequence[FoldRanks]) -> "RankFeatures":
        """The features of each fold, standardised on its score-training split."""
        moments = []
        for fold in folds:
            raw = _raw_features(torch.as_tensor(fold.train, dtype=torch.float64)[None], torch.tensor([fold.top]))
            inputs = torch.as_tensor(fold.inputs.covariates, dtype=torch.float64)
            mean, std = raw.mean(1, keepdim=True), raw.std(1, correction=0, keepdim=True)
            slopes = torch.zeros(1, inputs.shape[1], raw.shape[2])
            if inputs.shape[1]:
                centre = inputs.mean(0)
                slopes = torch.linalg.lstsq((inputs - centre)[None], raw - mean, rcond=1e-6, driver="gelsd").solution
                mean, residual = mean - centre @ slopes, raw - inputs @ slopes
                std = torch.maximum(residual.std(1, correction=0, keepdim=True), _LEAST_RESIDUAL * std)
            moments.append((mean, std, slopes))
        mean, std, slopes = (torch.cat(of_folds).float() for of_folds in zip(*moments, strict=True))
        return cls(torch.tensor([float(fold.top) for fold in folds]), mean, std.clamp_min(_STD_FLOOR), slopes)

    def forward(self, ranks: Tensor, covariates: Tensor) -> Tensor:
        """Ranks (F, n, d) and covariates (F, n, c) → features (F, n, 2 d)."""
        mean = torch.baddbmm(self.mean, covariates, self.slopes) if covariates.shape[-1] else self.mean
        return (_raw_features(ranks, self.top) - mean) / self.std

    def change(self, first: Tensor, second: Tensor, node: int) -> Tensor:
        """The change of one node's two features between ranks `first` and `second`, both (F, n) → (F, n, 2)."""
        nodes = self.mean.shape[-1] // 2
        difference = _raw_features(second[..., None], self.top) - _raw_features(first[..., None], self.top)
        return difference / self.std[..., [node, nodes + node]]


def _raw_features(ranks: Tensor, top: Tensor) -> Tensor:
    bound = top.clamp_min(1)[:, None, None]
    return torch.cat([ranks / bound, torch.log1p(ranks) / torch.log1p(bound)], dim=-1)


class FoldedMLP(nn.Module):
    """One MLP per fold, evaluated in one batch."""

    def __init__(self, folds: int, inputs: int, outputs: int, settings: Settings) -> None:
        super().__init__()
        sizes = [inputs, *[settings.width] * settings.hidden_layers, outputs]
        pairs = list(zip(sizes[:-1], sizes[1:], strict=True))
        self.weights = nn.ParameterList([nn.Parameter(torch.zeros(folds, fan_in, out)) for fan_in, out in pairs])
        self.biases = nn.ParameterList([nn.Parameter(torch.zeros(folds, 1, out)) for _, out in pairs])

    @torch.no_grad()
    def initialise(self, seed: int, key: int, covariate_count: int, covariate_key: int) -> "FoldedMLP":
        """Draw weights and biases uniformly in ±1/√inputs; fold f uses the stream (seed, key, f).

        The first `covariate_count` inputs are not counted in the bound and have their own stream, (seed, covariate_key,
        f), so that all other weights do not depend on the adjustment.
        """
        for fold in range(self.weights[0].shape[0]):
            generator, of_covariates = stream("cpu", seed, key, fold), stream("cpu", seed, covariate_key, fold)
            for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
                first = covariate_count if number == 0 else 0
                bound = 1 / math.sqrt(weight.shape[1] - first)
                weight[fold, first:].uniform_(-bound, bound, generator=generator)
                weight[fold, :first].uniform_(-bound, bound, generator=of_covariates)
                bias[fold].uniform_(-bound, bound, generator=generator)
        return self

    def hidden(self, first: Tensor) -> Tensor:
        """From the first layer's pre-activation to the last hidden activation, both (F, n, H)."""
        value, middle = nn.functional.silu(first), range(1, len(self.weights) - 1)
        return nn.functional.silu(self._layers(value, middle)) if middle else value

    def forward(self, inputs: Tensor) -> Tensor:
        """Inputs (F, n, inputs) → outputs (F, n, outputs)."""
        return self._layers(inputs, range(len(self.weights)))

    def _layers(self, value: Tensor, numbers: range) -> Tensor:
        weights, biases = ([parameters[number] for number in numbers] for parameters in (self.weights, self.biases))
        if value.is_cuda:
            return _chain(torch.baddbmm, value, weights, biases)
        # On a CPU the product of one fold uses all cores; three folds in a batch divide unevenly among two cores.
        of_folds = [zip(*(layer.unbind() for layer in parameters), strict=True) for parameters in (weights, biases)]
        return torch.stack([_chain(torch.addmm, *fold) for fold in zip(value.unbind(), *of_folds, strict=True)])


def _chain(product: Callable, value: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Tensor:
    for index, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        value = product(bias, nn.functional.silu(value) if index else value, weight)
    return value


class JointNetwork(nn.Module):
    """Log concrete score of the noise-corrupted joint distribution.

    `skip` is a linear map of the inputs, added to the output of the hidden layers; None without a skip connection. In
    a GLM DAG most of a log ratio is linear in the features, so the hidden layers need to learn only the rest.
    """

    skip: nn.Parameter | None

    def __init__(self, features: RankFeatures, covariate_count: int, settings: Settings) -> None:
        super().__init__()
        folds, nodes = features.mean.shape[0], features.mean.shape[-1] // 2
        inputs = covariate_count + 2 * nodes + 1
        self.features = features
        self.mlp = FoldedMLP(folds, inputs, 2 * nodes, settings)
        skip = nn.Parameter(torch.zeros(folds, inputs, 2 * nodes)) if settings.skip_connection else None
        self.register_parameter("skip", skip)

    def forward(self, ranks: Tensor, covariates: Tensor, log_sigma: Tensor) -> Tensor:
        """Ranks (F, n, d), covariates (F, n, c) and log σ (F, n) → log ratios (F, n, d, 2)."""
        inputs = torch.cat([covariates, self.features(ranks, covariates), log_sigma[..., None]], dim=-1)
        out = self.mlp(inputs) if self.skip is None else torch.baddbmm(self.mlp(inputs), inputs, self.skip)
        return out.unflatten(-1, (-1, 2))


class ProjectionNetwork(nn.Module):
    """Log correction from the baseline to the concrete score of the R-marginal.

    `fill` is one training observation per fold; its values replace removed coordinates in the baseline.
    """

    fill: Tensor

    def __init__(self, features: RankFeatures, fill: Tensor, covariate_count: int, settings: Settings) -> None:
        super().__init__()
        folds, nodes = features.mean.shape[0], features.mean.shape[-1] // 2
        self.features = features
        self.register_buffer("fill", fill)  # (F, d)
        self.mlp = FoldedMLP(folds, covariate_count + 3 * nodes + 1, 2 * nodes, settings)

    def forward(self, ranks: Tensor, mask: Tensor, covariates: Tensor, log_sigma: Tensor) -> Tensor:
        """Ranks, mask of R as 0 and 1 (F, n, d), covariates (F, n, c), log σ (F, n) → log corrections (F, n, d, 2)."""
        masked = self.features(ranks, covariates) * mask.repeat(1, 1, 2)
        return self.mlp(torch.cat([covariates, masked, mask, log_sigma[..., None]], dim=-1)).unflatten(-1, (-1, 2))

    def filled(self, ranks: Tensor, mask: Tensor) -> Tensor:
        """The ranks, with removed coordinates replaced by the fill, (F, n, d)."""
        return torch.where(mask > 0, ranks, self.fill[:, None, :])


class Networks(NamedTuple):
    """The networks of a fit; a projection network only if its settings ask for one."""

    joint: JointNetwork
    projection: ProjectionNetwork | None

    @property
    def named(self) -> dict[str, JointNetwork | ProjectionNetwork]:
        """The networks that exist, by name."""
        return {name: network for name, network in self._asdict().items() if network is not None}


def new_networks(folds: Sequence[FoldRanks], settings: Settings) -> Networks:
    """Newly initialised networks. Those of fold f depend only on the seed, f, its ranks and the architecture."""
    covariate_count = folds[0].inputs.covariates.shape[1]
    joint = JointNetwork(RankFeatures.fitted(folds), covariate_count, settings)
    joint.mlp.initialise(settings.seed, 10, covariate_count, 13)
    if "projection" not in settings.networks:
        return Networks(joint, None)
    rows = [
        int(np.random.default_rng([settings.seed, 12, f]).integers(len(fold.train))) for f, fold in enumerate(folds)
    ]
    fill = torch.as_tensor(np.stack([fold.train[row] for fold, row in zip(folds, rows, strict=True)]))
    projection = ProjectionNetwork(RankFeatures.fitted(folds), fill.float(), covariate_count, settings)
    projection.mlp.initialise(settings.seed, 11, covariate_count, 14)
    return Networks(joint, projection)
