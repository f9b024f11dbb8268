"""Networks that predict the noise in a row: DiffAN's joint network, and the projection network of DISCO-Cont.

Both receive the noise level as one more input, the logarithm of its standard deviation. DiffAN's paper uses the step
number instead, whose large values would outweigh the row's own. Weights and dropout come from a given generator, so
that a fit does not depend on other random draws of the program.
"""

import torch
from torch import Tensor, nn

from disco.paper.continuous.noise import deviation


class NoiseNetwork(nn.Module):
    """ε_θ(x_t, t): layers of s, b, b and s hidden units, s = max(128, 3 d) and b = max(1024, 5 d), with leaky ReLU.

    The first two are normalised, and a fifth of the first is dropped in training.

    Args:
        generator: for the weights and dropout, on the CPU.
        width: b, if smaller than DiffAN's.
        first_norm: whether the first hidden layer is normalised, which loses a row's distance from the centre.
    """

    def __init__(
        self, nodes: int, generator: torch.Generator, width: int | None = None, first_norm: bool = True
    ) -> None:
        super().__init__()
        big = max(1024, 5 * nodes) if width is None else width
        small = min(max(128, 3 * nodes), big)
        self.layers = nn.Sequential(
            nn.Linear(nodes + 1, small),
            nn.LayerNorm(small) if first_norm else nn.Identity(),
            nn.LeakyReLU(),
            Dropout(0.2, generator),
            nn.Linear(small, big),
            nn.LayerNorm(big),
            nn.LeakyReLU(),
            nn.Linear(big, big),
            nn.LeakyReLU(),
            nn.Linear(big, small),
            nn.LeakyReLU(),
            nn.Linear(small, nodes),
        )
        _initialise(self, generator)

    def forward(self, values: Tensor, t: Tensor) -> Tensor:
        """The noise in corrupted rows, (rows, nodes) and (rows,) → (rows, nodes)."""
        return self.layers(torch.cat([values, _level(t)], dim=1))


class MaskedNoiseNetwork(nn.Module):
    """The noise in the remaining columns R, from these columns alone: three hidden layers.

    Its activations are smooth, since it is differentiated, unlike the joint network.
    """

    def __init__(self, nodes: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2 * nodes + 1, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, nodes),
        )
        _initialise(self, generator)

    def forward(self, values: Tensor, mask: Tensor, t: Tensor) -> Tensor:
        """(rows, nodes), 1 for the columns of R and 0 for the others (rows, nodes), (rows,) → (rows, nodes)."""
        return self.layers(torch.cat([values * mask, mask, _level(t)], dim=1))


class Dropout(nn.Module):
    """In training, sets a random share of its input to 0 and rescales the rest."""

    def __init__(self, share: float, generator: torch.Generator) -> None:
        super().__init__()
        self.share, self.generator = share, generator

    def forward(self, values: Tensor) -> Tensor:
        if not self.training:
            return values
        is_kept = torch.rand(values.shape, generator=self.generator) >= self.share
        return values * is_kept.to(values) / (1 - self.share)


@torch.no_grad()
def _initialise(network: nn.Module, generator: torch.Generator) -> None:
    """Weights and biases uniform within ± 1 / √inputs, as in torch, but from our own generator."""
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            for values in (layer.weight, layer.bias):
                values.copy_((2 * torch.rand(values.shape, generator=generator) - 1) / layer.in_features**0.5)


def _level(t: Tensor) -> Tensor:
    return 1.0 + deviation(t).log()[:, None]
