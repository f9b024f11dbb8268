"""Counts behind normalised values: restored to the cell, or not at all."""

from collections.abc import Callable

import numpy as np
import pytest

from disco.table.formats.normalised import Restored, restored

Table = np.ndarray


def counts(rows: int, columns: int, mean: float, seed: int) -> Table:
    """Negative binomial counts, columns of different means and rows of different depth."""
    rng = np.random.default_rng(seed)
    means = mean * rng.lognormal(0, 1, columns) * rng.lognormal(0, 0.4, (rows, 1))
    return rng.poisson(means * rng.gamma(1, 1, (rows, columns))).astype(float)


def per(total: float) -> Callable[[Table], Table]:
    return lambda table: table / np.maximum(table.sum(axis=1, keepdims=True), 1) * total


def behind(values: Table) -> Restored | str:
    there = values != 0
    return restored(values[there], np.concatenate([[0], np.cumsum(there.sum(axis=1))]))


SHAPES = [(300, 30, 5), (200, 40, 60), (80, 60, 800), (150, 500, 0.3), (20, 400, 200)]
SCALES = {
    "counts per 1,000,000 in each row": per(1e6),
    "log(1 + x) of counts per 10,000 in each row": lambda table: np.log1p(per(1e4)(table)).astype(np.float32),
    "log2(1 + x) of counts per 1,000,000 in each row": lambda table: np.log2(1 + per(1e6)(table)),
    "shares of the row's total": per(1),
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("shape", SHAPES)
def test_counts_are_restored_to_the_cell(shape, scale):
    table = counts(*shape, seed=1)
    values = SCALES[scale](table).astype(float)
    result = behind(values)
    assert isinstance(result, Restored) and result.scale == scale
    assert result.residual < 1e-6 and not len(result.open_rows)
    assert (result.counts == table[values != 0]).all()


def test_a_scale_of_each_row_is_found_although_some_columns_were_left_out():
    table = counts(200, 400, 3, seed=2)
    values = np.log1p(per(1e4)(table))[:, :60]
    result = behind(values)
    assert isinstance(result, Restored) and result.scale == "log(1 + x) of counts divided by a number for each row"
    assert (result.counts == table[:, :60][values != 0]).all()


def lost() -> dict[str, Table]:
    """Tables of which no counts can be restored."""
    rng, table = np.random.default_rng(3), counts(200, 30, 20, seed=3)
    logs, shape = np.log1p(per(1e4)(table)), table.shape
    lengths = rng.uniform(0.3, 5, 30)
    estimated = table + rng.uniform(0, 1, shape) * (rng.random(shape) < 0.3) * (table > 0)
    return {
        "centred": logs - logs.mean(axis=0),
        "standardised": (logs - logs.mean(axis=0)) / logs.std(axis=0),
        "rounded": np.round(logs, 4),
        "rounded per million": np.round(per(1e6)(table), 2),
        "many rounded per million": np.round(per(1e6)(counts(60, 400, 900, seed=7) / rng.uniform(0.3, 5, 400)), 2),
        "percentages of one decimal": np.round(per(100)(table), 1),
        "six digits": np.vectorize(lambda value: float(f"{value:.6g}"))(logs),
        "transcripts per million": per(1e6)(table / lengths),
        "smoothed": logs @ (0.9 * np.eye(30) + 0.1 / 30),
        "corrected": np.maximum(logs + 0.01 * rng.normal(size=30), 0) * (table > 0),
        "estimated": np.round(estimated, 3),
        "estimated per million": per(1e6)(estimated),
        "roots": np.sqrt(table),
        "Anscombe": 2 * np.sqrt(table + 3 / 8),
        "logs with a prior": np.log2((table + 0.5) / (table.sum(axis=1, keepdims=True) + 1) * 1e6),
        "log ratios": np.log(table + 1) - np.log(table + 1).mean(axis=1, keepdims=True),
        "quantiles": np.sort(logs, axis=1).mean(axis=0)[np.argsort(np.argsort(table, axis=1), axis=1)],
        "measured": rng.gamma(2, 1, shape),
        "measured with one decimal": rng.integers(1, 80, shape) / 10,
        "one amount in each row": np.eye(30)[rng.integers(0, 30, 200)] * rng.gamma(2, 1, (200, 1)),
        "a fraction among counts": np.where(np.arange(table.size).reshape(shape) == 35, 1 / 3, table),
        "two columns": per(1e6)(table[:, :2]),
        "missing": np.where(rng.random(shape) < 0.01, np.nan, logs),
    }


@pytest.mark.parametrize("case", lost())
def test_what_was_changed_otherwise_is_not_restored(case):
    assert isinstance(behind(lost()[case]), str)


def test_rows_of_few_values_are_open_if_they_are_few():
    table = counts(200, 40, 20, seed=4)
    table[:5, 2:] = 0
    table[:5, :2] = [2, 4]  # which look like 1 and 2
    result = behind(per(1e4)(table))
    assert isinstance(result, Restored) and [*result.open_rows] == [0, 1, 2, 3, 4]
    assert (result.counts[10:] == table[5:][table[5:] != 0]).all() and not result.counts[:10].any()
    table[:50, 2:] = 0
    table[:50, :2] = [2, 4]
    assert "too few in 50 rows" in behind(per(1e4)(table))


def test_shares_of_one_total_are_no_decimals_of_a_measure():
    rng = np.random.default_rng(5)
    table = np.array([rng.multinomial(1000, rng.dirichlet(np.ones(30))) for _ in range(100)]).astype(float)
    result = behind(per(1)(table))
    assert isinstance(result, Restored) and (result.counts == table[table != 0]).all()
