"""Training of both networks, with Adam at a constant learning rate.

The joint network learns the noise, E‖ε − ε_θ(x_t, t)‖². The projection network learns, by squared error, the fixed
joint network's predictions for the columns R that remain, from these columns alone. Its minimiser is the conditional
mean E[ε_θ(x_t, t)_R | x_t,R], the noise prediction of the marginal of R.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from disco.paper.adam import Adam
from disco.paper.continuous.noise import Times, corrupted
from disco.paper.continuous.noise_networks import MaskedNoiseNetwork, NoiseNetwork
from disco.progress import Reporter

_EVERY = 10  # epochs between two validations
_FULL = 0.2  # share of rows whose mask is replaced by all columns (paper, Mask Distribution)


@dataclass(frozen=True)
class TrainingLength:
    """The length and the data of a network's training.

    Attributes:
        epochs: largest number of passes through the training rows.
        batch: rows per update; the last batch of an epoch has the rest.
        holdout: the share of rows for validation; 0 trains on all rows, to the last epoch.
        least: the earliest validated epoch; the last epoch always is.
        patience: number of epochs without a better validation loss after which training stops.
        halved: whether layers multiply in bfloat16, three times as fast on processors that support it.
    """

    epochs: int
    batch: int
    rate: float = 1e-3
    holdout: float = 0.0
    least: int = 300
    patience: int = 300
    halved: bool = False


def train_joint(
    network: NoiseNetwork,
    values: Tensor,
    times: Times,
    schedule: TrainingLength,
    generator: torch.Generator,
    reporter: Reporter,
    *,
    paired: bool = False,
) -> int:
    """Train the joint network; returns the epoch of its final state, the best validated, or the last if none is.

    Args:
        values: standardised rows, (rows, nodes).
        times: draws t.
        generator: for all draws, on the CPU.
        paired: whether every row is used with ε and with −ε.
    """

    def loss(rows: Tensor) -> Tensor:
        t = times(len(rows), generator).to(rows)
        noise = _normal(rows, generator)
        if paired:
            rows, t, noise = torch.cat([rows, rows]), torch.cat([t, t]), torch.cat([noise, -noise])
        return (network(corrupted(rows, noise, t), t) - noise).square().mean()

    shuffled = values[torch.randperm(len(values), generator=generator).to(values.device)]
    held = min(max(round(schedule.holdout * len(values)), 1), len(values) - 1) if schedule.holdout else 0
    validation = _validation(network, shuffled[:held], times, generator) if held else None
    return _train(network, shuffled[held:], loss, validation, schedule, generator, reporter, "joint")


def train_projection(
    network: MaskedNoiseNetwork,
    joint: NoiseNetwork,
    values: Tensor,
    times: Times,
    schedule: TrainingLength,
    generator: torch.Generator,
    reporter: Reporter,
) -> None:
    """Train the projection network on the fixed joint network's predictions; arguments as in `train_joint`."""
    joint.eval()

    def loss(rows: Tensor) -> Tensor:
        t = times(len(rows), generator).to(rows)
        noisy = corrupted(rows, _normal(rows, generator), t)
        mask = masks(len(rows), rows.shape[1], generator).to(rows)
        with torch.no_grad():
            target = joint(noisy, t)
        return ((network(noisy, mask, t) - target).square() * mask).sum() / mask.sum()

    _train(network, values, loss, None, schedule, generator, reporter, "projection")


def masks(rows: int, nodes: int, generator: torch.Generator) -> Tensor:
    """A random set of remaining columns per row, 1 and 0, (rows, nodes).

    Its size is uniform on 2 … d, and a fifth of the rows has all columns (paper, *Mask Distribution*).
    """
    sizes = torch.randint(min(2, nodes), nodes + 1, (rows, 1), generator=generator)
    sizes[torch.rand(rows, generator=generator) < _FULL] = nodes
    ranks = torch.rand(rows, nodes, generator=generator).argsort(dim=1).argsort(dim=1)
    return (ranks < sizes).float()


def _train(
    network: nn.Module,
    values: Tensor,
    loss: Callable[[Tensor], Tensor],
    validation: Callable[[], float] | None,
    schedule: TrainingLength,
    generator: torch.Generator,
    reporter: Reporter,
    stage: str,
) -> int:
    """Run the epochs; the network ends in evaluation mode in its best state, whose epoch is returned."""
    optimiser = Adam(network.parameters(), schedule.rate)
    best, state, lowest = schedule.epochs, None, float("inf")
    for epoch in range(1, schedule.epochs + 1):
        network.train()
        order = torch.randperm(len(values), generator=generator).to(values.device)
        for rows in order.split(schedule.batch):
            network.zero_grad()
            with torch.autocast(values.device.type, torch.bfloat16, enabled=schedule.halved):
                error = loss(values[rows])
            error.backward()
            optimiser.step()
            reporter.check()
        reporter.step(stage, epoch, schedule.epochs, unit="epoch")
        is_last = epoch == schedule.epochs
        if validation is None or not (is_last or (epoch >= schedule.least and epoch % _EVERY == 0)):
            continue
        network.eval()
        loss_value = validation()
        if state is None or loss_value < lowest:
            best, state, lowest = epoch, copy.deepcopy(network.state_dict()), loss_value
        elif epoch - best >= schedule.patience:
            break
    if state is not None:
        network.load_state_dict(state)
    network.eval()
    return best


def _validation(network: NoiseNetwork, values: Tensor, times: Times, generator: torch.Generator) -> Callable[[], float]:
    """The loss on held-out rows, always with the same noise."""
    t = times(len(values), generator).to(values)
    noise = _normal(values, generator)
    noisy = corrupted(values, noise, t)

    @torch.no_grad()
    def loss() -> float:
        return float((network(noisy, t) - noise).square().mean())

    return loss


def _normal(like: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(like.shape, generator=generator).to(like)
