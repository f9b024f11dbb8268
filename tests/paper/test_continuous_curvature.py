"""Curvature and its correction for leaves, against closed forms."""

import numpy as np
import pytest
import torch

from disco.errors import InputError
from disco.paper.continuous.noise_curvature import diagonal, lowest, without

GENERATOR = torch.Generator().manual_seed(0)
X = torch.randn(50, 3, generator=GENERATOR, dtype=torch.float64)
WEIGHTS = torch.tensor([[0.0, 0.8, 0.0], [0.0, 0.0, -1.3], [0.0, 0.0, 0.0]], dtype=torch.float64)  # x1 → x2 → x3
COVARIANCE = torch.linalg.inv(torch.eye(3, dtype=torch.float64) - WEIGHTS)
COVARIANCE = COVARIANCE.T @ torch.diag(torch.tensor([1.0, 0.5, 2.0], dtype=torch.float64)) @ COVARIANCE
SIGMA = 0.3


def chain(rows: torch.Tensor) -> torch.Tensor:
    """The noise in rows of a Gaussian chain: −σ times its score, σ P x."""
    return SIGMA * rows @ torch.linalg.inv(COVARIANCE)


def cubic(rows: torch.Tensor) -> torch.Tensor:
    """−score of x1 ~ N(0, 1), x2 = x1³ + N(0, 1), x3 ~ N(0, 4)."""
    first, second, third = rows.T
    rest = second - first**3
    return torch.stack([first - 3 * first**2 * rest, rest, third / 4], dim=1)


def test_the_diagonal_of_a_gaussian_chain_is_that_of_its_precision():
    expected = SIGMA * torch.linalg.inv(COVARIANCE).diagonal()
    assert torch.allclose(diagonal(chain, X, [0, 1, 2]), expected.expand(50, 3))
    assert torch.allclose(diagonal(chain, X, [2, 0]), expected[[2, 0]].expand(50, 2))


def test_the_diagonal_of_a_curved_density_is_that_of_its_hessian():
    first, second, _ = X.T
    expected = 1 - 6 * first * (second - first**3) + 9 * first**4
    found = diagonal(cubic, X, [0, 1, 2])
    assert torch.allclose(found[:, 0], expected)
    assert torch.allclose(found[:, 1:], torch.tensor([1.0, 0.25], dtype=torch.float64).expand(50, 2))


def test_chunks_of_rows_change_nothing_and_are_checked(monkeypatch):
    calls = []
    whole = diagonal(cubic, X, [0, 2])
    monkeypatch.setattr("disco.paper.continuous.noise_curvature._AT_ONCE", 14)
    assert torch.equal(diagonal(cubic, X, [0, 2], lambda: calls.append(1)), whole) and len(calls) == 8


def test_the_residue_of_a_gaussian_chain_is_the_score_of_its_marginal():
    two = SIGMA * X[:, :2] @ torch.linalg.inv(COVARIANCE[:2, :2])
    found = without(chain, [2])(X)
    assert torch.allclose(found[:, :2], two) and torch.allclose(found[:, 2], torch.zeros(50, dtype=torch.float64))
    one = SIGMA * X[:, 0] / COVARIANCE[0, 0]
    assert torch.allclose(without(chain, [2, 1])(X)[:, 0], one)


def test_the_residue_of_a_curved_effect_is_its_cause_alone():
    """Without x2, x1 is standard normal: its score is −x1, and its curvature −1 in every row."""
    corrected = without(cubic, [1])
    assert torch.allclose(corrected(X)[:, 0], X[:, 0])
    assert torch.allclose(diagonal(corrected, X, [0, 2]), torch.tensor([1, 0.25], dtype=torch.float64).expand(50, 2))


def test_the_lowest_finite_score_is_chosen():
    assert lowest(np.array([3.0, np.nan, 1.0, -np.inf])) == 2
    with pytest.raises(InputError, match="the networks did not converge. Lower the rate"):
        lowest(np.array([np.nan, np.inf]))


def test_a_leaf_whose_slope_is_zero_gives_no_number_rather_than_an_error():
    assert not np.isfinite(without(lambda rows: 0 * rows, [1])(X).numpy()).any()
