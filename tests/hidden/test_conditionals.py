"""The likelihood of counts at points of what is hidden, against direct sums."""

import numpy as np
import pytest

from disco.hidden import conditionals as c
from disco.hidden.linear_columns import LEVELS, columns_of

ROWS = 300


@pytest.fixture(scope="module")
def seen():
    random = np.random.default_rng(0)
    first = random.poisson(3, ROWS)
    columns = columns_of(np.column_stack([first, random.poisson(1 + first), random.poisson(0.4, ROWS)]))
    return c.Seen(columns.values, columns.codes, columns.scores)


def laws(nodes):
    bases = np.full((2, nodes, LEVELS), -np.log(LEVELS))
    slopes = np.zeros((2, nodes, 2))
    slopes[:, :, 0] = 1
    return c.Laws(slopes, bases, np.zeros(nodes, dtype=np.int64), np.full((nodes, c.BINS, LEVELS), c.NEVER))


def means_of(random, points, following):
    of_points = random.normal(0, 0.5, (points, 3)) * following
    weights = random.dirichlet(np.ones(points), ROWS)
    return c.PointMeans(random.normal(0, 0.5, (ROWS, 3)), of_points, following, weights)


def bins(means):
    """Every row's and point's bin, (n, G, d)."""
    found = means.of_rows[:, None] + means.of_points
    return np.clip((found + 4) / 8 * c.BINS, 0, c.BINS - 1).astype(int)


def test_a_table_holds_every_row_once(seen):
    means = means_of(np.random.default_rng(1), 4, np.array([True, False, True]))
    tables = np.empty((3, c.BINS, LEVELS))
    c.cross_tables(seen, means, tables)
    assert tables.sum((1, 2)) == pytest.approx(ROWS, rel=1e-3)
    for node in (0, 1):
        direct = np.zeros((c.BINS, LEVELS))
        for point in range(4):
            np.add.at(direct, (bins(means)[:, point, node], seen.codes[:, node]), means.weights[:, point])
        assert tables[node] == pytest.approx(direct, abs=0.05)


def test_the_fitted_distributions_add_up_and_meet_the_table(seen):
    means = means_of(np.random.default_rng(2), 1, np.zeros(3, dtype=bool))
    tables, fitted = np.empty((3, c.BINS, LEVELS)), laws(3)
    c.cross_tables(seen, means, tables)
    for _ in range(5):
        c.fit_tables(tables, seen.scores, fitted)
    probabilities = np.exp(fitted.logs)
    assert probabilities.sum(2) == pytest.approx(1)
    for node in range(3):
        expected = tables[node].sum(1) @ probabilities[node]
        assert expected == pytest.approx(tables[node].sum(0), abs=1.0)  # the base shape: every level as often as seen
        statistic = seen.scores[fitted.chosen[node], node]
        middle = (np.arange(c.BINS) + 0.5) / c.BINS * 8 - 4
        residual = tables[node] @ statistic - tables[node].sum(1) * (probabilities[node] @ statistic)
        assert residual @ middle == pytest.approx(0, abs=1.0)  # the slope


def test_the_likelihood_is_the_sum_over_the_points(seen):
    random = np.random.default_rng(3)
    means = means_of(random, 5, np.array([True, True, False]))
    logs = np.log(random.dirichlet(np.ones(LEVELS), (3, c.BINS)))
    shares = random.dirichlet(np.ones(5))
    direct = np.log(shares) + sum(logs[node, bins(means)[:, :, node], seen.codes[:, [node]]] for node in range(3))
    total = c.expect(seen, means, logs, shares)
    assert total == pytest.approx(np.log(np.exp(direct).sum(1)).sum())
    assert means.weights == pytest.approx(np.exp(direct) / np.exp(direct).sum(1, keepdims=True))


def test_scoring_raises_the_likelihood_and_foretells_the_loss_without_a_column(seen):
    """The second node follows the first one: without its columns, twice the predicted loss is a Wald statistic."""
    functions, fitted, tables = np.zeros((1, 0)), laws(3), np.empty((3, c.BINS, LEVELS))
    means = c.PointMeans(np.zeros((ROWS, 3)), np.zeros((1, 3)), np.zeros(3, dtype=bool), np.ones((ROWS, 1)))
    parents = np.array([[-1, -1], [0, -1], [0, -1]])
    coefficients = c.Coefficients(parents, np.array([0, 1, 1]), np.zeros((3, 2)), np.full((3, 2), np.inf))
    totals = []
    for _ in range(8):
        c.cross_tables(seen, means, tables)
        c.fit_tables(tables, seen.scores, fitted)
        totals.append(c.expect(seen, means, fitted.logs, np.ones(1)))
        c.improve(seen, functions, means, fitted, coefficients)
    assert totals[-1] - totals[0] == pytest.approx(coefficients.losses[1, 0], rel=0.35)
    assert totals[-1] - totals[0] > 20 and coefficients.losses[2, 0] < 5
    assert np.isinf(coefficients.losses[0]).all()
