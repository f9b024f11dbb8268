"""Training: what is kept, with few epochs too, and what the projection learns."""

import pytest
import torch

from disco.paper.continuous.noise import LAST, deviation, log_kept, uniform
from disco.paper.continuous.noise_networks import MaskedNoiseNetwork, NoiseNetwork
from disco.paper.continuous.noise_training import TrainingLength, masks, train_joint, train_projection
from disco.progress import Reporter

QUIET = Reporter(None, {"joint": 1.0, "projection": 1.0}, "")


def rows(count: int = 400) -> torch.Tensor:
    return torch.randn(count, 3, generator=torch.Generator().manual_seed(1))


def trained(schedule: TrainingLength, seed: int = 0, count: int = 400, **more) -> tuple[NoiseNetwork, int]:
    generator = torch.Generator().manual_seed(seed)
    network = NoiseNetwork(3, generator, 16)
    return network, train_joint(network, rows(count), uniform(0, LAST), schedule, generator, QUIET, **more)


@pytest.mark.parametrize("epochs", [1, 25])
@pytest.mark.parametrize("least", [1, 300])
def test_early_stopping_keeps_a_state_with_few_epochs(epochs, least):
    network, kept = trained(TrainingLength(epochs, 64, holdout=0.2, least=least, patience=5))
    assert 1 <= kept <= epochs and not network.training
    if least == 300:
        assert kept == epochs


def test_the_best_validated_state_is_kept_and_patience_ends_training(monkeypatch):
    """Validation losses 5, 3, 4, 4, … at epochs 10, 20, 30, …: the state of epoch 20 is kept, after 20 more epochs."""
    losses, states = iter([5.0, 3.0, 4.0, 4.0]), []
    seen = []

    def measured(network, *arguments):
        def loss() -> float:
            states.append({name: value.clone() for name, value in network.state_dict().items()})
            return next(losses)

        return loss

    monkeypatch.setattr("disco.paper.continuous.noise_training._validation", measured)
    generator = torch.Generator().manual_seed(0)
    network = NoiseNetwork(3, generator, 16)
    reporter = Reporter(lambda event: seen.append(event.done), {"joint": 1.0}, "")
    schedule = TrainingLength(500, 64, holdout=0.2, least=10, patience=20)
    assert train_joint(network, rows(), uniform(0, LAST), schedule, generator, reporter) == 20 and max(seen) == 40
    assert all(torch.equal(value, states[1][name]) for name, value in network.state_dict().items())


def test_every_training_row_is_used_with_a_last_partial_batch():
    batches = []

    class Watched(NoiseNetwork):
        def forward(self, values, t):
            batches.append(len(values))
            return super().forward(values, t)

    generator = torch.Generator().manual_seed(0)
    schedule = TrainingLength(1, 64, holdout=0.25)
    train_joint(Watched(3, generator, 16), rows(400), uniform(0, LAST), schedule, generator, QUIET)
    assert batches == [64, 64, 64, 64, 44, 100]  # five batches of the 300 rows, and the held-out ones


def test_a_fit_depends_on_its_seed_alone():
    one, _ = trained(TrainingLength(3, 64))
    torch.manual_seed(123)
    other, _ = trained(TrainingLength(3, 64))
    third, _ = trained(TrainingLength(3, 64), seed=1)
    weights = [network.layers[0].weight for network in (one, other, third)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_every_row_may_come_with_its_noise_and_the_opposite():
    seen = []

    class Watched(NoiseNetwork):
        def forward(self, values, t):
            seen.append((values, t))
            return super().forward(values, t)

    generator = torch.Generator().manual_seed(0)
    clean = rows(40)
    train_joint(
        Watched(3, generator, 16), clean, uniform(0.2, 0.9), TrainingLength(1, 40), generator, QUIET, paired=True
    )
    (values, t), kept = seen[0], log_kept(seen[0][1]).exp()[:40, None]
    assert torch.equal(t[:40], t[40:]) and len(values) == 80
    middle = (values[:40] + values[40:]) / 2 / kept.sqrt()
    assert torch.allclose(middle.sort(dim=0)[0], clean.sort(dim=0)[0], atol=1e-5)


def test_masks_hold_two_columns_or_more_and_often_all():
    found = masks(20_000, 4, torch.Generator().manual_seed(0)).sum(dim=1)
    assert set(found.tolist()) == {2.0, 3.0, 4.0} and abs(float((found == 4).float().mean()) - (0.2 + 0.8 / 3)) < 0.015
    assert masks(5, 1, torch.Generator()).tolist() == [[1.0]] * 5


class Exact(torch.nn.Module):
    """The exact noise prediction of a bivariate normal with unit variances and correlation r."""

    def __init__(self, r: float) -> None:
        super().__init__()
        self.covariance = torch.tensor([[1.0, r], [r, 1.0]])

    def forward(self, values, t):
        kept, sd = log_kept(t).exp()[:, None, None], deviation(t)[:, None]
        noisy = kept * self.covariance + sd[:, :, None] ** 2 * torch.eye(2)
        return sd * torch.linalg.solve(noisy, values[:, :, None])[:, :, 0]


def test_the_projection_learns_the_marginals_noise():
    """The marginal of a column of a bivariate normal is standard normal, so its noise is σ x at every noise level."""
    generator = torch.Generator().manual_seed(0)
    base = torch.randn(2000, 2, generator=generator)
    values = torch.stack([base[:, 0], 0.8 * base[:, 0] + 0.6 * base[:, 1]], dim=1)
    network = MaskedNoiseNetwork(2, 32, generator)

    def alone(count: int, *_: object) -> torch.Tensor:
        return torch.eye(2)[torch.arange(count) % 2]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("disco.paper.continuous.noise_training.masks", alone)
        schedule = TrainingLength(60, 200, rate=3e-3)
        train_projection(network, Exact(0.8), values, uniform(0.4, 0.8), schedule, generator, QUIET)
    points = torch.linspace(-1.5, 1.5, 7)
    t = torch.full((7,), 0.6)
    rows_, mask = torch.stack([points, torch.full((7,), 9.0)], dim=1), torch.tensor([1.0, 0.0]).expand(7, 2)
    found = network(rows_, mask, t)[:, 0]
    assert torch.allclose(found, deviation(t) * points, atol=0.08)
    joint = Exact(0.8)(torch.stack([points, points], dim=1), t)[:, 0]
    assert (joint - deviation(t) * points).abs().max() > 0.2  # the joint prediction is another
