"""Effects: how often 90 % intervals hold the exact effect, beside DoWhy, which is given the true graph.

    python -m benchmarks.effects                          # what results/effects.jsonl lacks
    python -m benchmarks.effects --only "d = 10, refined, seed 0" --results /tmp/trial.jsonl
    python -m benchmarks.effects --summary                # of the existing lines

One line per table and method: counts of its effects. The exact ones are means of 100,000 rows drawn from the design
with a node set (`disco.simulate.do`). *refined* averages over the graphs compatible with the refinement, *true graph*
is the same with the true one given, *dowhy* is DoWhy's linear regression with the true graph given (its lines are from
commit 327893a2). Seconds are those of the processor.
"""

import math
import statistics
import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import networkx as nx
import numpy as np

from benchmarks.study import COUNTS, Line, Study, grouped, markdown, share, timed, total
from disco.effects.drivers import drivers
from disco.effects.effect import effect
from disco.effects.effect_records import Case
from disco.effects.graph_fits import FittedGraphs
from disco.errors import InputError
from disco.refine import Choice, refine
from disco.refine.fitted_graphs import fitted_graphs
from disco.simulate import Design, Simulated, do, simulate

FAMILIES = {**COUNTS, "mixed": ",".join(COUNTS.values())}
SIZES = (10, 20, 50)
METHODS = ("refined", "true graph")
SEEDS = 10
_ROWS, _EXACT = 2000, 100_000
_PAIRS, _NULLS = 20, 5  # effects along a path, and pairs without one, per table
_SURE = 3.0  # standard errors of the exact effect by which it must differ from 0, to have a sign

Interval = tuple[float, float, float]  # estimate, low, high

CASES = {f"{name}, d = {size}": (family, size) for name, family in FAMILIES.items() for size in SIZES}


class Question(NamedTuple):
    """A question with its exact answer: the difference of the means, and its standard error."""

    cause: str
    outcome: str
    low: int
    high: int
    exact: float
    error: float


class Answer(NamedTuple):
    """The intervals of all cases, a single one if no open direction decides, and the seconds."""

    intervals: list[Interval]
    seconds: float


@lru_cache(1)
def draw(case: str, seed: int) -> tuple[Simulated, nx.DiGraph]:
    """The table of a case, and its true graph."""
    family, size = CASES[case]
    drawn = simulate(Design(nodes=size, k=2, rows=_ROWS, family=family, seed=seed))
    graph = nx.DiGraph(list(drawn.truth[["parent", "child"]].itertuples(index=False, name=None)))
    graph.add_nodes_from(drawn.table.columns)
    return drawn, graph


@lru_cache(1)
def questions(case: str, seed: int) -> list[Question]:
    """Random effects from the 10 % to the 90 % quantile of a node, along a path and without one."""
    drawn, graph = draw(case, seed)
    random, names = np.random.default_rng([seed, 3]), list(drawn.table.columns)
    pairs = [(names[a], names[b]) for a, b in random.permutation(list(np.ndindex(len(names), len(names)))) if a != b]
    below = {name: nx.descendants(graph, name) for name in names}
    chosen = [pair for pair in pairs if pair[1] in below[pair[0]]][:_PAIRS]
    chosen += [pair for pair in pairs if pair[1] not in below[pair[0]]][:_NULLS]
    selected = []
    for cause, outcome in chosen:
        low, high = (int(drawn.table[cause].quantile(at, interpolation="lower")) for at in (0.1, 0.9))
        if low == high:
            continue
        exact = error = 0.0
        if outcome in below[cause]:
            either = [do(drawn.design, {cause: value}, _EXACT)[outcome] for value in (high, low)]
            exact = float(either[0].mean() - either[1].mean())
            error = float((either[0] - either[1]).std() / math.sqrt(_EXACT))
        selected.append(Question(cause, outcome, low, high, exact, error))
    return selected


def measure(case: str, method: str, seed: int) -> Line:
    """The counts of one method's answers on one table."""
    drawn, graph = draw(case, seed)
    fitted, ready = timed(_fitted, drawn, graph, method, clock=time.process_time)
    answers = [(question, _answer(fitted, question)) for question in questions(case, seed)]
    every = timed(drivers, fitted, drawn.order[-1], clock=time.process_time)[1]
    return {"case": case, "method": method, "seed": seed, "ready": ready, **counted(answers), "every": every}


def _fitted(drawn: Simulated, graph: nx.DiGraph, method: str) -> FittedGraphs:
    if method == "refined":
        return fitted_graphs(refine(drawn.table, Choice(folds=0)), drawn.table)
    return FittedGraphs.of_dag(graph, drawn.table)


def _answer(fitted: FittedGraphs, question: Question) -> Answer:
    start = time.process_time()
    try:
        result = effect(fitted, question.outcome, {question.cause: question.high}, {question.cause: question.low})
    except InputError:  # the outcome comes first in every graph: no effect
        return Answer([(0.0, 0.0, 0.0)], time.process_time() - start)
    cases = [case.answer if isinstance(case, Case) else case.total for case in [*result.cases] or [result]]
    return Answer([tuple(case.difference) for case in cases], time.process_time() - start)


def counted(answers: list[tuple[Question, Answer]]) -> Line:
    """Counts and sums over effects: those answered by one number, by cases, with a sign; and errors."""
    line = {name: 0 for name in ("single", "held", "cases", "listed", "signed", "right", "nulls", "false")}
    errors, seconds = [], []
    for question, answer in answers:
        holds = any(low <= question.exact <= high for _, low, high in answer.intervals)
        seconds.append(answer.seconds)
        if not question.error:  # no path
            line["nulls"] += 1
            line["false"] += not holds
            continue
        is_single = len(answer.intervals) == 1
        line["single" if is_single else "cases"] += 1
        line["held" if is_single else "listed"] += holds
        if is_single and abs(question.exact) > _SURE * question.error:
            (estimate, low, high) = answer.intervals[0]
            if low > 0 or high < 0:
                line["signed"] += 1
                line["right"] += (estimate > 0) == (question.exact > 0)
            errors.append(abs(estimate / question.exact - 1))
    middle = round(statistics.median(errors), 4) if errors else None
    return {**line, "error": middle, "seconds": round(max(seconds), 3), "usual": round(statistics.median(seconds), 3)}


HEAD = ("case", "method", "tables", "single answers", "hold the effect", "by cases", "hold it", "signs", "right")
HEAD += ("no path", "effect claimed", "error", "seconds", "slowest", "all on one")
SECTION = """
# Effects

Not in the paper: effects of setting a node from its 10 % to its 90 % quantile, on ER2 graphs with 2,000 rows, beside
the exact ones (100,000 rows drawn from the design with the node set). Twenty random effects per table along a path,
five pairs without one. *Single answers* are those that no open direction decides; their 90 % intervals hold the exact
effect in the share beside it. A list of cases holds it if one of its intervals does. *Signs*: single answers whose
interval excludes none. *No path*: pairs without an effect, and those of them for which one is claimed. *Error*: median
of |estimate / exact − 1|. Processor seconds per effect, and for all effects on the last node. *Refined* is ours without
the graph, *true graph* ours with it given; DoWhy (linear regression) has it given too. `python -m benchmarks.effects`
"""


def table(measured: list[Line]) -> str:
    """Markdown: one row per case and method."""
    groups = grouped(measured, ("case", "method"), (*CASES, *METHODS, "dowhy"))
    return markdown(HEAD, [(*key, len(group), *_cells(group)) for key, group in groups.items()])


def _cells(group: list[Line]) -> Iterator[object]:
    for of, name in (("single", "held"), ("cases", "listed"), ("signed", "right"), ("nulls", "false")):
        yield total(group, of)
        yield share(total(group, name), total(group, of))
    errors = [line["error"] for line in group if line["error"] is not None]
    yield f"{statistics.median(errors):.1%}" if errors else ""
    yield f"{statistics.median(line['usual'] for line in group):.2f}"
    yield f"{max(line['seconds'] for line in group):.2f}"
    every = [line["every"] for line in group if "every" in line]
    yield f"{max(every):.1f}" if every else ""


JOBS = [(case, method, seed) for seed, case, method in product(range(SEEDS), CASES, METHODS)]  # a table's in a row
STUDY = Study("effects", ("case", "method", "seed"), lambda: JOBS, measure, table, SECTION)

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
