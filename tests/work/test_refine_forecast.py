"""How long a refinement will take: what the range depends on, and that small ones and their pairs are counted right."""

import json
import threading
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from disco.errors import FitStopped
from disco.knowledge import Knowledge
from disco.likelihood import newton
from disco.paper.settings import Settings
from disco.refine import QUICK, Choice
from disco.subjects.refinement import refine_forecast
from disco.subjects.refinement.refine_forecast import Trial, trial

FULL = Choice()
FORETOLD = Path(__file__).parents[2] / "benchmarks" / "results" / "foretold.jsonl"
SMALL = Trial(rows=1000, nodes=10, pairs=20, edges=12, levels=10.0, pace=1.0, threads=1)


@pytest.fixture(autouse=True)
def idle(monkeypatch):
    monkeypatch.setattr(refine_forecast, "crowding", lambda device: 1.0)


def test_more_work_takes_longer():
    changes = ({"rows": 9000}, {"pairs": 60}, {"edges": 40}, {"levels": 99.0}, {"pace": 2.0})
    more = [replace(SMALL, **one) for one in changes]
    assert all(one.seconds(FULL) > SMALL.seconds(FULL) for one in more)
    single = Choice(starts=1, restarts=0, bootstrap=0, folds=0)
    choices = [single, QUICK, replace(QUICK, folds=3), FULL, replace(FULL, redone=True)]
    seconds = [SMALL.seconds(one) for one in choices]
    assert seconds == sorted(seconds) and seconds[0] > 0
    assert replace(SMALL, threads=4).seconds(FULL) < SMALL.seconds(FULL)


def test_the_range_is_a_factor_of_two_and_follows_the_load(monkeypatch):
    low, high = SMALL.range(FULL)
    assert (2 * low, high / 2) == pytest.approx((SMALL.seconds(FULL),) * 2)
    monkeypatch.setattr(refine_forecast, "crowding", lambda device: 3.0)
    assert SMALL.range(FULL) == pytest.approx((3 * low, 3 * high))


def test_most_real_tables_take_a_time_in_the_range():
    """Of the lines of the log's entry *How long a refinement will take* of November 28."""
    lines = [json.loads(line) for line in FORETOLD.read_text(encoding="utf-8").splitlines()]
    real = [line for line in lines if line["took"] > 2 and not line["table"].startswith("simulated")]
    known = [{name: line[name] for name in ("rows", "nodes", "pairs", "edges", "levels", "pace")} for line in real]
    estimates = [Trial(**values, threads=1).seconds(QUICK) for values in known]
    ratios = np.array(estimates) / [line["took"] for line in real]
    assert len(real) > 40 and (np.abs(np.log(ratios)) < np.log(2)).mean() > 0.7
    assert (np.abs(np.log(ratios)) < np.log(4)).mean() > 0.95 and 0.8 < np.median(ratios) < 1.25


def chain(rows: int, nodes: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = {"x0": rng.poisson(3.0, rows)}
    for node in range(1, nodes):
        table[f"x{node}"] = rng.poisson(0.3 + table[f"x{node - 1}"])
    return pd.DataFrame(table)


def test_the_trial_counts_the_pairs_of_the_screen_also_on_a_part_of_the_rows(monkeypatch):
    table = chain(1500, 6)
    found = trial(table, Settings())
    assert (found.rows, found.nodes) == (1500, 6) and 5 <= found.pairs <= 15 and found.pace > 0
    monkeypatch.setattr(refine_forecast, "_MOST_WORK", 300 * 6 * 1006)
    part = trial(table, Settings())
    assert part.rows == 1500 and 5 <= part.pairs <= 15
    for one in (found, part):
        joined = {frozenset(pair[:2]) for pair in one.graph.edges}
        assert joined >= {frozenset({f"x{node}", f"x{node + 1}"}) for node in range(3)}
        assert sorted(one.graph.order) == list(table)
    rare = table.assign(rare=np.arange(1500) == 7).astype(int)
    assert trial(rare, Settings()).graph.order[-1] == "rare"  # constant in the rows drawn
    with pytest.raises(FitStopped):
        trial(table, Settings(), callback=lambda event: False)


def test_the_machine_is_measured_once_also_where_many_pages_ask_together(monkeypatch):
    fits, go_on = [], threading.Barrier(3)

    def fit(design, problems):
        fits.append(problems)
        time.sleep(0.01)

    def ask() -> None:
        go_on.wait(60)
        refine_forecast._pace()

    monkeypatch.setattr(newton, "fit", fit)
    monkeypatch.setattr(refine_forecast, "_measured", cache(refine_forecast._measured.__wrapped__))
    asking = [threading.Thread(target=ask) for _ in range(3)]
    for one in asking:
        one.start()
    for one in asking:
        one.join(60)
    assert len(fits) == 4 * 12


def test_the_trial_follows_roles_and_knowledge():
    table = chain(1500, 3).assign(depth=np.random.default_rng(1).integers(50, 100, 1500))
    rules = Knowledge(forbidden=[("x0", "x1"), ("x1", "x0")])
    found = trial(table, Settings(), {"depth": "exposure"}, rules)
    assert sorted(found.graph.order) == ["x0", "x1", "x2"] and found.nodes == 3
    assert {frozenset(pair[:2]) for pair in found.graph.edges} <= {frozenset({"x1", "x2"}), frozenset({"x0", "x2"})}
    assert ("x1", "x2") in {tuple(sorted(pair[:2])) for pair in found.graph.edges}
