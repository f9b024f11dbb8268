import numpy as np
import pytest
import torch

from disco.score.curvature import HeldOut, NetworkScores
from disco.score.networks import UP, new_networks
from disco.settings import Settings
from disco.table.ranks import fold_of_rows, fold_ranks

SETTINGS = Settings.of("paper", width=24, hidden_layers=3, noise_levels=3)


@pytest.fixture
def folds(rng):
    counts = np.column_stack([rng.poisson(2, 40), rng.poisson(5, 40), rng.integers(0, 3, 40), rng.poisson(1, 40)])
    return fold_ranks(counts, fold_of_rows(40, 3, 0), SETTINGS)


@pytest.fixture(params=[False, True], ids=["plain", "skip"])
def networks(folds, request):
    joint, projection = new_networks(folds, SETTINGS.replace(skip_connection=request.param))
    with torch.no_grad():  # large weights, so that a mistake in a shortcut is not hidden by rounding
        if joint.skip is not None:
            joint.skip.normal_(generator=torch.Generator().manual_seed(0))
        for network in (joint, projection):
            for weight in network.mlp.weights:
                weight.mul_(2.0)
    return joint.double(), projection.double()


def plain_entries(networks, ranks, remaining, log_sigma):
    """ℓ_{j,R} of every column from complete forward passes."""
    joint, projection = networks
    mask = torch.zeros(ranks.shape[-1], dtype=ranks.dtype)
    mask[list(remaining)] = 1
    mask = mask.expand_as(ranks)
    level = torch.full(ranks.shape[:2], float(log_sigma), dtype=ranks.dtype)
    baseline = joint(projection.filled(ranks, mask), level)
    return (baseline + projection(ranks, mask, level).clamp(-8, 8))[..., UP]


@pytest.mark.parametrize("remaining", [[0, 1, 2, 3], [0, 2, 3], [1, 3]])
def test_shifted_columns_equal_plain_forward_passes(folds, networks, remaining):
    scores = NetworkScores(*networks, SETTINGS)
    scores.log_sigma = scores.log_sigma.double()
    ranks = HeldOut.of(folds, SETTINGS).ranks.double()
    own = scores.own_entries_after(ranks, remaining, remaining)
    for level, log_sigma in enumerate(scores.log_sigma):
        before = plain_entries(networks, ranks, remaining, log_sigma)[..., remaining]
        assert torch.allclose(scores.entries(ranks, remaining)[:, level], before, atol=1e-10)
        for place, node in enumerate(remaining):
            shifted = ranks.clone()
            shifted[..., node] = torch.minimum(shifted[..., node] + 1, scores.top[:, None])
            after = plain_entries(networks, shifted, remaining, log_sigma)[..., remaining]
            assert torch.allclose(scores.entries_after(ranks, remaining, node)[:, level], after, atol=1e-10)
            assert torch.allclose(own[:, level, :, place], after[..., place], atol=1e-10)
            assert not torch.allclose(after, before, atol=1e-3)


def test_at_the_full_set_the_projection_is_the_joint_network_up_to_its_correction(folds, networks):
    joint, projection = networks
    scores = NetworkScores(joint, projection, SETTINGS)
    scores.log_sigma = scores.log_sigma.double()
    ranks = HeldOut.of(folds, SETTINGS).ranks.double()
    level = scores.log_sigma[0].expand(ranks.shape[:2])
    correction = projection(ranks, torch.ones_like(ranks), level)[..., UP].clamp(-8, 8)
    difference = scores.entries(ranks, range(4))[:, 0] - joint(ranks, level)[..., UP]
    assert torch.allclose(difference, correction, atol=1e-10)


def test_removed_coordinates_do_not_matter(folds, networks):
    scores = NetworkScores(*networks, SETTINGS)
    scores.log_sigma = scores.log_sigma.double()
    ranks = HeldOut.of(folds, SETTINGS).ranks.double()
    other = ranks.clone()
    other[..., 1] = 0
    assert torch.equal(scores.entries(ranks, [0, 2]), scores.entries(other, [0, 2]))
    assert not torch.equal(scores.entries(ranks, [0, 1]), scores.entries(other, [0, 1]))


def test_features_are_standardised_on_the_training_split(folds):
    joint, _ = new_networks(folds, SETTINGS)
    for number, fold in enumerate(folds):
        whole = torch.as_tensor(fold.train, dtype=torch.float32).expand(3, -1, -1)
        features = joint.features(whole)[number]
        assert torch.allclose(features.mean(0), torch.zeros(8), atol=1e-4)
        assert torch.allclose(features.std(0, correction=0), torch.ones(8), atol=1e-3)
        x = float(fold.train[0, 1])
        expected = np.log1p(x) / np.log1p(fold.top)
        raw = features[0, 5] * joint.features.std[number, 0, 5] + joint.features.mean[number, 0, 5]
        assert raw.item() == pytest.approx(expected, abs=1e-5)


def test_a_constant_training_column_stays_finite():
    counts = np.column_stack([np.arange(12), [0] * 11 + [1]])
    folds = fold_ranks(counts, np.array([0] * 6 + [1] * 6), Settings(folds=2))
    joint, _ = new_networks(folds, SETTINGS)
    assert torch.isfinite(joint.features(torch.zeros(2, 1, 2))).all()


def test_a_fold_starts_from_its_own_seed_alone(folds):
    both, one = new_networks(folds, SETTINGS), new_networks(folds[:1], SETTINGS)
    for whole, single in zip(both, one, strict=True):
        for name, value in single.named_parameters():
            assert torch.equal(dict(whole.named_parameters())[name][:1], value)
    weights = both[0].mlp.weights[0]
    assert not torch.equal(weights[0], weights[1])
