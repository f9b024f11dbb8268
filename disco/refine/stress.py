"""Depth stress test: how many edges of a quick search come again if the same rows had been measured less deeply.

Every event of the table is kept with a probability of 50 %, and of 25 % (`disco/table/thinning.py`), and each table is
searched anew. Edges that go are those that the counts carry only just; a thinned parent is also a noisier one, so some
edges go, and some come, in any table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from disco.progress import Callback, Reporter
from disco.refine.choice import QUICK, Choice
from disco.refine.refinement import refine
from disco.table.prepared import Prepared, Table, prepare
from disco.table.roles import Given
from disco.table.thinning import thinned
from disco.words import how_many

SHARES = (0.5, 0.25)
_STOPPED = "stopped in the {stage} of the depth."


def stress(
    table: Table,
    choice: Choice = QUICK,
    shares: Sequence[float] = SHARES,
    seed: int = 0,
    roles: Given | None = None,
    callback: Callback | None = None,
) -> pd.DataFrame:
    """Search a table, and the same table thinned.

    Columns of the result, one line per share: `share` (of the events kept), `edges` (of the whole table), `again`
    (found in the thinned table, either way), `reversed` (of these, the other way), `new` (found in the thinned table
    only), `constant` (columns that thinning leaves without a second value; their edges are gone).

    Args:
        table: counts, one column per node, and the columns that have a role.
        choice: how much to search.
        shares: above 0, at most 1.
        seed: of the thinning.
        roles: of the columns that are not counts. A thinned table keeps the whole one's exposure: every row lost alike.
        callback: receives the events; False stops.

    Raises:
        InputError: the table or the roles cannot be used.
    """
    given = prepare(table, roles)
    stages = [stage_of(share) for share in (1, *shares)]
    reporter = Reporter(callback, dict.fromkeys(stages, 1.0), _STOPPED)
    reporter.step(stages[0], 0, 1)
    whole = _edges(given, choice, reporter.part(stages[0], "part"))
    lines = []
    for stage, share in zip(stages[1:], shares, strict=True):
        reporter.step(stage, 0, 1)
        part = thinned(given, share, seed)
        varied = part.loc[:, part.nunique() > 1]
        rest = replace(given, counts=varied)
        found = _edges(rest, choice, reporter.part(stage, "part")) if varied.shape[1] > 1 else set()
        back = {(child, parent) for parent, child in found}
        again = len(whole & (found | back))
        lines.append(
            {
                "share": share,
                "edges": len(whole),
                "again": again,
                "reversed": len(whole & back),
                "new": len(found) - again,
                "constant": part.shape[1] - varied.shape[1],
            }
        )
    return pd.DataFrame(lines)


def stage_of(share: float) -> str:
    """The stage of the search at a share, in the events of the test."""
    return f"search at {share:.0%}"


def in_words(line: Mapping[str, float]) -> str:
    """A line of the stress test as one sentence."""
    edges, again = int(line["edges"]), int(line["again"])
    constant = int(line["constant"])
    lost = f"; {how_many(constant, 'column')} became constant" if constant else ""
    return (
        f"At {line['share']:.0%} of the depth {again:,} of {edges:,} edges are found again, {int(line['reversed']):,} "
        f"of them the other way, and {int(line['new']):,} others{lost}."
    )


def _edges(given: Prepared, choice: Choice, callback: Callback) -> set[tuple[str, str]]:
    edges = refine(given, choice, callback=callback).edges
    return set(zip(edges["parent"], edges["child"], strict=True))
