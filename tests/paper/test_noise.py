"""Gaussian noise in steps, against the product that defines it."""

import numpy as np
import torch

from disco.paper.continuous.noise import LAST, corrupted, deviation, log_kept, mixture, time_of, uniform


def kept_by_product() -> np.ndarray:
    return np.cumprod(1 - np.linspace(1e-4, 0.02, 100))


def test_the_noise_of_every_step_is_the_product_of_the_steps_before_it():
    steps = torch.arange(100, dtype=torch.float64) / 100
    assert np.allclose(log_kept(steps).exp(), kept_by_product(), rtol=1e-6)
    assert np.allclose(deviation(steps) ** 2, 1 - kept_by_product(), rtol=1e-5)
    between = log_kept(torch.tensor([0.055], dtype=torch.float64))
    assert np.isclose(float(between), np.log(kept_by_product()[5:7]).mean(), rtol=1e-6)


def test_a_time_is_found_again_from_its_noise():
    times = torch.linspace(0.0, LAST, 401, dtype=torch.float64)
    assert torch.allclose(time_of(deviation(times)), times, atol=1e-9)
    assert torch.equal(time_of(torch.tensor([1e-4, 0.9])), torch.tensor([0.0, LAST]))


def test_a_corrupted_row_keeps_its_variance():
    values, noise = torch.tensor([[3.0, -1.0]]), torch.tensor([[0.5, 2.0]])
    kept = float(kept_by_product()[40])
    expected = kept**0.5 * values + (1 - kept) ** 0.5 * noise
    assert torch.allclose(corrupted(values, noise, torch.tensor([0.4])), expected)


def test_the_mixture_is_half_uniform_and_half_log_uniform():
    generator = torch.Generator().manual_seed(0)
    drawn = mixture(200_000, generator)
    sd = deviation(drawn)
    assert float(sd.min()) < 0.04 and float(drawn.max()) > 0.95  # below the log-uniform half, and above the uniform one
    above = (drawn > 0.5).float().mean()  # only of the log-uniform half
    expected = np.log(0.8 / float(deviation(torch.tensor(0.5)))) / np.log(0.8 / 0.05) / 2
    assert abs(float(above) - expected) < 0.005 and float(uniform(0.1, 0.3)(1000, generator).min()) >= 0.1
