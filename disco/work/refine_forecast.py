"""The time of a refinement, from a screen of its table and a short trial on this machine.

With c candidate pairs that pass the screen, k = 2c / d of them per node, n rows, and p the pace of this machine
relative to the reference machine, the unit of time is

    u = p · c · √(k / 6) · (0.7 + 0.2 · n / 1000) milliseconds.

A bootstrap table takes about one u; the searches and the evidence together take about ten. Over 28 refinements of 5 to
200 columns and 500 to 8,000 rows, from independent columns to batting counts, a bootstrap table took 0.4 to 1.8 u. The
searches took 4 to 15 u, and once, with 13 of them, 50 u. Hence the range.
"""

import math
import time
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from disco.progress import Callback, Reporter
from disco.refine import Choice
from disco.runs import REFINE, Run
from disco.runs.refined import choice_from
from disco.settings import Settings
from disco.work.forecast import crowding, one_thread, torch_threads

_MOST_WORK = 5e7  # rows · nodes² of the largest table that is screened completely, in about a second
_FEWEST_ROWS = 200
_REFERENCE = 0.0034  # seconds of the trial on the reference machine
_DRAW = (0.4, 2.0)  # units per bootstrap table
_WHOLE = (4.0, 15.0)  # units per bootstrap table that is searched from scratch
_SEARCHES = 4.0, 1.5  # smallest number of units for all searches, and largest for each


@dataclass(frozen=True)
class Trial:
    """The quantities that determine a refinement's time.

    Attributes:
        rows, nodes: the table's shape.
        pairs: number of candidate pairs that pass the screen.
        pace: time of a fit on this machine, as a multiple of the reference machine's.
        threads: number of threads for a refinement.
    """

    rows: int
    nodes: int
    pairs: int
    pace: float
    threads: int

    @property
    def unit(self) -> float:
        """Approximate seconds per bootstrap table."""
        crowded = math.sqrt(max(self.pairs, 1) / (3 * self.nodes))
        return self.pace * max(self.pairs, 1) * crowded * (0.7 + 0.2 * self.rows / 1000) / 1000

    def seconds(self, choice: Choice) -> tuple[float, float]:
        """The shortest and the longest time of a refinement; the upper bound allows for the current load."""
        least, most = _WHOLE if choice.redone else _DRAW
        draws, searches = choice.bootstrap + choice.folds, choice.starts + choice.restarts
        low = self.unit * (_SEARCHES[0] + least * draws) / math.sqrt(self.threads)
        return low, self.unit * (_SEARCHES[1] * searches + most * draws) * crowding("cpu")


def trial(table: pd.DataFrame, settings: Settings, callback: Callback | None = None) -> Trial:
    """Screen a table, or as many rows as can be screened quickly, and measure this machine.

    Args:
        table: counts, one column per node.
        settings: their transform defines the levels.
        callback: returning False stops.

    Raises:
        InputError: the table cannot be used.
    """
    from disco.refine.screen import screen  # imports torch
    from disco.refine.task import Task

    rows, nodes = table.shape
    pace = _pace()
    most = max(_FEWEST_ROWS, int(_MOST_WORK / nodes**2))
    if rows > most:
        drawn = table.sample(most, random_state=0)
        table = drawn.loc[:, drawn.nunique() > 1]
    task = Task.of(table, Choice(), settings, None, None, None, "cpu")
    reporter = Reporter(callback, {"screen": 1.0}, "the estimate was stopped.")
    reporter.step("screen", 0, nodes)
    pairs = sum(map(len, screen(task.design, reporter=reporter))) // 2
    return Trial(rows, nodes, pairs, pace, torch_threads())


def expected(run: Run, callback: Callback | None = None) -> float:
    """The seconds of a run's queued refinement, the middle of their range.

    Raises:
        InputError: its table or its choice cannot be used.
    """
    low, high = trial(run.table(), run.settings, callback).seconds(choice_from(run.written_status(REFINE).choice))
    return math.sqrt(low * high)


@cache
def _pace() -> float:
    """Time of some fits, as a multiple of the reference machine's, from the fastest of three trials."""
    from disco.likelihood.batch import Problems  # imports torch
    from disco.likelihood.newton import fit
    from disco.refine.task import Task

    counts = pd.DataFrame(np.random.default_rng(0).poisson(3.0, (4000, 12))).add_prefix("x")
    design = Task.of(counts, Choice(), Settings(), None, None, None, "cpu").design
    problems = Problems.of([(node, [other for other in range(4) if other != node]) for node in range(12)])
    seconds = []
    with one_thread():
        for _ in range(4):  # the first may compile
            begun = time.thread_time()
            fit(design, problems)
            seconds.append(time.thread_time() - begun)
    return min(seconds) / _REFERENCE
