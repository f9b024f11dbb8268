"""The next experiment: how many open directions of a refinement setting each node would settle.

A direction is *open* if it has no source, neither an experiment nor knowledge nor the model class, and does not follow
from the order of those that have one. Each graph that the rows leave (`disco.refine.orientations`) is taken for the
truth in turn. An experiment in which X alone is set settles directions in it:

- *Whatever is hidden.* X changes its descendants, so it comes before them. With the known orders this places further
  pairs. An edge whose nodes are placed is settled.
- *Without hidden common causes.* Then a neighbour that X leaves alone is a parent of X, and Meek's rules give the
  directions that follow from those at X, as in an interventional equivalence class (Hauser and Bühlmann, JMLR 2012).

The mean over the graphs is what setting X settles. The class of the graph found counts as much as each class that its
edges have along the order of a search that ended near the best, and as much as that of each bootstrap table. An open
direction on which all graphs agree because of a collider stays open until an experiment shows it.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from disco.checks import require, require_types, whole_from
from disco.errors import InputError
from disco.experiments import learnt_of
from disco.graph import NO_SOURCE
from disco.knowledge import Knowledge, Resolved
from disco.knowledge.resolved import closure
from disco.refine.directions import members, rows
from disco.refine.limits import BOUND
from disco.refine.orientations import MOST_GRAPHS, Class
from disco.refine.result import Refined
from disco.table.interventions import MARGIN
from disco.table.prepared import Prepared, Table, prepare
from disco.table.roles import Given
from disco.words import listed

NODES = ("node", "settled", "settled_if_hidden", "pairs", "rows", "fewest_rows", "most_rows")
PAIRS = ("node", "parent", "child", "settled", "settled_if_hidden", "rows")
_FEWEST_GRAPHS = 8  # of a class, if they are drawn
NOTHING_OPEN = "No direction is open, so no experiment is needed to settle one."
_CONTRADICTED = "The refinement contradicts the knowledge or the table's experiments: give those that it was made with."


class Next(NamedTuple):
    """What setting each node would settle.

    Attributes:
        nodes: one row per node that would settle any direction, best first, columns `NODES`: the number of open
            directions settled, without hidden causes and whatever is hidden, each a mean over the graphs; the number of
            pairs among them; and the median, smallest and largest number of rows per arm to see the effects on its open
            neighbours (`disco.refine.rows_needed`), NaN if not computed.
        pairs: one row per node and open edge that setting it may settle, columns `PAIRS`: the edge as it was found, the
            shares of the graphs in which it is settled, and the rows per arm if the node is one of its ends.
        open: the number of open directions.
        graphs: how many graphs were compared.
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
) -> Next:
    """Which node to set next, to settle the most open directions.

    Args:
        refined: the refinement.
        table, roles: what was refined; its experiments exclude directions. None: neither these nor the rows needed.
        knowledge: the rules given to the refinement.
        nodes: those that can be set; all by default.
        with_rows: whether to predict how many rows an experiment needs, which fits a model to every open pair.
        seed: of the draws, if there are too many graphs to list.

    Raises:
        InputError: a node is unknown, or the table, roles or knowledge are not those of the refinement.
    """
    require_types(refined=(refined, Refined), knowledge=(knowledge, Knowledge | None))
    require("seed", seed, whole_from(0))
    given = None if table is None else prepare(table, roles)
    names = list(refined.order if given is None else given.counts.columns)
    if set(names) != set(refined.order):
        odd = sorted(set(names) ^ set(refined.order))[0]
        raise InputError(f'Only one of the table and the refinement has the column "{odd}": give the refined table.')
    index = {name: number for number, name in enumerate(names)}
    for name in nodes or ():
        if name not in index:
            raise InputError(f'There is no node "{name}" to set; the table has {listed(names, 20)}.')
    margin = float(refined.found.choices.get("margin", MARGIN))
    edges = _Edges(refined, index, _rules(names, given, knowledge, margin))
    counted = _counted(edges, sorted({index[name] for name in nodes}) if nodes is not None else range(len(names)), seed)
    rows = dict[tuple[int, int], float]()
    if given is not None and with_rows and edges.open:
        from disco.refine.rows_needed import rows_needed  # imports torch

        rows = rows_needed(given, counted.parents)
    return _told(edges, counted, rows, names)


def rows_in_words(row: Any) -> str:
    """The rows per arm of a row of `Next.nodes`: `46 (27 to 116)`, ∞ without an effect; empty if not computed."""
    if math.isnan(row.rows):
        return ""
    middle, fewest, most = (_whole(value) for value in (row.rows, row.fewest_rows, row.most_rows))
    return middle if fewest == most else f"{middle} ({fewest} to {most})"


def _whole(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:,.0f}"


def _rules(names: list[str], given: Prepared | None, knowledge: Knowledge | None, margin: float) -> Resolved:
    """The rules of knowledge and of the table's experiments."""
    known = None if knowledge is None else knowledge.resolve(names)
    if given is not None:
        known = learnt_of(given, names, known, margin).rules
    none = np.zeros((len(names),) * 2, dtype=bool)
    return Resolved(none, none, none) if known is None else known


class _Edges:
    """The edges of a refinement as numbers.

    Attributes:
        pairs: (parent, child) of every edge.
        open: the numbers of the open edges.
        number: of the open edge between two nodes, both ways.
        beside: the nodes with an open edge to each node, as bits.
        known: the rules, with the directions that have a source among them.
        starts: the graph found and those along the orders of searches that ended near the best, (d, d) bool each.
        tables: the graphs of bootstrap tables, in the known directions, (d, d) bool each.
    """

    def __init__(self, refined: Refined, index: dict[str, int], rules: Resolved) -> None:
        edges, many = refined.edges, len(index)
        self.pairs = [(index[row.parent], index[row.child]) for row in edges.itertuples()]
        is_open = (edges["source"] == NO_SOURCE).tolist()
        settled = np.zeros((many, many), dtype=bool)
        for pair, is_free in zip(self.pairs, is_open, strict=True):
            settled[pair] = not is_free
        before = closure(rules.before | settled)
        if before.diagonal().any():
            raise InputError(_CONTRADICTED)
        self.known = Resolved(rules.forbidden | before.T, rules.required, before)
        self.open = [one for one, pair in enumerate(self.pairs) if is_open[one] and not before[pair]]
        self.number: dict[tuple[int, int], int] = {}
        self.beside = [0] * many
        for one in self.open:
            parent, child = self.pairs[one]
            self.number[parent, child] = self.number[child, parent] = one
            self.beside[parent] |= 1 << child
            self.beside[child] |= 1 << parent
        orders = [[index[name] for name in order] for order in (refined.order, *_near(refined))]
        graphs = [self._along(order) for order in orders]
        if graphs[0] is None:
            raise InputError(_CONTRADICTED)
        self.starts = [graph for graph in graphs if graph is not None]
        self.tables = [] if refined.tables is None else self._turned(refined, index)

    def _along(self, order: list[int]) -> np.ndarray | None:
        """The edges along an order that obeys what is known as far as it can; None if a rule forbids one of them."""
        place = {node: at for at, node in enumerate(self.known.sorted(order))}
        graph = np.zeros((len(order),) * 2, dtype=bool)
        for pair in self.pairs:
            graph[min(pair, key=place.__getitem__), max(pair, key=place.__getitem__)] = True
        return None if (graph & self.known.forbidden).any() else graph

    def _turned(self, refined: Refined, index: dict[str, int]) -> list[np.ndarray]:
        """The graphs of bootstrap tables, without those that what is known turns into a cycle."""
        assert refined.tables is not None
        graphs = np.zeros((int(refined.found.choices.get("bootstrap", 0)), len(index), len(index)), dtype=bool)
        for row in refined.tables.itertuples():
            pair = index[row.parent], index[row.child]
            graphs[(row.table - 1, *(pair[::-1] if self.known.forbidden[pair] else pair))] = True
        allowed = (graph for graph in graphs if not (graph & self.known.forbidden).any())
        return [graph for graph in allowed if not closure(graph | self.known.before).diagonal().any()]


def _near(refined: Refined) -> list[list[str]]:
    """The orders of the other searches that ended within the bound of the best."""
    if refined.orders is None:
        return []
    last = refined.starts.sort_values("sweep").groupby("start")["score"].last()
    near = set(last.index[last >= last.max() - float(refined.found.choices.get("bound", BOUND))]) - {refined.best}
    each = refined.orders.sort_values("position").groupby("start", sort=False)["node"]
    return [nodes.tolist() for start, nodes in each if start in near]


class _Counted(NamedTuple):
    """What setting a node settles, over all graphs.

    Attributes:
        shares: by node and open edge, the shares of the graphs in which it is settled, without hidden causes and
            whatever is hidden.
        parents: by two neighbours (x, y) of an open edge, the parents of y in one graph with x → y.
        graphs: number of graphs.
        is_exact: whether they are all graphs left.
    """

    shares: dict[tuple[int, int], np.ndarray]
    parents: dict[tuple[int, int], tuple[int, ...]]
    graphs: int
    is_exact: bool


def _counted(edges: _Edges, settable: Sequence[int], seed: int) -> _Counted:
    classes: dict[tuple[int, ...], Class] = {}
    times = Counter[tuple[int, ...]]()
    for graph in edges.starts:
        found = Class(graph, edges.known)
        classes.setdefault(found.key, found)
        times[found.key] = 1  # however many searches ended there
    for graph, many in _distinct(edges.tables):
        found = Class(graph, edges.known)
        classes.setdefault(found.key, found)
        times[found.key] += many
    most = max(_FEWEST_GRAPHS, MOST_GRAPHS // len(classes))
    shares: dict[tuple[int, int], np.ndarray] = defaultdict(lambda: np.zeros(2))
    parents, total, is_exact = dict[tuple[int, int], tuple[int, ...]](), 0, True
    for key, alike in classes.items():
        graphs, is_all = alike.graphs(seed, most)
        total, is_exact = total + len(graphs), is_exact and is_all
        settling, weight = _Settling(edges, alike), times[key] / len(graphs) / times.total()
        for children, below in graphs:
            above = _parents(children)
            for node in settable:
                shown = settling.whatever_is_hidden(node, below[node])
                both = shown | settling.without_hidden_causes(node, children[node], above[node])
                for one in both:
                    shares[node, one] += (weight, weight * (one in shown))
                for child in members(children[node] & edges.beside[node]):
                    parents.setdefault((node, child), tuple(members(above[child])))
    return _Counted(dict(shares), parents, total, is_exact)


def _distinct(graphs: Sequence[np.ndarray]) -> list[tuple[np.ndarray, int]]:
    """Each graph once, and how often it occurs."""
    found = {graph.tobytes(): graph for graph in graphs}
    times = Counter(graph.tobytes() for graph in graphs)
    return [(graph, times[key]) for key, graph in found.items()]


def _parents(children: Sequence[int]) -> list[int]:
    """Every node's parents from every node's children."""
    found = [0] * len(children)
    for node, mask in enumerate(children):
        for child in members(mask):
            found[child] |= 1 << node
    return found


class _Settling:
    """The open edges that setting a node settles in the graphs of a class."""

    def __init__(self, edges: _Edges, alike: Class) -> None:
        self.edges, self.alike, before = edges, alike, edges.known.before
        self._after, self._up, self._excluded = rows(before), rows(before.T), rows(edges.known.forbidden)
        self._follow: dict[tuple[int, int], frozenset[int]] = {}

    def whatever_is_hidden(self, node: int, below: int) -> set[int]:
        """Those placed by the known orders and by the node before its descendants."""
        reached, found = below, set()
        for one in members(below):
            reached |= self._after[one]
        for one in members(self._up[node] | 1 << node):
            for other in members(self.edges.beside[one] & reached):
                found.add(self.edges.number[one, other])
        return found

    def without_hidden_causes(self, node: int, children: int, parents: int) -> frozenset[int]:
        """Those at the node, and those that follow from them; of its parents, those not yet excluded as children."""
        at = (children | parents & ~self._excluded[node]) & self.edges.beside[node]
        if (node, parents) not in self._follow:
            numbers = (self.edges.number.get(pair) for pair in self.alike.follow(node, parents))
            self._follow[node, parents] = frozenset(one for one in numbers if one is not None)
        return self._follow[node, parents].union(self.edges.number[node, other] for other in members(at))


def _told(edges: _Edges, counted: _Counted, rows: dict[tuple[int, int], float], names: list[str]) -> Next:
    """The result with names, best first."""
    pairs = list[tuple[Any, ...]]()
    for (node, one), shares in counted.shares.items():
        parent, child = edges.pairs[one]
        other = child if node == parent else parent
        needed = rows.get((node, other), np.nan) if node in (parent, child) else np.nan
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
    by_node = by_node.reset_index()[list(NODES)]
    place = {name: at for at, name in enumerate(names)}
    best = by_node.assign(at=by_node["node"].map(place))
    best = best.sort_values(["settled", "settled_if_hidden", "at"], ascending=[False, False, True])
    by_node = by_node.loc[best.index].reset_index(drop=True)
    rank = by_pair["node"].map({name: at for at, name in enumerate(by_node["node"])})
    by_pair = by_pair.assign(rank=rank, least=-by_pair["settled"])
    by_pair = by_pair.sort_values(["rank", "least", "parent", "child"], ignore_index=True)[list(PAIRS)]
    return Next(by_node, by_pair, len(edges.open), counted.graphs, counted.is_exact)
