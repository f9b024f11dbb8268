import copy
import math

import numpy as np
import pytest
import torch
from scipy.linalg import expm

from disco import DISCO
from disco.errors import InputError
from disco.paper.adam import Adam
from disco.paper.checkpoint import pack_training, unpack_training
from disco.paper.corruption import neighbour_mask
from disco.paper.losses import (
    Clean,
    ProjectionBatch,
    divided,
    draw_joint,
    draw_masks,
    draw_projection,
    epoch_batches,
    joint_losses,
    masked_losses,
    projection_losses,
    score_entropy,
    stacked,
)
from disco.paper.networks import new_networks
from disco.paper.plan import Plan
from disco.paper.ranks import fold_of_rows, fold_ranks
from disco.paper.settings import Settings
from disco.paper.training import (
    Training,
    TrainingRows,
    cosine,
    keep_folds,
    learning_rates,
    train_joint,
    train_projection,
)
from disco.paper.update import clip_gradients
from tests.exact import generator_matrix

SETTINGS = Settings.of(
    "paper", width=16, hidden_layers=2, batch_size=16, joint_epochs=6, projection_epochs=4, joint_schedule="epochs",
    projection_schedule="epochs", validation_start=2, validation_every=1, patience=1, monitor_every=1,
)  # fmt: skip # a table
PLAN = Plan.of(100, SETTINGS)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folds():
    rng = np.random.default_rng(0)
    counts = np.column_stack([rng.poisson(2, 100), rng.poisson(4, 100), rng.integers(0, 3, 100)])
    return fold_ranks(counts, fold_of_rows(100, 3, 0), SETTINGS)  # folds of 67, 67 and 66 training rows


def start(folds, settings=SETTINGS):
    joint, projection = new_networks(folds, settings)
    return Training.start(joint), Training.start(projection), TrainingRows(folds, Plan.of(100, settings), CPU)


def only(training: Training, fold: int) -> Training:
    """The same stage with only one fold."""
    for parameter in training.network.parameters():
        parameter.data = parameter.data[[fold]].clone()
    keep_folds(training.network, [fold])
    training.active = [fold]
    return training


def test_score_entropy_is_least_at_the_target_and_zero_there():
    target = torch.linspace(-3, 3, 13, dtype=torch.float64)
    guess = target.clone().requires_grad_()
    score_entropy(guess, target).sum().backward()
    assert torch.allclose(score_entropy(target, target), torch.zeros_like(target), atol=1e-12)
    assert torch.allclose(guess.grad, torch.zeros_like(target), atol=1e-12)
    assert (score_entropy(target + 0.3, target) > 0).all() and (score_entropy(target - 0.3, target) > 0).all()


def test_the_joint_loss_is_minimised_by_the_concrete_score():
    """Averaged over x_0 given x, the minimiser of the loss is p_σ(y)/p_σ(x) of an enumerated table."""
    table = np.random.default_rng(0).dirichlet(np.ones(16)).reshape(4, 4)
    sigma = 0.6
    kernel = expm(sigma * generator_matrix(3))
    noisy = kernel.T @ table @ kernel
    states = np.stack(np.meshgrid(range(4), range(4), indexing="ij"), -1).reshape(-1, 2)
    weight, target, place, inside = [], [], [], []
    for x0 in states:
        for number, x in enumerate(states):
            for node in range(2):
                for step in (-1, 1):
                    y = x.copy()
                    y[node] += step
                    if 0 <= y[node] <= 3:
                        weight.append(table[tuple(x0)] * kernel[x0[0], x[0]] * kernel[x0[1], x[1]])
                        target.append(np.log(kernel[x0[node], y[node]] / kernel[x0[node], x[node]]))
                        place.append((number * 2 + node) * 2 + (step + 1) // 2)
                        inside.append((tuple(x), tuple(y)))
    weight, target, place = torch.tensor(weight), torch.tensor(target), torch.tensor(place)
    score = torch.zeros(64, dtype=torch.float64)
    score[place] = torch.tensor([np.log(noisy[y] / noisy[x]) for x, y in inside])
    least = (weight * score_entropy(score[place], target)).sum()
    score.requires_grad_()
    (weight * score_entropy(score[place], target)).sum().backward()
    assert score.grad.abs().max() < 1e-12
    for entry in place.unique()[::7]:
        moved = score.detach().clone()
        moved[entry] += 0.05
        assert (weight * score_entropy(moved[place], target)).sum() > least


def test_joint_loss_weights_and_masks_as_in_the_paper(folds):
    joint, _ = new_networks(folds[:1], SETTINGS)
    rows = Clean(torch.as_tensor(folds[0].train[:5]), torch.zeros(5, 0))
    batch = stacked([draw_joint(rows, folds[0].top, SETTINGS, torch.Generator().manual_seed(1))])
    predicted = joint(batch.noisy, batch.covariates, batch.sigma.log())
    expected = 0.0
    for row in range(5):
        rate = batch.sigma[0, row].item() * math.log(3.0 / 1e-3)
        for node in range(3):
            for direction, step in enumerate((-1, 1)):
                if 0 <= batch.noisy[0, row, node].item() + step <= folds[0].top:
                    u = predicted[0, row, node, direction].exp().item()
                    v = batch.target[0, row, node, direction].exp().item()
                    expected += rate * (u - v + v * math.log(v / u)) / 5
    assert joint_losses(joint, batch, batch, SETTINGS).item() == pytest.approx(expected, rel=1e-4)


def test_projection_loss_as_in_the_paper(folds):
    joint, projection = new_networks(folds[:1], SETTINGS)
    noisy = torch.as_tensor(folds[0].train[:4], dtype=torch.float32)[None]
    mask = torch.tensor([[[1.0, 1, 0], [0, 1, 1], [1, 1, 1], [1, 0, 1]]])
    sigma = torch.tensor([[0.01, 0.1, 1.0, 2.0]])
    given = torch.zeros(1, 4, 0)
    batch = ProjectionBatch(noisy, sigma, mask, given)
    found = projection_losses(projection, batch, batch, joint, SETTINGS.replace(full_set_weight=0.5))
    filled = torch.where(mask > 0, noisy, projection.fill[:, None])
    target = joint(noisy, given, sigma.log()) - joint(filled, given, sigma.log())
    inside = neighbour_mask(noisy, folds[0].top)
    masked = score_entropy(projection(noisy, mask, given, sigma.log()), target)[inside & (mask[..., None] > 0)].mean()
    whole = projection(noisy, torch.ones_like(mask), given, sigma.log())
    full = score_entropy(whole, torch.zeros_like(whole))[inside].mean()
    assert found.item() == pytest.approx((masked + 0.5 * full).item(), rel=1e-5)


def test_the_parts_of_a_batch_add_up_to_its_losses(folds):
    """Also where they have different numbers of entries: of a last part, near the edge of the grid, of small sets."""
    joint, projection = new_networks(folds, SETTINGS)
    rows = [Clean(torch.as_tensor(fold.train), torch.zeros(len(fold.train), 0)) for fold in folds]
    tops, keys = [fold.top for fold in folds], [(0, 1, number) for number in range(3)]
    joint_batch, batch = (
        next(epoch_batches(draw, rows, tops, keys, SETTINGS, 16)) for draw in (draw_joint, draw_projection)
    )

    def masked(part, whole):
        larger = torch.stack([part.noisy.sin(), part.noisy.cos()], dim=-1)
        return masked_losses(projection, part, whole, joint, larger, SETTINGS)

    losses = [
        (joint_batch, lambda part, whole: joint_losses(joint, part, whole, SETTINGS)),
        (batch, lambda part, whole: projection_losses(projection, part, whole, joint, SETTINGS)),
        (batch, masked),
    ]
    for whole, loss in losses:
        parts = divided(whole, 5)
        assert [part.noisy.shape[1] for part in parts] == [5, 5, 5, 1]
        assert torch.allclose(sum(loss(part, whole) for part in parts), loss(whole, whole), rtol=1e-5)


def trained(folds):
    """All epochs of both stages, and the best networks."""
    joint, projection, rows = start(folds)
    epochs = [*train_joint(joint, rows, PLAN)]
    served = new_networks(folds, SETTINGS)[0]
    served.load_state_dict({**served.state_dict(), **joint.best})
    return [*epochs, *train_projection(projection, served, rows, PLAN)], [joint.best, projection.best]


@pytest.fixture(scope="module")
def undivided(folds):
    return trained(folds)


@pytest.mark.parametrize("failing", [{1}, {3, 5, 6}, {1, 2, 3, 4}])
def test_a_gpu_without_memory_goes_on_in_parts(folds, undivided, failing, monkeypatch):
    """The same updates up to rounding, whichever passes through the networks fail."""

    def failing_some(losses, sizes):
        def found(network, batch, *others):
            sizes.append(batch.noisy.shape[1])
            if len(sizes) in failing:
                raise torch.OutOfMemoryError
            return losses(network, batch, *others)

        return found

    (epochs, networks), seen = undivided, {}
    for losses in (joint_losses, projection_losses):
        seen[losses] = []
        monkeypatch.setattr(f"disco.paper.training.{losses.__name__}", failing_some(losses, seen[losses]))
    again, there = trained(folds)
    assert all(max(sizes[-8:]) == 16 // 2 ** len(failing) for sizes in seen.values())
    for one, other in zip(epochs, again, strict=True):
        assert one.train == pytest.approx(other.train, rel=1e-4) and one.best == other.best
        assert one.validation == pytest.approx(other.validation, rel=1e-4, nan_ok=True)
    for one, other in zip(networks, there, strict=True):
        assert all(torch.allclose(one[name], other[name], atol=1e-4) for name in one)


def test_masks_follow_their_distribution():
    draws, nodes = 60_000, 4
    masks = draw_masks(torch.zeros(draws, nodes), 0.2, torch.Generator().manual_seed(0))
    sizes = np.bincount(masks.sum(1).int().numpy(), minlength=5) / draws
    assert np.allclose(sizes, [0, 0, 0.8 / 3, 0.8 / 3, 0.8 / 3 + 0.2], atol=0.01)
    pairs = masks[masks.sum(1) == 2]
    codes = np.bincount((pairs @ torch.tensor([1.0, 2, 4, 8])).int().numpy(), minlength=16)
    chosen = codes[[3, 5, 6, 9, 10, 12]] / len(pairs)
    assert np.allclose(chosen, 1 / 6, atol=0.015)


def test_folds_in_one_batch_equal_folds_one_by_one(folds):
    joint, projection, rows = start(folds)
    together = [epoch for epoch in train_joint(joint, rows, PLAN)]
    served = new_networks(folds, SETTINGS)[0]
    served.load_state_dict({**served.state_dict(), **joint.best})
    projected = [epoch for epoch in train_projection(projection, served, rows, PLAN)]
    assert len({epoch.best for epoch in together}) > 1
    for fold in range(3):
        alone, single, _ = start(folds)
        epochs = [epoch for epoch in train_joint(only(alone, fold), rows, PLAN)]
        for one, all_ in zip(epochs, together, strict=False):
            assert one.train[fold] == pytest.approx(all_.train[fold], rel=1e-4)
        assert alone.best_epoch[fold] == joint.best_epoch[fold]
        for name, value in alone.best.items():
            assert torch.allclose(value[fold], joint.best[name][fold], atol=1e-4)
        target = copy.deepcopy(served)
        for parameter in target.parameters():
            parameter.data = parameter.data[[fold]]
        keep_folds(target, [fold])
        last = list(train_projection(only(single, fold), target, rows, PLAN))[-1]
        assert last.train[0] == pytest.approx(projected[-1].train[fold], rel=1e-4)


def test_a_resumed_stage_equals_an_uninterrupted_one(folds):
    whole, _, rows = start(folds)
    losses = [epoch.train for epoch in train_joint(whole, rows, PLAN)]
    for stop in (1, 3):
        first, _, _ = start(folds)
        run = train_joint(first, rows, PLAN)
        for _ in range(stop):
            next(run)
        tensors, meta = pack_training("joint", first)
        tensors = {name: value.detach().clone() for name, value in tensors.items()}
        second, _, _ = start(folds)
        unpack_training("joint", second, tensors, meta)
        rest = [epoch.train for epoch in train_joint(second, rows, PLAN)]
        assert np.array_equal(losses[stop:], rest, equal_nan=True) and second.best_epoch == whole.best_epoch
        assert all(torch.equal(second.best[name], value) for name, value in whole.best.items())


def test_early_stopping_serves_the_best_validated_state(folds):
    settings = SETTINGS.replace(patience=2)
    training, _, _ = start(folds, settings)
    seen = []
    for epoch, losses in enumerate([[3.0, 3, 3], [2.0, 3.5, 2], [2.5, 3.2, 1], [2.6, 0.0, 0.5]], start=1):
        training.epoch = epoch
        for parameter in training.network.parameters():
            parameter.data.fill_(epoch)
            training.optimizer.state[parameter] = {"exp_avg": parameter.data.clone(), "exp_avg_sq": parameter.data}
        training.judge([losses[fold] for fold in training.active], settings)
        seen.append(list(training.active))
    assert seen == [[0, 1, 2], [0, 1, 2], [0, 2], [2]] and training.best_epoch == [2, 1, 4]
    assert [training.best["mlp.biases.0"][fold].max().item() for fold in range(3)] == [2, 1, 4]


def test_improvement_must_reach_its_minimum(folds):
    training, _, _ = start(folds)
    training.epoch = 1
    training.judge([1.0, 1.0, 1.0], SETTINGS.replace(patience=5))
    training.epoch = 2
    training.judge([1.0 - 0.9e-4, 1.0 - 1.1e-4, 1.0], SETTINGS.replace(patience=5))
    assert training.best_epoch == [1, 2, 1] and training.waited == [1, 0, 1]


def test_validation_is_the_same_for_the_same_network(folds):
    one, _, rows = start(folds)
    other, _, _ = start(folds)
    plan = Plan.of(100, SETTINGS.replace(joint_learning_rate=1e-30, joint_learning_rate_end=1e-30, patience=9))
    first = [epoch.validation for epoch in train_joint(one, rows, plan)]
    assert first[0] == pytest.approx(first[-1], rel=1e-5)
    assert first == [epoch.validation for epoch in train_joint(other, rows, plan)]


@pytest.mark.parametrize("epochs", [1, 2, 20])
def test_short_trainings_serve_a_state(folds, epochs):
    settings = SETTINGS.replace(joint_epochs=epochs, projection_epochs=epochs, validation_start=10, patience=3)
    plan, (joint, projection, rows) = Plan.of(100, settings), start(folds, settings)
    assert len([epoch for epoch in train_joint(joint, rows, plan)]) == epochs
    served = new_networks(folds, settings)[0]
    before = served.mlp.weights[0].detach().clone()
    assert not torch.equal(joint.best["mlp.weights.0"], before) and min(joint.best_epoch) >= 1
    list(train_projection(projection, served, rows, plan))
    assert projection.best_epoch == [epochs] * 3
    now = dict(projection.network.named_parameters())
    assert all(torch.equal(now[name], value) for name, value in projection.best.items())


def test_divergence_is_said_in_words(folds):
    joint, _, rows = start(folds)
    with torch.no_grad():
        joint.network.mlp.weights[-1].fill_(float("nan"))
    with pytest.raises(InputError, match="Training diverged: the loss of fold 1 is not finite at epoch 1"):
        next(train_joint(joint, rows, PLAN))


@pytest.mark.parametrize("stage", ["joint", "projection"])
def test_a_last_step_that_diverges_is_said_in_words(stage):
    """The loss before that step is finite, and there is no next epoch to see what it did."""
    table = np.random.default_rng(0).poisson(2.0, (60, 2))
    once = {"width": 4, "joint_epochs": 1, "projection_epochs": 1, f"{stage}_learning_rate": 1e30}
    with pytest.raises(InputError, match="Training diverged: no validation loss of fold 1 is finite. Lower the"):
        DISCO("paper", device="cpu", **once).fit(table)


def test_gradients_are_clipped_a_fold():
    weight = torch.nn.Parameter(torch.zeros(2, 2, 2))
    weight.grad = torch.tensor([[[3.0, 0], [0, 4.0]], [[0.3, 0], [0, 0.4]]])
    clip_gradients([weight], 1.0)
    assert weight.grad[0].norm().item() == pytest.approx(1.0, rel=1e-5)
    assert weight.grad[1].norm().item() == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize("stage", ["joint", "projection"])
@pytest.mark.parametrize("unit", ["epochs", "updates"])
def test_the_learning_rate_of_every_update(folds, stage, unit, monkeypatch):
    """By epochs, update k has the rate of its epoch; by updates it has its own, and the last from `epochs` on."""
    epochs = {"joint_epochs": 7, "projection_epochs": 7, "validation_start": 100}
    settings = SETTINGS.replace(**{f"{stage}_schedule": unit}, **epochs)
    plan, (joint, projection, rows) = Plan.of(100, settings), start(folds, settings)
    training = joint if stage == "joint" else projection
    rates, step = [], Adam.step

    def noted(self):
        rates.append(self.rate)
        step(self)

    monkeypatch.setattr(Adam, "step", noted)
    target = copy.deepcopy(joint.network)
    list(train_joint(joint, rows, plan) if stage == "joint" else train_projection(projection, target, rows, plan))
    batches = 4 if stage == "joint" else 5  # of 16: 59 rows to train on beside 7 held out, or all 66
    first, last = (1e-3, 1e-5) if stage == "joint" else (1.5e-3, 3e-5)
    done = [min(k if unit == "updates" else k // batches, 7) for k in range(7 * batches)]
    assert training.epoch == 7 and len(rates) == 7 * batches
    expected = [last + (first - last) * (1 + math.cos(math.pi * k / 7)) / 2 for k in done]
    assert rates == pytest.approx(expected, rel=1e-12) and (rates[-1] == last) == (unit == "updates")


def test_a_resumed_stage_goes_on_with_the_rates_of_its_updates():
    plan = Plan.of(60, SETTINGS.replace(joint_schedule="updates", joint_epochs=10))
    assert plan.joint.batches == 3  # of 16: 36 of 40 rows, beside 4 held out
    whole = [rate for epoch in range(4) for rate in learning_rates("joint", epoch, plan)]
    assert whole == [cosine(k, 10, 1e-3, 1e-5) for k in range(12)] and learning_rates("joint", 2, plan) == whole[6:9]


def test_the_cosine_may_be_longer_or_shorter_than_the_training():
    for decay in (4, 30):
        plan = Plan.of(60, SETTINGS.replace(joint_schedule="updates", joint_decay=decay, joint_epochs=10))
        rates = [rate for epoch in range(10) for rate in learning_rates("joint", epoch, plan)]
        assert rates == [cosine(k, decay, 1e-3, 1e-5) for k in range(30)]
        plan = Plan.of(60, SETTINGS.replace(joint_schedule="epochs", joint_decay=decay, joint_epochs=10))
        assert learning_rates("joint", 3, plan) == [cosine(3, decay, 1e-3, 1e-5)] * 3
