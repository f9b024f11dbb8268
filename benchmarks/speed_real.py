"""Times of refinements beside BOSS in the same run: real tables first, then simulated ones.

    pip install -r benchmarks/requirements.txt
    python -m benchmarks.speed --real                      # about half an hour on two cores
    python -m benchmarks.speed --real --only directed digits

One JSON line per case: seconds of the refinement with evidence on every edge, seconds of BOSS with BIC on the counts,
and their ratio; and the number of fits. Both run on all cores, after one refinement that compiles. Without BOSS: a
refinement with d = 1,000, and a fit with preset `tuned`.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pandas as pd
from sklearn.datasets import load_digits

from benchmarks.directed import HALVES
from benchmarks.machine import describe
from disco import DISCO
from disco.methods import find
from disco.refine import QUICK, Choice, Refined, refine
from disco.simulate import Design, simulate
from disco.table.artefacts import ARTEFACTS

Line = dict[str, Any]
_FAMILIES = {"Poisson": "poisson-softplus", "NB": "nb-softplus", "binomial": "binomial-sigmoid"}
_BOOTSTRAP = Choice()


def digits() -> pd.DataFrame:
    """scikit-learn's digits: the pixels with at least three values."""
    table = load_digits(as_frame=True).data.astype(int)
    return table.loc[:, table.nunique() > 2]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of some work, and its result."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def alone(name: str, work: Callable[[], Any]) -> Line:
    """The time of a case without BOSS."""
    return {"measure": name, "seconds": round(timed(work)[0], 2), "machine": describe()}


def both(table: pd.DataFrame, choice: Choice = QUICK) -> tuple[float, float, Refined]:
    """Seconds of a refinement and of BOSS, and the refinement."""
    seconds, found = timed(lambda: refine(table, choice, dismissed=ARTEFACTS))
    beside, _ = timed(lambda: find("boss", table, dismissed=ARTEFACTS))
    return seconds, beside, found


def of_table(name: str, table: pd.DataFrame, choice: Choice = QUICK) -> Line:
    """One table's line."""
    seconds, beside, found = both(table, choice)
    best = sorted(found.starts.groupby("start")["score"].last(), reverse=True)[:3]
    return {
        **line(name, seconds, beside),
        "rows": len(table),
        "columns": table.shape[1],
        "fits": found.fits,
        "edges": len(found.edges),
        "best_ends": [round(score - best[0], 1) for score in best],
    }


def line(name: str, seconds: float, beside: float) -> Line:
    """The times of a case."""
    times = {"seconds": round(seconds, 2), "boss_seconds": round(beside, 2), "ratio": round(seconds / beside, 2)}
    return {"measure": name, **times, "machine": describe()}


def directed() -> Line:
    """The tables of `benchmarks.directed`, one after the other."""
    times = {one.name: both(one.table()) for half in HALVES.values() for one in half}
    slowest = max(times, key=lambda name: times[name][0])
    return {
        **line(
            f"{len(times)} tables of benchmarks.directed", *(sum(one[at] for one in times.values()) for at in (0, 1))
        ),
        "fits": sum(one[2].fits for one in times.values()),
        "slowest": slowest,
        "slowest_seconds": round(times[slowest][0], 2),
    }


def simulated(nodes: int, family: str, **more: Any) -> pd.DataFrame:
    """A table of 5,000 rows with three edges per node."""
    design = Design(graph="er-exact", k=3, nodes=nodes, rows=5000, family=_FAMILIES[family], seed=0, **more)
    return simulate(design).table


def of_design(nodes: int, family: str, choice: Choice = QUICK, **more: Any) -> Line:
    """A simulated table's line."""
    words = [f"{family} d = {nodes}", *(["unsortable"] if more else []), *(["bootstrap"] if choice.bootstrap else [])]
    return of_table(", ".join(words), simulated(nodes, family, **more), choice)


CASES: dict[str, Callable[[], Iterator[Line]]] = {
    "directed": lambda: iter([directed()]),
    "digits": lambda: iter([of_table("digits", digits())]),
    "families": lambda: (of_design(50, family) for family in _FAMILIES),
    "sizes": lambda: (of_design(nodes, "Poisson") for nodes in (100, 200, 500)),
    "thousand": lambda: iter(
        [alone("Poisson d = 1000", partial(refine, simulated(1000, "Poisson"), QUICK, dismissed=ARTEFACTS))]
    ),
    "tuned": lambda: iter(
        [alone("tuned fit, Poisson d = 50", partial(DISCO("tuned").fit, simulated(50, "Poisson"), dismissed=ARTEFACTS))]
    ),
    "bootstrap": lambda: (of_design(50, "Poisson", _BOOTSTRAP, **more) for more in ({}, {"unsortable": True})),
}


def measured(only: list[str]) -> Iterator[Line]:
    """The lines of some cases, or of all; the first refinement compiles and is not counted."""
    refine(pd.DataFrame({"a": range(40), "b": range(40)}) % [5, 7], QUICK)
    for name in only or CASES:
        yield from CASES[name]()
