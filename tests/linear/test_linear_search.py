"""The search under linear models, against residual sums of squares and all orders of a small table."""

from itertools import combinations, permutations

import numpy as np
import pytest

from disco.linear import insertion
from disco.progress import SILENT

ROWS = 400
EVERYONE = [tuple(other for other in range(6) if other != node) for node in range(6)]


@pytest.fixture(scope="module")
def values():
    """Six standardised columns; the last two are driven by two and three of the others."""
    random = np.random.default_rng(4)
    columns = [random.normal(size=ROWS)]
    for effects in ([0.8], [0.0, 0.5], [0.6, 0.0, -0.4], [0.0, 0.5, 0.5, 0.0], [0.4, 0.0, 0.4, 0.0, 0.4]):
        columns.append(np.column_stack(columns) @ effects + random.normal(size=ROWS))
    table = np.column_stack(columns)
    return (table - table.mean(0)) / table.std(0)


def bic(values, node, parents):
    """A node's gain in BIC from its parents, by least squares."""
    x, y = values[:, list(parents)], values[:, node]
    left = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    return -len(y) / 2 * np.log(left @ left / len(y)) - len(parents) * np.log(len(y)) / 2


def searched_of(values, candidates, seed=0):
    model = insertion.LinearModel.of(np.corrcoef(values.T), len(values), candidates)
    return insertion.searched(model, np.random.default_rng(seed).permutation(values.shape[1]), SILENT)


def test_a_score_is_that_of_least_squares(values):
    found = searched_of(values, EVERYONE)
    for node in range(6):
        parents = found.graph.parents[node, : found.graph.size[node]]
        assert found.graph.score[node] == pytest.approx(bic(values, node, parents))
        places = {other: place for place, other in enumerate(found.graph.order.tolist())}
        assert all(places[other] < places[node] for other in parents.tolist())
        for other in set(places) - {node, *parents.tolist()}:  # no parent is missing, none too many
            if places[other] < places[node]:
                assert bic(values, node, [*parents, other]) <= found.graph.score[node]
        assert all(bic(values, node, set(parents) - {other}) <= found.graph.score[node] for other in parents)


def test_the_order_is_the_best_of_all(values):
    best = {}
    for node in range(6):
        sets = [set(some) for size in range(6) for some in combinations(EVERYONE[node], size)]
        best[node] = [(bic(values, node, some), some) for some in sets]

    def score(order):
        return sum(
            max(gain for gain, some in best[node] if some <= set(order[:place])) for place, node in enumerate(order)
        )

    order = insertion.order_by_linear_models(np.corrcoef(values.T), ROWS, EVERYONE, 0, SILENT)
    assert score(order) == pytest.approx(max(map(score, permutations(range(6)))))


def test_only_candidates_become_parents(values):
    chain = [(1,), (0, 2), (1, 3), (2, 4), (3, 5), (4,)]
    graph = searched_of(values, chain, seed=1).graph
    for node in range(6):
        assert set(graph.parents[node, : graph.size[node]].tolist()) <= set(chain[node])
    nobody = insertion.order_by_linear_models(np.corrcoef(values.T), ROWS, [()] * 6, 0, SILENT)
    assert sorted(nobody) == list(range(6))


def test_copies_are_no_parents_together(values):
    """Of columns that determine each other one is enough, and no score is infinite."""
    doubled = np.column_stack([values, values[:, 0], values[:, 1] + values[:, 2]])
    everyone = [tuple(other for other in range(8) if other != node) for node in range(8)]
    graph = searched_of(doubled, everyone).graph
    assert np.isfinite(graph.score).all()
    for node in range(8):
        assert not {0, 6} <= set(graph.parents[node, : graph.size[node]].tolist())


def test_restarts_lead_to_a_better_order():
    """On a table of many closely related columns, where a single search seldom ends at the best."""
    random = np.random.default_rng(0)
    table = random.normal(size=(300, 5)) @ random.normal(size=(5, 40)) + random.normal(size=(300, 40))
    correlations, everyone = np.corrcoef(table.T), [tuple(set(range(40)) - {node}) for node in range(40)]
    model, begun = insertion.LinearModel.of(correlations, 300, everyone), np.random.default_rng([0, 23]).permutation(40)
    once = insertion.searched(model, begun, SILENT)
    order = insertion.order_by_linear_models(correlations, 300, everyone, 0, SILENT)
    again = insertion.searched(model, np.array(order), SILENT)
    assert again.graph.score.sum() > once.graph.score.sum() + 1
    assert order == insertion.order_by_linear_models(correlations, 300, everyone, 0, SILENT)
