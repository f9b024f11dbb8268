"""Effects: how often 90 % intervals hold the exact effect, beside DoWhy, which is given the true graph.

    python -m benchmarks.effects                          # what results/effects.jsonl lacks
    python -m benchmarks.effects --only "d = 10" --methods refined --seeds 0 --results /tmp/trial.jsonl
    python -m benchmarks.effects --summary                # of the existing lines

One line per table and method: counts of its effects. The exact ones are means of 100,000 rows drawn from the design
with a node set (`disco.simulate.do`). *refined* averages over the graphs that the refinement leaves, *true graph* is
the same with the true one given, *dowhy* is DoWhy's linear regression with the true graph given. Seconds are those of
the processor.
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd

from benchmarks.experiments import kept
from benchmarks.paper_results import append_line
from disco.effects.answers import Answer, Case, Effect
from disco.effects.drivers import drivers
from disco.effects.effect import effect
from disco.effects.fitted import FittedGraphs
from disco.errors import InputError
from disco.refine import Choice, refine
from disco.refine.fitted_graphs import fitted_graphs
from disco.simulate import Design, Simulated, do, simulate

RESULTS = Path(__file__).parent / "results" / "effects.jsonl"
FAMILIES = {
    "Poisson": "poisson-softplus",
    "NB": "nb-softplus",
    "binomial": "binomial-sigmoid",
    "mixed": "poisson-softplus,nb-softplus,binomial-sigmoid",
}
SIZES = (10, 20, 50)
METHODS = ("refined", "true graph", "dowhy")
SEEDS = 10
_ROWS, _EXACT = 2000, 100_000
_PAIRS, _NULLS = 20, 5  # effects along a path, and pairs without one, per table
_SURE = 3.0  # standard errors of the exact effect by which it must differ from 0, to have a sign
_CHOICE = Choice(folds=0)

Line = dict[str, Any]
Ends = tuple[float, float, float]  # of an interval: estimate, low, high

CASES = {f"{name}, d = {size}": (family, size) for name, family in FAMILIES.items() for size in SIZES}


class Asked(NamedTuple):
    """A question with its exact answer: the difference of the means, and its standard error."""

    cause: str
    outcome: str
    low: int
    high: int
    exact: float
    error: float


class Told(NamedTuple):
    """An answer: the intervals of its cases, a single one if no open direction decides, and its seconds."""

    intervals: list[Ends]
    seconds: float


@lru_cache(1)
def drawn(case: str, seed: int) -> Simulated:
    """The table of a case."""
    family, size = CASES[case]
    return simulate(Design(nodes=size, k=2, rows=_ROWS, family=family, seed=seed))


@lru_cache(1)
def asked(case: str, seed: int) -> list[Asked]:
    """Random effects from the 10 % to the 90 % quantile of a node, along a path and without one."""
    made = drawn(case, seed)
    graph = nx.DiGraph(list(made.truth[["parent", "child"]].itertuples(index=False, name=None)))
    graph.add_nodes_from(made.table.columns)
    random, names = np.random.default_rng([seed, 3]), list(made.table.columns)
    pairs = [(names[a], names[b]) for a, b in random.permutation(list(np.ndindex(len(names), len(names)))) if a != b]
    below = {name: nx.descendants(graph, name) for name in names}
    wanted = [pair for pair in pairs if pair[1] in below[pair[0]]][:_PAIRS]
    wanted += [pair for pair in pairs if pair[1] not in below[pair[0]]][:_NULLS]
    found = []
    for cause, outcome in wanted:
        low, high = (int(made.table[cause].quantile(share, interpolation="lower")) for share in (0.1, 0.9))
        if low == high:
            continue
        exact = error = 0.0
        if outcome in below[cause]:
            either = [do(made.design, {cause: value}, _EXACT)[outcome] for value in (high, low)]
            exact = float(either[0].mean() - either[1].mean())
            error = float((either[0] - either[1]).std() / math.sqrt(_EXACT))
        found.append(Asked(cause, outcome, low, high, exact, error))
    return found


def measure(case: str, method: str, seed: int) -> Line:
    """The counts of one method's answers on one table."""
    made = drawn(case, seed)
    began = time.process_time()
    answer, fitted = _dowhy(made), None
    if method != "dowhy":
        fitted = _fitted(made, method)
        answer = _ours(fitted)
    ready = time.process_time() - began
    found = [(question, answer(question)) for question in asked(case, seed)]
    line = {"case": case, "method": method, "seed": seed, "ready": round(ready, 2), **counted(found)}
    if fitted is not None:
        began = time.process_time()
        drivers(fitted, made.order[-1])
        line["every"] = round(time.process_time() - began, 2)
    return line


def _fitted(made: Simulated, method: str) -> FittedGraphs:
    if method == "refined":
        return fitted_graphs(refine(made.table, _CHOICE), made.table)
    graph = nx.DiGraph(list(made.truth[["parent", "child"]].itertuples(index=False, name=None)))
    return FittedGraphs.of_dag(graph, made.table)


def _ours(fitted: FittedGraphs) -> Callable[[Asked], Told]:
    def answer(question: Asked) -> Told:
        began = time.process_time()
        try:
            found = effect(fitted, question.outcome, {question.cause: question.high}, {question.cause: question.low})
        except InputError:  # the outcome comes first in every graph: no effect
            return Told([(0.0, 0.0, 0.0)], time.process_time() - began)
        parts: list[Effect | Case] = [*found.cases] or [found]
        answers: list[Answer] = [part.answer if isinstance(part, Case) else part.total for part in parts]
        return Told([tuple(one.difference) for one in answers], time.process_time() - began)

    return answer


def _dowhy(made: Simulated) -> Callable[[Asked], Told]:
    graph = nx.DiGraph(list(made.truth[["parent", "child"]].itertuples(index=False, name=None)))
    graph.add_nodes_from(made.table.columns)

    def answer(question: Asked) -> Told:
        from dowhy import CausalModel

        began = time.process_time()
        if question.outcome not in nx.descendants(graph, question.cause):
            return Told([(0.0, 0.0, 0.0)], 0.0)  # the graph says so
        model = CausalModel(made.table, question.cause, question.outcome, graph=graph)
        estimand = model.identify_effect(proceed_when_unidentifiable=True, method_name="maximal-adjustment")
        found = model.estimate_effect(
            estimand,
            "backdoor.linear_regression",
            control_value=question.low,
            treatment_value=question.high,
            test_significance=False,
            effect_modifiers=[],
        )
        low, high = np.ravel(found.get_confidence_intervals(confidence_level=0.9)).astype(float)
        return Told([(float(found.value), low, high)], time.process_time() - began)

    return answer


def counted(found: list[tuple[Asked, Told]]) -> Line:
    """Counts and sums over effects: those answered by one number, by cases, with a sign; and errors."""
    line = {name: 0 for name in ("single", "held", "cases", "listed", "signed", "right", "nulls", "false")}
    errors, seconds = [], []
    for question, told in found:
        holds = any(low <= question.exact <= high for _, low, high in told.intervals)
        seconds.append(told.seconds)
        if not question.error:  # no path
            line["nulls"] += 1
            line["false"] += not holds
            continue
        kind, held = ("single", "held") if len(told.intervals) == 1 else ("cases", "listed")
        line[kind] += 1
        line[held] += holds
        estimate, low, high = told.intervals[0]
        if kind == "single" and (low > 0 or high < 0) and abs(question.exact) > _SURE * question.error:
            line["signed"] += 1
            line["right"] += (estimate > 0) == (question.exact > 0)
        nearest = min((one[0] for one in told.intervals), key=lambda value: abs(value - question.exact))
        if kind == "single" and abs(question.exact) > _SURE * question.error:
            errors.append(abs(nearest / question.exact - 1))
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


def table(found: Iterable[Line]) -> str:
    """Markdown: one row per case and method."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in found:
        groups.setdefault((line["case"], line["method"]), []).append(line)
    places = {name: place for place, name in enumerate((*CASES, *METHODS))}
    grid: list[tuple[str, ...]] = [HEAD, ("---",) * len(HEAD)]
    for (case, method), group in sorted(groups.items(), key=lambda item: [places.get(name, 999) for name in item[0]]):
        grid.append((case, method, str(len(group)), *_cells(group)))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in grid)


def _cells(group: list[Line]) -> tuple[str, ...]:
    sums = pd.DataFrame(group)[["single", "held", "cases", "listed", "signed", "right", "nulls", "false"]].sum()
    pairs = [("single", "held"), ("cases", "listed"), ("signed", "right"), ("nulls", "false")]
    shares = [(str(sums[whole]), f"{sums[part] / sums[whole]:.1%}" if sums[whole] else "") for whole, part in pairs]
    errors = [line["error"] for line in group if line["error"] is not None]
    usual, slowest = statistics.median(line["usual"] for line in group), max(line["seconds"] for line in group)
    every = [line["every"] for line in group if "every" in line]
    return (
        *(cell for pair in shares for cell in pair),
        f"{statistics.median(errors):.1%}" if errors else "",
        f"{usual:.2f}",
        f"{slowest:.2f}",
        f"{max(every):.1f}" if every else "",
    )


def section(path: Path = RESULTS) -> str:
    """The table of a file's lines, as a file of benchmarks/paper/."""
    found = list(kept(path).values())
    return "\n\n".join([SECTION.strip(), table(found) if found else "Not run yet."])


def jobs(names: Iterable[str], methods: Iterable[str], seeds: Iterable[int]) -> Iterator[tuple[str, str, int]]:
    """Every line: case, method, seed."""
    for seed in seeds:
        for name in names:
            yield from ((name, method, seed) for method in methods)


def main(arguments: list[str] | None = None) -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], help="only cases whose names have one of these in them")
    parser.add_argument("--methods", nargs="+", default=METHODS, help="only these methods")
    parser.add_argument("--seeds", type=int, nargs="+", default=range(SEEDS), help="only these seeds")
    parser.add_argument("--again", action="store_true", help="also what has a line")
    parser.add_argument("--summary", action="store_true", help="run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    names = [name for name in CASES if not options.only or any(part in name for part in options.only)]
    done = {} if options.again else kept(options.results)
    for job in () if options.summary else jobs(names, options.methods, options.seeds):
        if job not in done:
            append_line(options.results, measure(*job))
            print(*job, sep=", ", flush=True)
    print(table(line for line in kept(options.results).values() if line["case"] in names))


if __name__ == "__main__":
    main()
