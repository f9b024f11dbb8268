"""The time of a refinement, from a screen of its table and a short trial on this machine, and a first graph.

Let d be the number of columns, n that of rows, L the mean number of levels of a column, e the edges per node of a first
graph of linear models, and p the pace of this machine relative to the reference machine. 20 searches with the evidence
take about

    s = p · d · (15 + 20 e^2.2) · f,    f = 0.3 + 0.22 · n / 1000 + 0.012 · L milliseconds:

the number of fits, each of which takes longer with more rows and levels. In a denser graph each search makes more fits,
and more searches end in different graphs. About half of s is needed by any number of searches: the first search, the
prior and the evidence. With c candidate pairs that pass the screen, k = 2c / d of them per node, a bootstrap table
takes about u = 1.3 · √(k / 6) · p · c · f.

Of 49 real tables that took over two seconds, 37 took half to twice s, and all but one a quarter to four times;
simulated tables, whose graph is found sooner, took a sixth of s to three fifths
(benchmarks/log/2026-11-28-foretold-times.md). Hence a range of a factor of two to either side.
"""

import math
import threading
import time
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from disco.knowledge import Knowledge
from disco.paper.settings import Settings
from disco.progress import Callback, Reporter, Sketch
from disco.refine import Choice, duration
from disco.runs import Run
from disco.subjects.fit.forecast import crowding
from disco.system import threads
from disco.table.prepared import Prepared, Table, prepare
from disco.table.roles import Given

_MOST_WORK = 2e9  # rows · nodes · (nodes + 1000) of the largest table screened completely, in about two seconds
_FEWEST_ROWS = 200
_REFERENCE = 0.0053  # seconds of the trial on the reference machine
_SPREAD = 2.0  # factor to either side
_USUAL = 20  # searches of the usual choice
_BEGIN = 0.25  # seconds on the reference machine before and after all fits
_measuring = threading.Lock()


@dataclass(frozen=True)
class Trial:
    """The quantities that determine a refinement's time.

    Attributes:
        rows, nodes: the table's shape.
        pairs: number of candidate pairs that pass the screen.
        edges: number of edges of the first graph.
        levels: mean number of a column's levels.
        pace: time of a fit on this machine, as a multiple of the reference machine's.
        threads: number of threads for a refinement.
        graph: a graph of linear models, the first to be seen.
    """

    rows: int
    nodes: int
    pairs: int
    edges: int
    levels: float
    pace: float
    threads: int
    graph: Sketch = Sketch((), ())

    @property
    def bytes(self) -> int:
        """About the memory of a refinement, without the libraries."""
        return duration.peak_bytes(self.rows, self.nodes, self.pairs)

    def range(self, choice: Choice) -> tuple[float, float]:
        """The shortest and the longest time of a refinement at the current load."""
        seconds = self.seconds(choice) * crowding("cpu")
        return seconds / _SPREAD, seconds * _SPREAD

    def seconds(self, choice: Choice) -> float:
        """About the time of a refinement on an idle machine."""
        pairs, draws = max(self.pairs, 1), choice.bootstrap + choice.folds
        searches = duration.of_searches(self.edges, self.nodes, self.rows, self.levels)
        searches *= (1 + (choice.starts + choice.restarts) / _USUAL) / 2
        local = 1.3 * math.sqrt(2 * pairs / self.nodes / 6) * pairs * duration.of_fit(self.rows, self.levels)
        draw = searches if choice.redone else local
        return self.pace * (searches + draw * draws + _BEGIN) / math.sqrt(self.threads)


def trial(
    table: Table,
    settings: Settings,
    roles: Given | None = None,
    knowledge: Knowledge | None = None,
    callback: Callback | None = None,
) -> Trial:
    """Screen a table, or as many rows as can be screened quickly, and measure this machine.

    Args:
        table, roles, knowledge: as in `disco.refine.refine`.
        settings: their transform defines the levels.
        callback: returning False stops.
    """
    from disco.linear.insertion import first_graph  # these import numba
    from disco.refine.screen import correlations, screen
    from disco.refine.task import Task

    prepared = prepare(table, roles)
    (rows, nodes), pace = prepared.counts.shape, _pace()
    most_rows = max(_FEWEST_ROWS, int(_MOST_WORK / nodes / (nodes + 1000)))
    sample = (
        prepared
        if rows <= most_rows
        else prepared.take(np.sort(np.random.default_rng(0).permutation(rows)[:most_rows]))
    )
    counts = sample.counts.loc[:, sample.counts.nunique() > 1]
    rules = knowledge if counts.shape[1] == nodes else None  # it may name a column that is constant in these rows
    task = Task.of(Prepared(counts, sample.adjustment), Choice(), settings, knowledge=rules)
    reporter = Reporter(callback, {"screen": 1.0}, "the estimate was stopped.")
    reporter.step("screen", 0, nodes)
    pairs = screen(task.design, rules=task.rules, reporter=reporter)
    graph = first_graph(correlations(task.design), task.design.rows, pairs, Choice().seed, reporter).named(task.names)
    order = [*graph.order, *(name for name in prepared.counts if name not in counts)]
    return Trial(
        rows=rows,
        nodes=nodes,
        pairs=sum(map(len, pairs)) // 2,
        edges=len(graph.edges),
        levels=float(1 + task.design.ranks.max(0).mean()),
        pace=pace,
        threads=threads(),
        graph=graph._replace(order=order),
    )


def of_run(run: Run, callback: Callback | None = None) -> Trial:
    """The trial of a run's table."""
    return trial(run.prepared(), run.settings, knowledge=run.knowledge(), callback=callback)


def _pace() -> float:
    """Time of some fits, as a multiple of the reference machine's, measured by the first of all threads that ask."""
    with _measuring:
        return _measured()


@cache
def _measured() -> float:
    """The same from the fastest of three trials, one fit after the other, which takes one thread."""
    from disco.likelihood.batch import Problems  # imports the compiler
    from disco.likelihood.newton import fit
    from disco.refine.task import Task

    counts = pd.DataFrame(np.random.default_rng(0).poisson(3.0, (4000, 12))).add_prefix("x")
    design = Task.of(Prepared(counts), Choice(), Settings()).design
    problems = [Problems.of([(node, [parent for parent in range(4) if parent != node])]) for node in range(12)]
    seconds = []
    for _ in range(4):  # the first may compile
        begun = time.thread_time()
        for problem in problems:
            fit(design, problem)
        seconds.append(time.thread_time() - begun)
    return min(seconds) / _REFERENCE
