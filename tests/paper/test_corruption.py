import numpy as np
import pytest
import torch
from scipy.linalg import expm

from disco.paper.corruption import (
    corrupt,
    fold_onto_grid,
    image_sums,
    log_kernel,
    log_ratios,
    neighbour_mask,
    sigma_at,
    walk_probabilities,
)
from tests.exact import generator_matrix


def all_pairs(top):
    start, to = np.meshgrid(np.arange(top + 1), np.arange(top + 1), indexing="ij")
    return torch.tensor(start.ravel())[:, None], torch.tensor(to.ravel())[:, None]


@pytest.mark.parametrize("top", [1, 2, 3, 7, 40, 41, 120])
@pytest.mark.parametrize("sigma", [1e-3, 0.03, 0.7, 3.0])
def test_kernel_is_the_matrix_exponential(top, sigma):
    start, to = all_pairs(top)
    sums = image_sums(torch.full((len(start),), sigma, dtype=torch.float64), top)
    kernel = log_kernel(to, start, sums, top).exp().reshape(top + 1, top + 1).numpy()
    assert np.allclose(kernel, expm(sigma * generator_matrix(top)), rtol=1e-8, atol=1e-13)


@pytest.mark.parametrize("sigma", [1e-3, 0.2, 3.0])
def test_ratios_keep_relative_accuracy_in_single_precision(sigma):
    top = 5
    start, to = all_pairs(top)
    exact = expm(sigma * generator_matrix(top))
    ratios = log_ratios(to, start, torch.full((len(start),), sigma), top)[:, 0].reshape(top + 1, top + 1, 2)
    likely = exact > 1e-9
    up = np.log(exact[:, 1:] / exact[:, :-1])
    down = np.log(exact[:, :-1] / exact[:, 1:])
    assert np.abs(ratios[:, :-1, 1].numpy() - up)[likely[:, :-1] & likely[:, 1:]].max() < 1e-5
    assert np.abs(ratios[:, 1:, 0].numpy() - down)[likely[:, :-1] & likely[:, 1:]].max() < 1e-5


@pytest.mark.parametrize(("top", "sigma"), [(2, 3.0), (3, 0.5), (30, 2.0)])
def test_samples_follow_the_kernel(top, sigma):
    draws = 200_000
    start = torch.full((draws, 1), min(1, top))
    generator = torch.Generator().manual_seed(0)
    seen = corrupt(start, torch.full((draws,), sigma), top, generator).flatten()
    expected = expm(sigma * generator_matrix(top))[min(1, top)]
    observed = np.bincount(seen.numpy(), minlength=top + 1) / draws
    assert np.abs(observed - expected).max() < 5 * np.sqrt(0.25 / draws)


def test_reflection_is_about_the_outer_edges():
    walk = torch.tensor([-5, -2, -1, 0, 3, 4, 5, 8, 9])
    assert fold_onto_grid(walk, 3).tolist() == [3, 1, 0, 0, 3, 3, 2, 0, 1]


def test_walk_probabilities_sum_to_one_and_match_scipy():
    from scipy.special import ive

    sigma = torch.tensor([1e-3, 0.4, 3.0], dtype=torch.float64)
    walk = walk_probabilities(sigma, 40)
    assert torch.allclose(walk[:, 0] + 2 * walk[:, 1:].sum(1), torch.ones(3, dtype=torch.float64), atol=1e-14)
    expected = ive(np.arange(41)[None], 2 * sigma.numpy()[:, None])
    assert np.allclose(walk.numpy(), expected, rtol=1e-10, atol=1e-300)


def test_schedule_is_geometric():
    sigma = sigma_at(torch.tensor([0.0, 0.5, 1.0], dtype=torch.float64), 1e-3, 3.0)
    assert sigma.tolist() == pytest.approx([1e-3, (1e-3 * 3) ** 0.5, 3.0])


def test_neighbours_outside_the_grid_are_left_out():
    mask = neighbour_mask(torch.tensor([0, 1, 2]), 2)
    assert mask.tolist() == [[False, True], [True, True], [True, False]]
