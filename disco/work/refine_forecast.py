"""The time of a refinement, from a screen of its table and a short trial on this machine.

With c candidate pairs that pass the screen, k = 2c / d of them per node, n rows, and p the pace of this machine
relative to the reference machine, a fit of every pair takes about

    f = p · c · (0.7 + 0.2 · n / 1000) milliseconds.

A bootstrap table takes about u = √(k / 6) · f, and 20 searches with the evidence about s = (3 + 0.22 k²) · f: where
more columns are related, each search makes more fits, and more searches end in different graphs. Over 28 refinements
of 5 to 200 columns and 500 to 8,000 rows, from independent columns to batting counts, a bootstrap table took 0.4 to
1.8 u. The searches of five real tables took 0.7 to 1.8 s, those of simulated tables 0.2 to 2 s. Hence the range.
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
_FEWEST, _USUAL = 4, 20  # searches: of the shortest refinement with the usual choice, and of the usual choice
_SEARCHES = 0.2, 2.2  # times s
_BEGIN = 0.5  # seconds on the reference machine before and after all fits, at most


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

    def seconds(self, choice: Choice) -> tuple[float, float]:
        """The shortest and the longest time of a refinement; the upper bound allows for the current load."""
        pairs, draws = max(self.pairs, 1), choice.bootstrap + choice.folds
        degree, searches = 2 * pairs / self.nodes, choice.starts + choice.restarts
        fits = self.pace * pairs * (0.7 + 0.2 * self.rows / 1000) / 1000
        draw, search = math.sqrt(degree / 6) * fits, (3 + 0.22 * degree**2) * fits
        low = _SEARCHES[0] * search * min(searches / _FEWEST, 1)
        high = _SEARCHES[1] * search * searches / _USUAL
        least, most = (low, high) if choice.redone else (_DRAW[0] * draw, _DRAW[1] * draw)
        longest = high + most * draws + _BEGIN * self.pace
        return (low + least * draws) / math.sqrt(self.threads), longest * crowding("cpu")


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
