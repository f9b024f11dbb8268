"""The graphs that a refinement leaves, fitted to its table, to ask for effects (`disco.effects`)."""

from disco.effects.compatible import Graphs
from disco.effects.graph_fits import FittedGraphs
from disco.fields import require, require_types, whole_from
from disco.knowledge import Knowledge
from disco.progress import Callback, Reporter
from disco.refine.left import Left
from disco.refine.many_rows import searched_rows
from disco.refine.orientations import MOST_GRAPHS
from disco.refine.refinement_result import Refined
from disco.table.prepared import Table, prepare
from disco.table.roles import Given

_FEWEST, _FEWEST_NEAR = 8, 3  # graphs of a class of a bootstrap table, and of one near the best, if they are drawn
_WORK = {"reversed": 1.0, "classes": 2.0, "graphs": 3.0}  # about the seconds of each
_NO_TABLES = "There are no bootstrap tables, so what is unsure of the presence of edges is not in the intervals."


def fitted_graphs(
    refined: Refined,
    table: Table,
    *,
    roles: Given | None = None,
    knowledge: Knowledge | None = None,
    seed: int = 0,
    callback: Callback | None = None,
) -> FittedGraphs:
    """The graphs that a refinement leaves, with its table.

    Args:
        refined: the refinement.
        table, roles: what was refined.
        knowledge: the rules given to the refinement.
        seed: of the draws.
        callback: receives an event after every graph; returning False stops.

    Raises:
        InputError: the table, roles or knowledge are not those of the refinement.
    """
    require_types(refined=(refined, Refined), knowledge=(knowledge, Knowledge | None))
    require("seed", seed, whole_from(0))
    given, reporter = prepare(table, roles), Reporter(callback, _WORK)
    left = Left.of(refined, list(given.counts.columns), given, knowledge)
    classes, is_exact = left.classes(left.reversed(reporter), reporter), True
    weighted = list[tuple[list[int], float, bool]]()
    whole = sum(share for _, share, is_drawn in classes if not is_drawn)
    tables = sum(is_drawn for *_, is_drawn in classes)
    for alike, share, is_drawn in reporter.each("graphs", classes, "class"):
        # Half of all are of the whole table, most of the likeliest: its cases hold each of them.
        most = MOST_GRAPHS // 2 // tables if is_drawn else round(share / whole * MOST_GRAPHS / 2)
        graphs, is_all = alike.graphs(seed, max(most, _FEWEST if is_drawn else _FEWEST_NEAR))
        is_exact = is_exact and is_all
        each = share / len(graphs)
        weighted += [(children, each, not is_drawn) for children in graphs]
    rows = searched_rows(given.counts.to_numpy())
    return FittedGraphs.of(
        Graphs.of(weighted, [left.pairs[one] for one in left.open], is_exact, left.extremes),
        given if rows is None else given.take(rows),
        () if left.tables else (_NO_TABLES,),
        seed,
    )
