import numpy as np
import pytest
import torch

from disco.paper.curvature import HeldOut, NetworkScores, States
from disco.paper.networks import UP, new_networks
from disco.paper.ranks import RowInputs, fold_of_rows, fold_ranks
from disco.paper.settings import Settings

SETTINGS = Settings.of("paper", width=24, hidden_layers=3, noise_levels=3)


def folds_given(columns):
    """Three folds of 40 rows of four nodes, with so many numbers given beside them."""
    rng = np.random.default_rng(5)
    counts = np.column_stack([rng.poisson(2, 40), rng.poisson(5, 40), rng.integers(0, 3, 40), rng.poisson(1, 40)])
    beside = RowInputs(rng.normal(size=(40, columns)).astype(np.float32), None)
    return fold_ranks(counts, fold_of_rows(40, 3, 0), SETTINGS, beside)


@pytest.fixture(params=[0, 3], ids=["counts alone", "given"])
def folds(request):
    return folds_given(request.param)


def evaluated(folds):
    """The rows at which scores are evaluated, in double precision."""
    held_out = HeldOut.of(folds, SETTINGS)
    return States(held_out.ranks.double(), held_out.covariates.double())


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


def plain_entries(networks, rows, remaining, log_sigma):
    """ℓ_{j,R} of every column from complete forward passes."""
    (joint, projection), (ranks, given) = networks, rows
    mask = torch.zeros(ranks.shape[-1], dtype=ranks.dtype)
    mask[list(remaining)] = 1
    mask = mask.expand_as(ranks)
    level = torch.full(ranks.shape[:2], float(log_sigma), dtype=ranks.dtype)
    baseline = joint(projection.filled(ranks, mask), given, level)
    return (baseline + projection(ranks, mask, given, level).clamp(-8, 8))[..., UP]


@pytest.mark.parametrize("remaining", [[0, 1, 2, 3], [0, 2, 3], [1, 3]])
def test_shifted_columns_equal_plain_forward_passes(folds, networks, remaining):
    scores = NetworkScores(*networks, SETTINGS)
    scores.log_sigma = scores.log_sigma.double()
    rows = evaluated(folds)
    own = scores.own_entries_after(rows, remaining, remaining)
    for level, log_sigma in enumerate(scores.log_sigma):
        before = plain_entries(networks, rows, remaining, log_sigma)[..., remaining]
        assert torch.allclose(scores.entries(rows, remaining)[:, level], before, atol=1e-10)
        for place, node in enumerate(remaining):
            shifted = rows.ranks.clone()
            shifted[..., node] = torch.minimum(shifted[..., node] + 1, scores.top[:, None])
            after = plain_entries(networks, States(shifted, rows.covariates), remaining, log_sigma)[..., remaining]
            assert torch.allclose(scores.entries_after(rows, remaining, node)[:, level], after, atol=1e-10)
            assert torch.allclose(own[:, level, :, place], after[..., place], atol=1e-10)
            assert not torch.allclose(after, before, atol=1e-3)


def test_at_the_full_set_the_projection_is_the_joint_network_up_to_its_correction(folds, networks):
    joint, projection = networks
    scores = NetworkScores(joint, projection, SETTINGS)
    scores.log_sigma = scores.log_sigma.double()
    rows = evaluated(folds)
    level = scores.log_sigma[0].expand(rows.ranks.shape[:2])
    correction = projection(rows.ranks, torch.ones_like(rows.ranks), rows.covariates, level)[..., UP].clamp(-8, 8)
    difference = scores.entries(rows, range(4))[:, 0] - joint(*rows, level)[..., UP]
    assert torch.allclose(difference, correction, atol=1e-10)


def test_removed_coordinates_do_not_matter(folds, networks):
    scores = NetworkScores(*networks, SETTINGS)
    scores.log_sigma = scores.log_sigma.double()
    rows = evaluated(folds)
    other = States(rows.ranks.clone(), rows.covariates)
    other.ranks[..., 1] = 0
    assert torch.equal(scores.entries(rows, [0, 2]), scores.entries(other, [0, 2]))
    assert not torch.equal(scores.entries(rows, [0, 1]), scores.entries(other, [0, 1]))


def test_what_is_given_matters_at_its_row_in_every_remaining_set_and_no_other_row():
    folds = folds_given(2)
    scores, rows = NetworkScores(*new_networks(folds, SETTINGS), SETTINGS), HeldOut.of(folds, SETTINGS).at(slice(9))
    given = rows.covariates.clone()
    given[:, 4, 1] += 1
    for remaining in ([0, 1, 2, 3], [1, 3]):
        change = (scores.entries(States(rows.ranks, given), remaining) - scores.entries(rows, remaining)).abs()
        assert (change[:, :, 4] > 0).all() and not change[:, :, [0, 1, 2, 3, 5, 6, 7, 8]].any()


def test_given_numbers_change_no_other_weight():
    both = (new_networks(folds_given(columns), SETTINGS) for columns in (0, 3))
    for plain, given in zip(*both, strict=True):
        for name, value in plain.named_parameters():
            other = dict(given.named_parameters())[name]
            other = other[:, : value.shape[1]] if name == "skip" else other  # all zero
            assert torch.equal(other[:, 3:] if name == "mlp.weights.0" else other, value)
        first = given.mlp.weights[0][:, :3]
        assert not torch.equal(first[0], first[1]) and 0 < first.abs().max() <= plain.mlp.weights[0].shape[1] ** -0.5


def test_features_are_standardised_on_the_training_split():
    folds = folds_given(0)
    joint, _ = new_networks(folds, SETTINGS)
    for number, fold in enumerate(folds):
        whole = torch.as_tensor(fold.train, dtype=torch.float32).expand(3, -1, -1)
        features = joint.features(whole, whole[..., :0])[number]
        assert torch.allclose(features.mean(0), torch.zeros(8), atol=1e-4)
        assert torch.allclose(features.std(0, correction=0), torch.ones(8), atol=1e-3)
        x = float(fold.train[0, 1])
        expected = np.log1p(x) / np.log1p(fold.top)
        raw = features[0, 5] * joint.features.std[number, 0, 5] + joint.features.mean[number, 0, 5]
        assert raw.item() == pytest.approx(expected, abs=1e-5)


def test_with_given_numbers_features_are_what_these_leave():
    """Uncorrelated with them on the training split, and a shift changes them as the features themselves."""
    folds = folds_given(2)
    features = new_networks(folds, SETTINGS)[1].features
    for number, fold in enumerate(folds):
        ranks, given = (
            torch.as_tensor(part).float().expand(3, -1, -1) for part in (fold.train, fold.inputs.covariates)
        )
        own = features(ranks, given)[number]
        z = given[0] - given[0].mean(0)
        assert (z.T @ own).abs().max() < 1e-2 * len(own) and own.mean(0).abs().max() < 1e-4
        assert torch.allclose(own.std(0, correction=0), torch.ones(8), atol=1e-3)
        change = features.change(ranks[..., 1], ranks[..., 1] + 1, 1)[number]
        raised = ranks.clone()
        raised[..., 1] += 1
        assert torch.allclose(change, (features(raised, given)[number] - own)[:, [1, 5]], atol=1e-4)


def test_a_node_that_is_given_has_features_of_a_bearable_size():
    given = np.arange(40) % 3
    counts = np.column_stack([given, np.arange(40) % 7])
    folds = fold_ranks(counts, fold_of_rows(40, 3, 0), SETTINGS, RowInputs(np.eye(3, dtype=np.float32)[given], None))
    features = new_networks(folds, SETTINGS)[0].features
    rank = torch.ones(3, 1)
    assert features.change(rank, rank + 1, 0).abs().max() < 100


def test_a_constant_training_column_stays_finite():
    counts = np.column_stack([np.arange(12), [0] * 11 + [1]])
    folds = fold_ranks(counts, np.array([0] * 6 + [1] * 6), Settings(folds=2))
    joint, _ = new_networks(folds, SETTINGS)
    assert torch.isfinite(joint.features(torch.zeros(2, 1, 2), torch.zeros(2, 1, 0))).all()


def test_a_fold_starts_from_its_own_seed_alone(folds):
    both, one = new_networks(folds, SETTINGS), new_networks(folds[:1], SETTINGS)
    for whole, single in zip(both, one, strict=True):
        for name, value in single.named_parameters():
            assert torch.equal(dict(whole.named_parameters())[name][:1], value)
    weights = both[0].mlp.weights[0]
    assert not torch.equal(weights[0], weights[1])
