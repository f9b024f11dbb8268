"""One line per table: the truth of a design's table, what the refinement makes of it, and what it says."""

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.misled.design import Drawn
from benchmarks.misled.designs import DESIGNS
from benchmarks.paper_results import lines
from disco.errors import InputError
from disco.refine import Choice, Refined, refine
from disco.refine.reasons import missed
from disco.table.artefacts import ARTEFACTS

RESULTS = Path(__file__).parents[1] / "results" / "misled.jsonl"
_CHOICE = Choice(bootstrap=0, folds=0)
_KEPT = ("parent", "child", "gain_nats", "direction_nats", "robust_nats", "linear_nats", "decided", "class_decides")

Line = dict[str, Any]


def known_lines(path: Path) -> dict[tuple[str, int], Line]:
    """The lines of a file by design and seed; of those with the same key, the last one counts."""
    every = lines(path.read_bytes()) if path.exists() else ()
    return {(line["design"], line["seed"]): line for line in every}


def measure(name: str, seed: int) -> Line:
    """Refine the table of a design and a seed, and return its line.

    A line has the design, seed, rows, columns, truth (parent, child, whether the direction can be known), seconds, and
    either `refused`, the sentence of an error, or the edges with their evidence, the misfit of nodes, the number
    of poorly fitted ones (`poor`), the findings (kind, sentences) and the other notes. With findings also `alone`: what
    the class alone would decide (parent, child).
    """
    drawn = DESIGNS[name].draw(seed)
    knowable = drawn.truth if drawn.knowable is None else drawn.knowable
    line: Line = {
        "design": name,
        "seed": seed,
        "rows": len(drawn.table),
        "columns": drawn.table.shape[1],
        "truth": [[*edge, edge in knowable] for edge in drawn.truth],
    }
    start = time.perf_counter()
    try:
        result = refine(drawn.table, _CHOICE, roles=drawn.roles)
    except InputError as error:
        return line | {"seconds": _seconds(start), "refused": str(error)}
    return line | {"seconds": _seconds(start)} | _of_result(drawn, result)


def _seconds(start: float) -> float:
    return round(time.perf_counter() - start, 2)


def _of_result(drawn: Drawn, result: Refined) -> Line:
    """The part of a line that the refinement gives."""
    nodes, said = result.nodes, result.found.artefacts
    assert nodes is not None
    line: Line = {
        "edges": _columns(result.edges[[*_KEPT]]),
        "misfit": {one.node: _plain(one.misfit_nats) for one in nodes.itertuples() if one.misfit_nats > 0},
        "poor": len(missed(nodes)),
        "findings": [[note.kind, note] for note in said],
        "notes": [note for note in result.notes if note not in said],
    }
    if said:
        alone = refine(drawn.table, _CHOICE, roles=drawn.roles, dismissed=ARTEFACTS).edges
        line["alone"] = alone.loc[alone["decided"], ["parent", "child"]].to_numpy().tolist()
    return line


def _columns(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """The columns of a frame that hold anything, with plain values."""
    return {column: [_plain(value) for value in frame[column]] for column in frame if frame[column].notna().any()}


def _plain(value: Any) -> Any:
    """A value for JSON, numbers with four digits; None if not available."""
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.4g}")
    return value.item() if isinstance(value, np.generic) else value
