"""The next experiment: how many open directions of a refinement setting each node would settle.

A direction is *open* if it has no source, neither an experiment nor knowledge nor the model class, and does not follow
from the order of those that have one. Each graph that the rows leave (`disco.refine.orientations`) is taken for the
truth in turn. An experiment in which X alone is set settles directions in it:

- *Whatever is hidden.* X changes its descendants, so it comes before them. With the known orders this places further
  pairs. An edge whose nodes are placed is settled.
- *Without hidden common causes.* Then a neighbour that X leaves alone is a parent of X, and Meek's rules give the
  directions that follow from those at X, as in an interventional equivalence class (Hauser and Bühlmann, JMLR 2012).

The mean over the graphs left (`disco.refine.compatible_graphs`), the same as for effects, is what setting X settles. An
open direction on which all graphs agree because of a collider stays open until an experiment shows it.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from disco.bitsets import descendants, members, turned
from disco.columns import NEXT
from disco.errors import InputError
from disco.fields import require, require_types, whole_from
from disco.knowledge import Knowledge
from disco.progress import Callback, Reporter
from disco.refine.compatible_graphs import CompatibleGraphs
from disco.refine.orientations import MOST_GRAPHS, Class
from disco.refine.refinement_result import Refined
from disco.table.prepared import Table, prepare
from disco.table.roles import Given
from disco.words import listed

PAIRS = ("node", "parent", "child", "settled", "settled_if_hidden", "rows")
_FEWEST_GRAPHS = 8  # of a class, if they are drawn
_WORK = {"reversed": 0.5, "classes": 1.0, "graphs": 3.0, "rows": 6.0}  # about the shares of the time
_STOPPED = "The comparison of the graphs was stopped."
NOTHING_OPEN = "No direction is open, so no experiment is needed to settle one."


class Next(NamedTuple):
    """What setting each node would settle.

    Attributes:
        nodes: one row per node that would settle any direction, best first, columns `disco.columns.NEXT`: the number of
            open directions settled, without hidden causes and whatever is hidden, each a mean over the graphs; the
            number of pairs among them; and the median, smallest and largest number of rows per arm to see the effects
            on its open neighbours (`disco.refine.rows_needed`), NaN if not computed.
        pairs: one row per node and open edge that setting it may settle, columns `PAIRS`: the edge, the shares of the
            graphs in which it is settled, and the rows per arm if the node is one of its endpoints.
        open: the number of open directions.
        graphs: the number of graphs compared.
        is_exact: whether these are all graphs that the rows leave; otherwise they were drawn.
    """

    nodes: pd.DataFrame
    pairs: pd.DataFrame
    open: int
    graphs: int
    is_exact: bool


def next_experiment(
    refined: Refined,
    table: Table | None = None,
    *,
    roles: Given | None = None,
    knowledge: Knowledge | None = None,
    nodes: Sequence[str] | None = None,
    with_rows: bool = True,
    seed: int = 0,
    callback: Callback | None = None,
) -> Next:
    """Which node to set next, to settle the most open directions.

    Args:
        table, roles: the refined table; its experiments exclude directions. Without it, no rows needed are computed.
        knowledge: the rules given to the refinement.
        nodes: those that can be set; all by default.
        with_rows: whether to predict how many rows an experiment needs, which fits a model to every open pair.

    InputError: a node is unknown, or the table, roles or knowledge are not those of the refinement.
    """
    require_types(refined=(refined, Refined), knowledge=(knowledge, Knowledge | None))
    require("seed", seed, whole_from(0))
    prepared = None if table is None else prepare(table, roles)
    reporter = Reporter(callback, _WORK, _STOPPED)
    names = list(refined.order if prepared is None else prepared.counts.columns)
    edges = CompatibleGraphs.of(refined, names, prepared, knowledge)
    index = {name: number for number, name in enumerate(names)}
    for name in nodes or ():
        if name not in index:
            raise InputError(f'There is no node "{name}" to set; the table has {listed(names, 20)}.')
    settable = sorted({index[name] for name in nodes}) if nodes is not None else range(len(names))
    counted = _counted(edges, settable, seed, reporter)
    rows = dict[tuple[int, int], float]()
    if prepared is not None and with_rows and edges.open:
        from disco.refine.rows_needed import rows_needed  # imports the compiler

        rows = rows_needed(prepared, counted.parents, reporter)
    return _named_result(edges, counted, rows, names)


def rows_in_words(row: Any) -> str:
    """The rows per arm of a row of `Next.nodes`: `46 (27 to 116)`, ∞ without an effect; empty if not computed."""
    if math.isnan(row.rows):
        return ""
    rows = row.rows, row.fewest_rows, row.most_rows
    middle, fewest, largest = ("∞" if math.isinf(number) else f"{number:,.0f}" for number in rows)
    return middle if fewest == largest else f"{middle} ({fewest} to {largest})"


class _Counted(NamedTuple):
    """What setting a node settles, over all graphs.

    Attributes:
        shares: by node and open edge, the shares of the graphs in which it is settled, without hidden causes and
            whatever is hidden.
        parents: by two neighbours (x, y) of an open edge, the parents of y in one graph with x → y.
    """

    shares: dict[tuple[int, int], np.ndarray]
    parents: dict[tuple[int, int], tuple[int, ...]]
    graphs: int
    is_exact: bool


def _counted(edges: CompatibleGraphs, settable: Sequence[int], seed: int, reporter: Reporter) -> _Counted:
    classes = edges.classes(edges.reversed(reporter), reporter)
    limit = max(_FEWEST_GRAPHS, MOST_GRAPHS // len(classes))
    shares: dict[tuple[int, int], np.ndarray] = defaultdict(lambda: np.zeros(2))
    parents, total, is_exact = dict[tuple[int, int], tuple[int, ...]](), 0, True
    for graph_class, share, _ in reporter.each("graphs", classes, "class"):
        graphs, is_all = graph_class.graphs(seed, limit)
        total, is_exact = total + len(graphs), is_exact and is_all
        settled, weight = _Settling(edges, graph_class), share / len(graphs)
        for children in graphs:
            reporter.check()
            above, below = turned(children), descendants(children)
            for node in settable:
                certain = settled.whatever_is_hidden(node, below[node])
                both = certain | settled.without_hidden_causes(node, children[node], above[node])
                for number in both:
                    shares[node, number] += (weight, weight * (number in certain))
                for child in members(children[node] & edges.beside[node]):
                    parents.setdefault((node, child), tuple(members(above[child])))
    return _Counted(dict(shares), parents, total, is_exact)


class _Settling:
    """The open edges that setting a node settles in the graphs of a class."""

    def __init__(self, edges: CompatibleGraphs, graph_class: Class) -> None:
        self.edges, self.alike, self.known = edges, graph_class, edges.known
        self._follow: dict[tuple[int, int], frozenset[int]] = {}

    def whatever_is_hidden(self, node: int, below: int) -> set[int]:
        """The edges placed by the known orders and by the node before its descendants."""
        reached, numbers = below, set()
        for descendant in members(below):
            reached |= self.known.below[descendant]
        for ancestor in members(self.known.above[node] | 1 << node):
            for neighbour in members(self.edges.beside[ancestor] & reached):
                numbers.add(self.edges.number[ancestor, neighbour])
        return numbers

    def without_hidden_causes(self, node: int, children: int, parents: int) -> frozenset[int]:
        """The edges at the node, except from parents already excluded as children, and those that follow."""
        at = (children | parents & ~self.known.excluded[node]) & self.edges.beside[node]
        if (node, parents) not in self._follow:
            numbers = (self.edges.number.get(pair) for pair in self.alike.follow(node, parents))
            self._follow[node, parents] = frozenset(number for number in numbers if number is not None)
        return self._follow[node, parents].union(self.edges.number[node, neighbour] for neighbour in members(at))


def _named_result(
    edges: CompatibleGraphs, counted: _Counted, rows: dict[tuple[int, int], float], names: list[str]
) -> Next:
    pairs = list[tuple[Any, ...]]()
    for (node, number), shares in counted.shares.items():
        parent, child = edges.pairs[number]
        neighbour = child if node == parent else parent
        needed = rows.get((node, neighbour), np.nan) if node in (parent, child) else np.nan
        pairs.append((names[node], names[parent], names[child], *shares.round(12), needed))
    by_pair = pd.DataFrame(pairs, columns=list(PAIRS))
    by_node = by_pair.groupby("node", sort=False).agg(
        settled=("settled", "sum"),
        settled_if_hidden=("settled_if_hidden", "sum"),
        pairs=("settled", "size"),
        rows=("rows", "median"),
        fewest_rows=("rows", "min"),
        most_rows=("rows", "max"),
    )
    by_node = by_node.reset_index()[[column.name for column in NEXT]]
    position = {name: at for at, name in enumerate(names)}
    best = by_node.assign(at=by_node["node"].map(position))
    best = best.sort_values(["settled", "settled_if_hidden", "at"], ascending=[False, False, True])
    by_node = by_node.loc[best.index].reset_index(drop=True)
    rank = by_pair["node"].map({name: at for at, name in enumerate(by_node["node"])})
    by_pair = by_pair.assign(rank=rank, least=-by_pair["settled"])
    by_pair = by_pair.sort_values(["rank", "least", "parent", "child"], ignore_index=True)[list(PAIRS)]
    return Next(by_node, by_pair, len(edges.open), counted.graphs, counted.is_exact)
