"""CCS, the constant-curvature criterion and OCS against exact values of enumerated joint tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
import torch

from disco.errors import InputError
from disco.paper.curvature import ROWS_AT_ONCE, HeldOut, diagonal, off_diagonal, off_diagonal_scores, sink_scores
from disco.paper.marginals import Marginals
from disco.paper.ocs import candidate_scores
from disco.paper.ordering import order_of, remove_sinks
from disco.paper.settings import Settings
from tests.exact import ExactScores, fold_of

SETTINGS = Settings.of("paper", noise_levels=2)
NOISE = (1e-3, 5e-3)


def held_out(tables, rows, seed=0):
    """Held-out folds of unequal length, with rows drawn from each fold's table."""
    random, folds = np.random.default_rng(seed), []
    for number, table in enumerate(tables):
        drawn = random.choice(table.size, size=rows + number, p=table.ravel())
        ranks = np.stack(np.unravel_index(drawn, table.shape), axis=1)
        folds.append(fold_of(ranks[:1], ranks, table.shape[0] - 1))
    return HeldOut.of(folds, SETTINGS), folds


def sinks(scores, rows, remaining, settings):
    values = diagonal(scores, rows, remaining, remaining, settings.noise_levels)
    return sink_scores(values, scores.top, rows, remaining, settings)


def pairs(scores, rows, remaining, node, settings):
    values = off_diagonal(scores, rows, remaining, node, settings.noise_levels)
    return off_diagonal_scores(values, scores.top, rows, remaining, node)


@pytest.fixture
def random_tables():
    random = np.random.default_rng(3)
    return [random.dirichlet(np.ones(64)).reshape(4, 4, 4), random.dirichlet(np.ones(64)).reshape(4, 4, 4)]


def brute_curvature(scores, fold, state, remaining, i, j):
    """H_ij,R at each noise level, by its definition, with shifts clipped to K."""
    shifted = state.copy()
    shifted[i] = min(shifted[i] + 1, scores.top[fold].item())
    levels = range(len(NOISE))
    after, before = ([scores.entry(fold, level, at, remaining, j) for level in levels] for at in (shifted, state))
    return np.subtract(after, before)


@pytest.mark.parametrize("remaining", [(0, 1, 2), (0, 2)])
@pytest.mark.parametrize("boundary", ["clipped", "admissible"])
def test_sink_scores_equal_their_definition(random_tables, remaining, boundary):
    scores = ExactScores(random_tables, NOISE)
    rows, folds = held_out(random_tables, 60)
    found = sinks(scores, rows, remaining, SETTINGS)
    for fold, data in enumerate(folds):
        for place, node in enumerate(remaining):
            h = [brute_curvature(scores, fold, row * 1.0, remaining, node, node).mean() for row in data.held_out]
            frame = pd.DataFrame({"level": data.held_out[:, node], "h": h})
            if boundary == "admissible":
                frame = frame[frame["level"] + 2 <= 3]
            groups = [group["h"] for _, group in frame.groupby("level") if len(group) >= 2]
            expected = sum(len(group) * group.var() for group in groups) / sum(len(group) for group in groups)
            assert found["ccs", boundary][fold, place] == pytest.approx(expected, rel=1e-9)
            assert found["constant", boundary][fold, place] == pytest.approx(frame["h"].var(), rel=1e-9)


@pytest.mark.parametrize("boundary", ["clipped", "admissible"])
def test_off_diagonal_scores_equal_their_definition(random_tables, boundary):
    scores = ExactScores(random_tables, NOISE)
    rows, folds = held_out(random_tables, 50)
    for remaining, child in itertools.product([(0, 1, 2), (1, 2)], [1, 2]):
        both = pairs(scores, rows, remaining, child, SETTINGS)
        found, mean = both["ocs", boundary], both["curvature", boundary]
        for fold, data in enumerate(folds):
            for place, parent in enumerate(remaining):
                if parent == child:
                    assert np.isnan(found[fold, place])
                    continue
                values = [
                    brute_curvature(scores, fold, row.astype(float), remaining, child, parent)
                    for row in data.held_out
                    if boundary == "clipped" or max(row[child], row[parent]) + 1 <= 3
                ]
                assert found[fold, place] == pytest.approx(np.mean(np.abs(values)), rel=1e-9)
                assert mean[fold, place] == pytest.approx(np.mean(values), rel=1e-9)


class SmallMemory(ExactScores):
    """As on a GPU whose memory is enough for only some rows at once."""

    most = 7

    def entries(self, rows, remaining):
        if rows.ranks.shape[1] > self.most:
            raise torch.OutOfMemoryError
        return super().entries(rows, remaining)


def test_a_gpu_that_runs_out_of_memory_goes_on_with_fewer_rows_at_once(random_tables, monkeypatch):
    rows, _ = held_out(random_tables, 60)
    found = {}
    for kind in (ExactScores, SmallMemory):
        monkeypatch.setitem(ROWS_AT_ONCE, "cpu", 1 << 13)
        scores = kind(random_tables, NOISE)
        found[kind] = [
            diagonal(scores, rows, (0, 1, 2), [0, 2], 2),
            off_diagonal(scores, rows, (0, 1, 2), 1, 2),
            *(Marginals(scores, rows, 2).off_diagonal([], (0, 1, 2), node) for node in (0, 1)),
        ]
    assert ROWS_AT_ONCE["cpu"] == 8  # four rows at two noise levels
    assert all(map(torch.equal, *found.values()))
    scores.most = 0
    with pytest.raises(InputError, match="The GPU ran out of memory: end other programs"):
        diagonal(scores, rows, (0, 1, 2), [0], 2)


def test_the_minimum_of_rows_a_level_is_respected(random_tables):
    scores = ExactScores(random_tables[:1], NOISE)
    ranks = np.array([[0, 0, 1], [0, 1, 2], [0, 2, 0], [1, 0, 0], [1, 2, 1]])
    rows = HeldOut.of([fold_of(ranks[:1], ranks, 3)], SETTINGS)
    curvature = diagonal(scores, rows, (0, 1, 2), [0], 2)[0, :, 0].numpy()
    two = sinks(scores, rows, (0, 1, 2), SETTINGS)["ccs", "clipped"][0, 0]
    three = sinks(scores, rows, (0, 1, 2), SETTINGS.replace(min_level_rows=3))["ccs", "clipped"][0, 0]
    first, second = curvature[:3].var(ddof=1), curvature[3:].var(ddof=1)
    assert two == pytest.approx((3 * first + 2 * second) / 5) and three == pytest.approx(first)


def test_a_node_without_repeated_levels_is_unavailable(random_tables):
    ranks = np.array([[0, 0, 1], [1, 1, 1], [2, 2, 1], [3, 3, 1]])
    rows = HeldOut.of([fold_of(ranks[:1], ranks, 3)], SETTINGS)
    found = sinks(ExactScores(random_tables[:1], NOISE), rows, (0, 1, 2), SETTINGS)
    assert np.isnan(found["ccs", "clipped"][0]).tolist() == [True, True, False]
    assert not np.isnan(found["constant", "admissible"][0]).any()


def test_no_admissible_row_is_unavailable(random_tables):
    ranks = np.array([[3, 0, 0], [3, 1, 0], [3, 2, 1], [2, 2, 1]])
    rows = HeldOut.of([fold_of(ranks[:1], ranks, 3)], SETTINGS)
    scores = ExactScores(random_tables[:1], NOISE)
    assert np.isnan(sinks(scores, rows, (0, 1), SETTINGS)["ccs", "admissible"][0, 0])
    rows = HeldOut.of([fold_of(ranks[:1], ranks[:3], 3)], SETTINGS)
    found = pairs(scores, rows, (0, 1), 1, SETTINGS)
    assert np.isnan(found["ocs", "admissible"][0, 0]) and found["ocs", "clipped"][0, 0] >= 0


def glm_table():
    """A semiparametric GLM DAG on {0, …, 3}: 0 → 1, 1 → 2, nonlinear η, arbitrary base measures."""
    levels = np.arange(4)
    source = np.array([0.3, 0.35, 0.2, 0.15])

    def conditional(eta, measure):
        weights = np.array(measure) * np.exp(np.outer(eta, levels))
        return weights / weights.sum(axis=1, keepdims=True)

    second = conditional([-1.0, 0.2, 0.5, 1.6], [1.0, 2.0, 0.7, 0.9])
    third = conditional([0.8, -0.9, -1.2, 0.3], [0.6, 1.0, 1.5, 0.4])
    return source[:, None, None] * second[:, :, None] * third[None]


def test_exact_scores_recover_the_graph():
    """Theorem sink-identification: CCS is 0 only at sinks, OCS is 0 only at nonparents."""
    table = glm_table()
    scores = ExactScores([table], (0.0,))
    settings = Settings(noise_levels=1, boundary="admissible")
    rows, _ = held_out([table], 400)
    evaluate = lambda R: sinks(scores, rows, R, settings)  # noqa: E731
    steps = list(remove_sinks(evaluate, 3, "ccs", "admissible", ["a", "b", "c"]))
    assert order_of(steps) == [0, 1, 2]
    first = steps[0].scores["ccs", "admissible"][0]
    assert first[2] < 1e-20 and first[0] > 1e-3 and first[1] > 1e-3
    assert steps[1].scores["ccs", "admissible"][0, 1] < 1e-20
    # The base measure's own curvature is not constant, so the other criterion does not vanish at the sink.
    assert steps[0].scores["constant", "admissible"][0, 2] > 1e-3
    walk = candidate_scores(lambda child, R, _: pairs(scores, rows, R, child, settings), [0, 1, 2])
    found = {child: values["ocs", "admissible"][0] for child, values in walk}
    assert found[2][0] < 1e-10 and found[2][1] > 0.1 and found[1][0] > 0.1


def test_averages_over_noise_come_before_the_variance_and_after_the_absolute_value():
    class Opposite:
        """Two noise levels whose curvatures cancel."""

        top = torch.tensor([3.0])

        def entries(self, rows, remaining):
            return torch.zeros(1, 2, rows.ranks.shape[1], len(remaining), dtype=torch.float64)

        def entries_after(self, rows, remaining, node):
            other = rows.ranks[..., [1 - node]].double().expand(-1, -1, len(remaining))
            return torch.stack([other, -other], dim=1)

        def own_entries_after(self, rows, remaining, nodes):
            return self.entries_after(rows, nodes, nodes[0])

    ranks = np.array([[0, 1], [0, 3], [1, 2]])
    rows = HeldOut.of([fold_of(ranks[:1], ranks, 3)], SETTINGS)
    assert diagonal(Opposite(), rows, (0, 1), [0], 2).abs().max() == 0
    assert off_diagonal(Opposite(), rows, (0, 1), 0, 2)[0, 0, :, 1].tolist() == [1, 3, 2]


def test_a_row_cap_takes_a_seeded_sample(rng):
    ranks = rng.integers(0, 3, (50, 2))
    fold = fold_of(ranks[:1], ranks, 2)
    one = HeldOut.of([fold], SETTINGS.replace(evaluation_rows=10))
    assert one.ranks.shape[1] == 10 and len(set(one.rows[0])) == 10
    other = HeldOut.of([fold], SETTINGS.replace(evaluation_rows=10, seed=1))
    assert not np.array_equal(one.rows, other.rows)


def test_curvature_is_evaluated_in_full_precision_and_leaves_the_setting(random_tables):
    class Watching(ExactScores):
        seen: list[tuple[str, bool]] = []

        def entries(self, rows, remaining):
            self.seen.append((torch.get_float32_matmul_precision(), torch.is_grad_enabled()))
            return super().entries(rows, remaining)

    rows, _ = held_out(random_tables, 5)
    torch.set_float32_matmul_precision("medium")
    try:
        scores = Watching(random_tables, NOISE)
        sinks(scores, rows, (0, 1), SETTINGS)
        pairs(scores, rows, (0, 1), 1, SETTINGS)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert set(scores.seen) == {("highest", False)}
