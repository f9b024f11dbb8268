"""Time, memory and accuracy of a refinement by the number of columns: ER1, Poisson, 2,000 rows, 50 bootstrap tables.

    python -m benchmarks.many_columns                       # up to ten thousand columns: hours
    python -m benchmarks.many_columns --only "^200," --again
    python -m benchmarks.many_columns --summary             # of the existing lines, with the exponents of growth

Each number of columns has a process of its own, on one thread.
"""

import math
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from typing import Any

import pandas as pd
import torch

from benchmarks.study import Line, Study, machine, markdown, timed
from disco.fields import whole
from disco.metrics import f1
from disco.refine import Choice, refine
from disco.simulate import Design, simulate

COLUMNS = (200, 500, 1000, 2000, 5000, 10_000)
_ROWS = 2000
_FROM, _TO = 200, 2000  # the exponents of growth are those between these numbers of columns


@dataclass(frozen=True)
class LargeDesign(Design):
    """A design of more nodes than a laboratory needs."""

    nodes: int = whole(1000, within=(2, 100_000))


def measure(nodes: int, seed: int) -> Line:
    """One line, measured in a process of its own."""
    return _in_process(_measure, nodes, seed)


def _in_process(work: Callable[..., Any], *arguments: object) -> Any:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _measure(nodes: int, seed: int) -> Line:
    torch.set_num_threads(1)
    table, truth = _in_process(_table, nodes, seed)  # simulating needs more memory than the refinement
    refine(table.iloc[:, :10], Choice(folds=0))  # compiles
    start = _peak_mb()
    result, seconds = timed(refine, table, Choice(folds=0))
    true, edges = (list(frame[["parent", "child"]].itertuples(index=False)) for frame in (truth, result.edges))
    pairs, skeleton = ({frozenset(edge) for edge in graph} for graph in (true, edges))
    return {
        "nodes": nodes,
        "seed": seed,
        "seconds": seconds,
        "peak_mb": round(_peak_mb()),
        "before_mb": round(start),
        "edges": len(edges),
        "f1": f1(true, edges),
        "skeleton_precision": len(pairs & skeleton) / max(len(skeleton), 1),
        "skeleton_recall": len(pairs & skeleton) / max(len(pairs), 1),
        "machine": machine(),
    }


def _table(nodes: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    drawn = simulate(LargeDesign(nodes=nodes, k=1, rows=_ROWS, family="poisson-softplus", seed=seed))
    return drawn.table, drawn.truth


def _peak_mb() -> float:
    """The largest memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def table(lines: list[Line]) -> str:
    """Markdown: one row per number of columns; and the exponents with which time and memory grow."""
    sizes = {line["nodes"]: {**line, "own_mb": line["peak_mb"] - line["before_mb"]} for line in lines}
    names = ("nodes", "seconds", "peak_mb", "own_mb", "f1", "skeleton_precision", "skeleton_recall")
    rows = [
        [f"{line[name]:,.3g}" if name[0] in "fs" else f"{line[name]:,}" for name in names] for line in sizes.values()
    ]
    growth = []
    if {_FROM, _TO} <= set(sizes):
        for name in ("seconds", "own_mb"):
            exponent = math.log(sizes[_TO][name] / sizes[_FROM][name]) / math.log(_TO / _FROM)
            growth.append(f"{name} grow with the exponent {exponent:.2f}")
    return "\n".join([markdown(names, rows), *growth])


STUDY = Study("many-columns", ("nodes", "seed"), lambda: product(COLUMNS, [0]), measure, table)

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
