"""Times of refinements beside BOSS in the same run: real tables first, then simulated ones.

    pip install -r benchmarks/requirements.txt
    python -m benchmarks.speed                             # about half an hour on two cores
    python -m benchmarks.speed --only "directed|digits" --again
    python -m benchmarks.speed --summary

One line per case: seconds of the refinement with evidence on every edge, seconds of BOSS with BIC on the counts, and
their ratio; and the number of fits. Both run on all cores, after one refinement that compiles. Without BOSS: a
refinement with d = 1,000, and a fit with preset `tuned`.
"""

import os
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pandas as pd
import torch
from sklearn.datasets import load_digits

from benchmarks.directed import HALVES
from benchmarks.study import COUNTS, Line, Study, machine, markdown, timed
from disco import DISCO
from disco.methods import find
from disco.refine import QUICK, Choice, Refined, refine
from disco.simulate import Design, simulate
from disco.table.artefacts import ARTEFACTS


@cache
def _compile() -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    refine(pd.DataFrame({"a": range(40), "b": range(40)}) % [5, 7], QUICK)


def _both(table: pd.DataFrame, choice: Choice = QUICK) -> tuple[Refined, float, float]:
    """A refinement, its seconds and those of BOSS."""
    result, seconds = timed(partial(refine, table, choice, dismissed=ARTEFACTS))
    return result, seconds, timed(partial(find, "boss", table, dismissed=ARTEFACTS))[1]


def of_table(table: pd.DataFrame, choice: Choice = QUICK) -> Line:
    """The times on one table."""
    result, seconds, boss = _both(table, choice)
    return {
        "seconds": seconds,
        "boss_seconds": boss,
        "rows": len(table),
        "columns": table.shape[1],
        "fits": result.fits,
        "edges": len(result.edges),
    }


def directed() -> Line:
    """The tables of `benchmarks.directed`, one after the other."""
    times = {table.source: _both(table.table()) for half in HALVES.values() for table in half}
    slowest = max(times, key=lambda name: times[name][1])
    return {
        "seconds": round(sum(seconds for _, seconds, _ in times.values()), 2),
        "boss_seconds": round(sum(boss for *_, boss in times.values()), 2),
        "fits": sum(result.fits for result, *_ in times.values()),
        "slowest": slowest,
        "slowest_seconds": times[slowest][1],
    }


def digits() -> Line:
    """scikit-learn's digits: the pixels with at least three values."""
    table = load_digits(as_frame=True).data.astype(int)
    return of_table(table.loc[:, table.nunique() > 2])


def simulated(nodes: int, family: str, **options: Any) -> pd.DataFrame:
    """A table of 5,000 rows with three edges per node."""
    design = Design(graph="er-exact", k=3, nodes=nodes, rows=5000, family=COUNTS[family], seed=0, **options)
    return simulate(design).table


def _timed(work: Callable[..., Any]) -> Line:
    return {"seconds": timed(lambda: work(dismissed=ARTEFACTS))[1]}


CASES: dict[str, Callable[[], Line]] = {
    "47 tables of benchmarks.directed": directed,
    "digits": digits,
    **{f"{family}, d = 50": lambda family=family: of_table(simulated(50, family)) for family in COUNTS},
    **{f"Poisson, d = {d}": lambda d=d: of_table(simulated(d, "Poisson")) for d in (100, 200, 500)},
    "Poisson, d = 1000": lambda: _timed(partial(refine, simulated(1000, "Poisson"), QUICK)),
    "Poisson, d = 50, bootstrap": lambda: of_table(simulated(50, "Poisson"), Choice()),
    "unsortable, d = 50, bootstrap": lambda: of_table(simulated(50, "Poisson", unsortable=True), Choice()),
    "tuned fit, d = 50": lambda: _timed(partial(DISCO("tuned").fit, simulated(50, "Poisson"))),
}


def measure(case: str) -> Line:
    """The line of a case."""
    _compile()
    return {"case": case, **CASES[case](), "machine": machine()}


def table(lines: list[Line]) -> str:
    """Markdown: seconds of both and their ratio, one row per case."""
    rows = []
    for line in lines:
        boss = line.get("boss_seconds")
        ratio = f"{line['seconds'] / boss:.3g}" if boss else ""
        rows.append((line["case"], line["seconds"], boss or "", ratio, line.get("fits", "")))
    return markdown(("case", "refinement, s", "BOSS, s", "ratio", "fits"), rows)


STUDY = Study("speed", ("case",), lambda: zip(CASES), measure, table)

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
