"""Tables of many rows: searched on a part of them, with the gains of all."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from disco.paper.settings import Settings
from disco.refine import Choice, duration, refine, task
from disco.refine.bounds import MOST_ROWS
from disco.refine.task import searched_rows

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "many-columns.jsonl"
QUICK = Choice(bootstrap=0, folds=0)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    first = rng.poisson(2.0, 4000)
    second = rng.poisson(0.5 + first)
    return pd.DataFrame({"a": first, "b": second, "c": rng.poisson(1 + second / 2), "rare": np.arange(4000) % 990 == 5})


def few(monkeypatch, rows=1000):
    monkeypatch.setattr(task, "MOST_ROWS", rows)


def test_the_rows_are_spread_over_the_totals_and_keep_rare_values(table, monkeypatch):
    assert searched_rows(table.to_numpy()) is None
    few(monkeypatch)
    rows = searched_rows(table.to_numpy())
    assert 1000 <= len(rows) <= 1005 and (np.diff(rows) > 0).all()
    assert table["rare"].iloc[rows].sum() == table["rare"].sum()  # fewer than 20
    total = table.drop(columns="rare").sum(axis=1)
    assert np.allclose(*(part.quantile([0.1, 0.5, 0.9]) for part in (total, total.iloc[rows])), atol=1)


def test_the_gains_are_those_of_all_rows_and_the_directions_those_of_the_part(table, monkeypatch):
    counts = table.drop(columns="rare")
    whole = refine(counts, QUICK)
    few(monkeypatch)
    part = refine(counts, QUICK)
    both = [one.edges.set_index(["parent", "child"]) for one in (whole, part)]
    assert sorted(both[0].index) == sorted(both[1].index) and len(both[0]) == 2
    ratio = both[1]["log_likelihood_nats"] / both[0]["log_likelihood_nats"]
    assert ratio.tolist() == pytest.approx([1, 1], abs=0.02)  # but for the prior, which is fitted to the part
    assert "Searched on 1,000 of 4,000 rows" in part.notes[0] and "are those of all rows" in part.notes[0]
    assert (both[1]["direction_nats"] < 0.6 * both[0]["direction_nats"]).all()
    assert not any("Searched on" in note for note in whole.notes)


def test_with_an_adjustment_the_gains_are_those_of_the_rows_searched(table, monkeypatch):
    few(monkeypatch)
    counts = table.drop(columns="rare").assign(depth=np.random.default_rng(1).integers(50, 100, 4000))
    found = refine(counts, QUICK, settings=Settings(), roles={"depth": "exposure"})
    assert "are those of those rows" in found.notes[0]


def test_the_foretold_time_is_that_of_the_rows_searched():
    part, whole = (duration.of_searches(60, 20, rows) for rows in (MOST_ROWS, 30 * MOST_ROWS))
    assert part < whole < 5 * part


def test_the_foretold_memory_is_one_to_two_times_that_measured():
    for line in map(json.loads, RESULTS.read_text().splitlines()):
        measured = (line["peak_mb"] - line["before_mb"]) * 2**20
        assert measured < duration.peak_bytes(2000, line["nodes"]) < 2 * measured, line["nodes"]


@pytest.mark.parametrize(
    ("rows", "nodes", "pairs", "measured"),
    [(600, 40, 256, 46), (600, 100, 1152, 211), (600, 200, 3386, 634), (1797, 61, 758, 555), (4000, 100, 2020, 1650)],
)
def test_the_foretold_memory_of_real_tables_is_one_to_three_times_that_measured(rows, nodes, pairs, measured):
    """MB, of word counts and digits (benchmarks/log/2026-11-28-memory-of-real-tables.md)."""
    assert measured < duration.peak_bytes(rows, nodes, pairs) / 1e6 < 3 * measured
