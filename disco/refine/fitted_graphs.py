"""The graphs that a refinement cannot tell apart, weighted, with its table: effects are averaged over them."""

from dataclasses import replace

from disco.effects.compatible import Graphs
from disco.effects.graph_fits import FittedGraphs
from disco.fields import require, require_types, whole_from
from disco.knowledge import Knowledge
from disco.progress import Callback, Reporter
from disco.refine.compatible_graphs import CompatibleGraphs
from disco.refine.orientations import MOST_GRAPHS
from disco.refine.refinement_result import Refined
from disco.refine.task import searched_rows
from disco.table.prepared import Table, prepare
from disco.table.roles import Given

_FEWEST, _FEWEST_NEAR = 8, 3  # graphs of a class of a bootstrap table, and of one near the best, if they are drawn
_WORK = {"reversed": 1.0, "classes": 2.0, "graphs": 3.0}  # about the seconds of each
_NO_TABLES = "There are no bootstrap tables: the intervals do not include uncertainty about which edges exist."


def fitted_graphs(
    refined: Refined,
    table: Table,
    *,
    roles: Given | None = None,
    knowledge: Knowledge | None = None,
    seed: int = 0,
    callback: Callback | None = None,
) -> FittedGraphs:
    """The graphs compatible with a refinement, with the table, roles and knowledge given to it; raises InputError for
    others.
    """
    require_types(refined=(refined, Refined), knowledge=(knowledge, Knowledge | None))
    require("seed", seed, whole_from(0))
    prepared, reporter = prepare(table, roles), Reporter(callback, _WORK)
    if prepared.adjustment is not None:
        prepared = replace(prepared, adjustment=prepared.adjustment.with_past_of(refined.lagged))
    compatible = CompatibleGraphs.of(refined, list(prepared.counts.columns), prepared, knowledge)
    classes, is_exact = compatible.classes(compatible.reversed(reporter), reporter), True
    weighted = list[tuple[list[int], float, bool]]()
    total = sum(share for _, share, only_drawn in classes if not only_drawn)
    count = sum(only_drawn for *_, only_drawn in classes)
    for graph_class, share, only_drawn in reporter.each("graphs", classes, "class"):
        # Half of the graphs are of classes near the best graph, by their share, and half of those of bootstrap tables.
        limit = MOST_GRAPHS // 2 // count if only_drawn else round(share / total * MOST_GRAPHS / 2)
        graphs, is_all = graph_class.graphs(seed, max(limit, _FEWEST if only_drawn else _FEWEST_NEAR))
        is_exact = is_exact and is_all
        weight = share / len(graphs)
        weighted += [(children, weight, not only_drawn) for children in graphs]
    rows = searched_rows(prepared.counts.to_numpy())
    return FittedGraphs.of(
        Graphs.of(weighted, [compatible.pairs[number] for number in compatible.open], is_exact, compatible.extremes),
        prepared if rows is None else prepared.take(rows),
        () if compatible.tables else (_NO_TABLES,),
        seed,
    )
