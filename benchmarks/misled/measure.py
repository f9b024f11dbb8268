"""One line per table: the truth of a design's table, what the refinement makes of it, and its warnings."""

from typing import Any

import pandas as pd

from benchmarks.misled.design import Drawn
from benchmarks.misled.designs import DESIGNS
from benchmarks.study import Line, compact, timed
from disco.errors import InputError
from disco.refine import Choice, Refined, refine
from disco.refine.reasons import missed
from disco.table.artefacts import ARTEFACTS

_CHOICE = Choice(bootstrap=0, folds=0)
_FIELDS = ("parent", "child", "gain_nats", "direction_nats", "robust_nats", "linear_nats", "decided", "class_decides")


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
    result, seconds = timed(_refined, drawn)
    figures = {"refused": result} if isinstance(result, str) else _of_result(drawn, result)
    return line | {"seconds": seconds} | figures


def _refined(drawn: Drawn) -> Refined | str:
    """The refinement, or the sentence of an error."""
    try:
        return refine(drawn.table, _CHOICE, roles=drawn.roles)
    except InputError as error:
        return str(error)


def _of_result(drawn: Drawn, result: Refined) -> Line:
    """The part of a line that the refinement gives."""
    nodes, findings = result.nodes, result.found.artefacts
    assert nodes is not None
    line: Line = {
        "edges": _columns(result.edges[[*_FIELDS]]),
        "misfit": {row.node: compact(row.misfit_nats) for row in nodes.itertuples() if row.misfit_nats > 0},
        "poor": len(missed(nodes)),
        "findings": [[note.kind, note] for note in findings],
        "notes": [note for note in result.notes if note not in findings],
    }
    if findings:
        edges = refine(drawn.table, _CHOICE, roles=drawn.roles, dismissed=ARTEFACTS).edges
        line["alone"] = edges.loc[edges["decided"], ["parent", "child"]].to_numpy().tolist()
    return line


def _columns(frame: pd.DataFrame) -> dict[str, list[Any]]:
    return {column: [compact(value) for value in frame[column]] for column in frame if frame[column].notna().any()}
