"""DiffAN's order from exact scores, its votes, and an additive model with a small network."""

import numpy as np
import pandas as pd
import pytest
import torch

from disco.methods import find
from disco.methods.diffan import order, standardised, winner
from disco.progress import Reporter

QUIET = Reporter(None, {"ordering": 1.0}, "")
X = torch.randn(400, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def curved_chain(rows: torch.Tensor) -> torch.Tensor:
    """−score of x1 ~ N(0, 1), x2 = x1² + N(0, 1), x3 = sin(2 x2) + N(0, 1)."""
    first, second, third = rows.T
    one, two = second - first**2, third - torch.sin(2 * second)
    return torch.stack([first - 2 * first * one, one - 2 * torch.cos(2 * second) * two, two], dim=1)


def no_score(rows: torch.Tensor) -> torch.Tensor:
    """A level that always votes for the first column left: its curvature is even, that of later ones less and less."""
    return torch.stack([(k + 1) * rows[:, k] ** 2 for k in range(3)], dim=1)


@pytest.mark.parametrize("removal", ["masking", "residue", "both", "greedy"])
def test_every_way_of_removal_orders_a_curved_chain_by_its_exact_score(removal):
    assert order([curved_chain], X, removal, QUIET)[2] == 2  # the leaf is found exactly
    if removal == "residue":
        assert order([curved_chain], X, removal, QUIET) == [0, 1, 2]


def test_masking_sets_what_is_removed_to_zero():
    seen = []

    def watched(rows: torch.Tensor) -> torch.Tensor:
        seen.append(rows)
        return curved_chain(rows)

    order([watched], X, "masking", QUIET)
    assert torch.equal(seen[0], X) and torch.equal(seen[-1][:, 2], torch.zeros(400, dtype=torch.float64))
    assert torch.equal(seen[-1][:, :2], X[:, :2])


def test_the_node_with_the_most_votes_wins_and_a_tie_goes_to_the_highest_noise():
    assert winner([4, 2, 2, 7]) == 2 and winner([4, 4, 2, 2]) == 2 and winner([1, 2, 3, 4]) == 4
    assert winner([5, 5, 3, 4]) == 5


def test_several_levels_vote_at_every_removal():
    assert order([curved_chain], X, "masking", QUIET)[2] == 2 and order([no_score], X, "masking", QUIET)[2] == 0
    assert order([no_score, curved_chain, curved_chain], X, "masking", QUIET)[2] == 2
    assert order([curved_chain, no_score, no_score], X, "masking", QUIET)[2] == 0


def test_columns_are_standardised():
    values = standardised(pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [10.0, 0.0, 10.0, 0.0]}))
    assert np.allclose(values.mean(axis=0), 0, atol=1e-6) and np.allclose(values.std(axis=0), 1)
    assert values.dtype == np.float32


def test_rows_evaluated_and_the_epoch_kept_are_said():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.gamma(2.0, size=50), "b": rng.gamma(2.0, size=50)})
    small = {"epochs": 2, "width": 8, "evaluated": 30, "logged": True}
    notes = find("diffan", table, small).notes
    assert notes == (
        "The network of epoch 2 was used, and variances computed on 30 of 50 rows.",
        "The table was transformed by log(1 + x).",
    )
