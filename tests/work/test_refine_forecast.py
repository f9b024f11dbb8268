"""How long a refinement will take: what the range depends on, and that small ones and their pairs are counted right."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from disco.errors import FitStopped
from disco.refine import Choice
from disco.settings import Settings
from disco.work import refine_forecast
from disco.work.refine_forecast import Trial, trial

QUICK, FULL = Choice(bootstrap=0, folds=0), Choice()
SMALL = Trial(rows=1000, nodes=10, pairs=20, pace=1.0, threads=1)


@pytest.fixture(autouse=True)
def idle(monkeypatch):
    monkeypatch.setattr(refine_forecast, "crowding", lambda device: 1.0)


def test_more_work_takes_longer():
    def middle(trial: Trial, choice: Choice = FULL) -> float:
        low, high = trial.seconds(choice)
        assert 0 < low < high
        return (low * high) ** 0.5

    more = [replace(SMALL, **one) for one in ({"rows": 9000}, {"pairs": 60}, {"pace": 2.0})]
    assert all(middle(one) > middle(SMALL) for one in more)
    choices = [QUICK, replace(QUICK, folds=3), FULL, replace(FULL, redone=True)]
    assert [middle(SMALL, one) for one in choices] == sorted(middle(SMALL, one) for one in choices)
    assert replace(SMALL, threads=4).seconds(FULL)[0] < SMALL.seconds(FULL)[0]


@pytest.mark.parametrize(
    ("rows", "nodes", "pairs", "choice", "seconds"),
    [
        # Processor seconds measured on the machine of the reference; they must lie in the range.
        (500, 5, 6, FULL, 0.23), (2000, 20, 105, FULL, 4.4), (8000, 20, 62, FULL, 5.2), (1000, 80, 350, FULL, 25.8),
        (5000, 40, 385, FULL, 80.2), (5975, 25, 194, FULL, 77.8), (1400, 17, 100, FULL, 9.3),
        (2000, 20, 105, QUICK, 0.7), (500, 200, 305, QUICK, 2.3), (5000, 50, 169, QUICK, 1.24),
        (5975, 25, 194, QUICK, 15.4),
    ],
)  # fmt: skip # a table
def test_the_range_holds_what_was_measured(rows, nodes, pairs, choice, seconds):
    low, high = Trial(rows, nodes, pairs, 1.0, 1).seconds(choice)
    assert low <= seconds <= high and high <= 15 * low


@pytest.mark.parametrize(
    ("rows", "nodes", "pairs", "seconds"),
    [
        # Processor seconds of quick looks at real tables, on a machine that is 2.4 times slower.
        (178, 13, 36, 1.8),  # wine, tenths
        (6366, 9, 34, 2.5),  # fair, halves
        (5975, 24, 184, 32.6),  # portal
        (569, 30, 242, 31.2),  # breast cancer, 20 levels
        (1797, 58, 760, 544.4),  # digits
    ],
)
def test_the_range_holds_real_tables(rows, nodes, pairs, seconds):
    low, high = Trial(rows, nodes, pairs, 2.4, 1).seconds(QUICK)
    assert low <= seconds <= high
    if seconds > 2:
        assert seconds / 3 <= (low * high) ** 0.5 <= 3 * seconds


def test_a_single_search_has_a_range():
    low, high = SMALL.seconds(Choice(starts=1, restarts=0, bootstrap=0, folds=0))
    assert 0 < low < high < SMALL.seconds(QUICK)[1]


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
    monkeypatch.setattr(refine_forecast, "_MOST_WORK", 300 * 36)
    part = trial(table, Settings())
    assert part.rows == 1500 and 5 <= part.pairs <= 15
    with pytest.raises(FitStopped):
        trial(table, Settings(), lambda event: False)
