"""Curvature of marginals from joint scores alone, against normal densities, whose marginals are known, and a table."""

import numpy as np
import pytest
import torch

from disco.paper import marginals
from disco.paper.curvature import HeldOut, diagonal, off_diagonal, sink_scores
from disco.paper.marginals import Marginals
from disco.paper.settings import Settings
from tests.exact import ExactScores, fold_of
from tests.paper.test_curvature import glm_table

ONE = Settings(noise_levels=1)


class Quadratic:
    """Two folds whose log densities have one curvature H everywhere, at two noise levels H ∓ 0.1."""

    def __init__(self, curvature: np.ndarray) -> None:
        self.curvature, self.top = torch.as_tensor(curvature).float(), torch.full((2,), 100.0)

    def entries(self, rows, remaining):
        levels = [rows.ranks @ (self.curvature + 0.1 * sign).T for sign in (-1, 1)]
        return torch.stack(levels, dim=1)[..., list(remaining)]

    def entries_after(self, rows, remaining, node):
        ranks = rows.ranks.clone()
        ranks[..., node] += 1
        return self.entries(rows._replace(ranks=ranks), remaining)


@pytest.fixture
def precision(rng):
    root = rng.normal(size=(5, 5))
    return root @ root.T + np.eye(5)


@pytest.fixture
def rows(rng):
    ranks = [rng.integers(0, 4, (number, 5)) for number in (30, 31)]
    return HeldOut.of([fold_of(one[:1], one, 100) for one in ranks], ONE)


def of_marginal(precision: np.ndarray, kept: list[int]) -> np.ndarray:
    """The curvature of a normal density's marginal."""
    return -np.linalg.inv(np.linalg.inv(precision)[np.ix_(kept, kept)])


@pytest.mark.parametrize("left", [[], [2], [2, 4], [4, 0, 3]])
def test_the_whole_schur_complement_is_the_marginal_of_a_normal_density(precision, rows, monkeypatch, left):
    monkeypatch.setattr(marginals, "SHARE", 1.0)
    found, kept = Marginals(Quadratic(-precision), rows, 2), [node for node in range(5) if node not in left]
    expected = of_marginal(precision, kept)
    own = found.diagonal(left, kept)[rows.valid].numpy()
    assert own == pytest.approx(np.tile(np.diag(expected), (61, 1)), rel=1e-3)
    for at, node in enumerate(kept):
        size, signed = found.off_diagonal(left, kept, node)
        assert signed[rows.valid].numpy() == pytest.approx(np.tile(expected[at], (61, 1)), rel=1e-3, abs=1e-3)
        assert torch.equal(size, signed.abs())


def test_a_removal_takes_half_of_it(precision, rows):
    found = Marginals(Quadratic(-precision), rows, 2).diagonal([1], [0, 2, 3, 4])[0, 0].numpy()
    kept = [0, 2, 3, 4]
    assert found == pytest.approx((-np.diag(precision)[kept] + np.diag(of_marginal(precision, kept))) / 2, rel=1e-3)


def test_a_curvature_is_the_same_whatever_was_asked_before(rng, rows):
    table = rng.dirichlet(np.ones(4**3)).reshape(4, 4, 4)
    few = HeldOut.of([fold_of(rows.ranks[0, :1, :3].numpy(), rows.ranks[0, :30, :3].numpy(), 3)], ONE)
    scores, asked = ExactScores([table], (0.0,)), [[], [0], [2], [2, 0], [0, 2], [2]]
    walked = Marginals(scores, few, 1)
    for left in asked:
        kept = [node for node in range(3) if node not in left]
        assert torch.equal(walked.diagonal(left, kept), Marginals(scores, few, 1).diagonal(left, kept))
    assert torch.equal(walked.diagonal([], [2, 0]), diagonal(scores, few, (0, 1, 2), [2, 0], 1).float())
    expected = off_diagonal(scores, few, (0, 1, 2), 1, 1).float()
    assert torch.equal(walked.off_diagonal([], (0, 1, 2), 1), expected)


def test_rows_without_curvature_do_not_blow_up(rows):
    """The node that leaves is nearly flat in a tenth of the rows, where its Schur complement would be huge."""
    found = Marginals(Quadratic(-np.eye(5) - 0.5), rows, 2)
    found.diagonal([], [0])
    second = found._second
    second[4, 4, :, :3] = -1e-6
    before = second[0, 0].clone()
    found._leave(4)
    assert (found._second[0, 0] - before).abs().max() == pytest.approx(marginals.SHARE * 0.5**2 / 1.5, rel=1e-3)
    second[3, 3] = 0.1  # upwards in all rows: nothing is known
    before = second[0, 0].clone()
    found._leave(3)
    assert torch.equal(found._second[0, 0], before)


def test_noise_does_not_grow_without_bound(rng, rows, monkeypatch):
    """A removal never takes more than the share of another node's own curvature."""
    monkeypatch.setattr(marginals, "SHARE", 1.0)
    found = Marginals(Quadratic(rng.normal(size=(5, 5)) - 2 * np.eye(5)), rows, 2)
    before = found.diagonal([], range(5))
    for left in ([4], [4, 2], [4, 2, 0]):
        kept = [node for node in range(5) if node not in left]
        after = found.diagonal(left, kept)
        assert (after <= 1e-5).all() and (after >= before[..., kept] - 1e-5).all()


def test_the_first_sink_is_exact():
    table = glm_table()
    random = np.random.default_rng(0)
    ranks = np.stack(np.unravel_index(random.choice(table.size, size=400, p=table.ravel()), table.shape), axis=1)
    rows = HeldOut.of([fold_of(ranks[:1], ranks, 3)], ONE)
    scores = ExactScores([table], (0.0,))
    curvature = Marginals(scores, rows, 1).diagonal([], (0, 1, 2))
    found = sink_scores(curvature, scores.top, rows, (0, 1, 2), ONE)["ccs", "admissible"][0]
    assert found[2] < 1e-9 and found[:2].min() > 1e-3
