"""Compare edges with edges, as directed pairs (paper, Experimental Setup, Evaluation metrics).

A true positive is a pair in both graphs. Then F1 = 2 TP / (2 TP + FP + FN) and SHD = FP + FN, so a reversed edge counts
twice in the SHD. If the truth is a table with a column `direction`, an edge whose direction is `unknown`
(`disco.simulate.identifiable`) counts as found in either direction, and as found once if the estimate leaves it open,
with pairs in both directions. The edges from contexts in a simulation's truth.csv are left out.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import networkx as nx
import numpy as np
import pandas as pd

from disco.columns import DIRECTIONS, UNKNOWN
from disco.errors import InputError
from disco.fields import a_thing
from disco.graph.dag import CONTEXT, between_nodes

Edges: TypeAlias = pd.DataFrame | nx.DiGraph | Iterable[tuple[str, str]]
"""A table with columns parent and child, a square 0/1 matrix (rows are parents), a graph, or pairs (parent, child)."""

Pairs = list[tuple[str, str]]


class EdgeCounts(NamedTuple):
    """Numbers of directed pairs: in both graphs, only in the estimate, and only in the truth."""

    true_positives: int
    false_positives: int
    false_negatives: int

    @property
    def precision(self) -> float:
        return share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        return share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        return share(2 * self.true_positives, 2 * self.true_positives + self.false_positives + self.false_negatives)

    @property
    def shd(self) -> int:
        return self.false_positives + self.false_negatives


def counts(truth: Edges, estimate: Edges) -> EdgeCounts:
    """The numbers of directed pairs that agree and disagree. InputError: the nodes of the two differ."""
    pairs, found_pairs = met(truth, estimate)
    true, estimated = set(pairs), set(_once(found_pairs, undirected(truth)))
    return EdgeCounts(len(true & estimated), len(estimated - true), len(true - estimated))


def precision(truth: Edges, estimate: Edges) -> float:
    """The share of estimated edges that are true."""
    return counts(truth, estimate).precision


def recall(truth: Edges, estimate: Edges) -> float:
    """The share of true edges that are estimated."""
    return counts(truth, estimate).recall


def f1(truth: Edges, estimate: Edges) -> float:
    """The harmonic mean of precision and recall."""
    return counts(truth, estimate).f1


def shd(truth: Edges, estimate: Edges) -> int:
    """The structural Hamming distance FP + FN of the paper; a reversed edge counts 2."""
    return counts(truth, estimate).shd


def shd_reversals_once(truth: Edges, estimate: Edges) -> int:
    """The structural Hamming distance with reversed edges counted once: missing + extra + reversed edges."""
    return int((~verdicts(truth, estimate)["verdict"].isin(("true", "either way"))).sum())


def verdicts(truth: Edges, estimate: Edges) -> pd.DataFrame:
    """Each edge of either graph with a verdict: columns parent, child, verdict; errors as for `counts`.

    The verdict is true, either way, extra, reversed or missing. "Either way" is a found true edge whose direction
    cannot be known. The estimate's edges come first, in its order. A reversed edge has one row, in the estimate's
    direction.
    """
    pairs, found_pairs = met(truth, estimate)
    free = undirected(truth)
    found_pairs = _once(found_pairs, free)
    true, estimated = set(pairs), set(found_pairs)

    def verdict(parent: str, child: str) -> str:
        if (parent, child) in true:
            return "either way" if {(parent, child), (child, parent)} & free else "true"
        back = (child, parent)
        return "reversed" if back in true and back not in estimated else "extra"

    rows = [(*pair, verdict(*pair)) for pair in found_pairs]
    rows += [(u, v, "missing") for u, v in pairs if (u, v) not in estimated and (v, u) not in estimated]
    return pd.DataFrame(rows, columns=["parent", "child", "verdict"])


CHANGES = ("dropped", "new", "reversed", "opened", "kept")  # differences come first


def changes(first: Edges, second: Edges) -> pd.DataFrame:
    """Every pair of nodes adjacent in one of two graphs, and its change: columns parent, child, change.

    The change is kept, new, reversed, opened (one of the two leaves its direction open) or dropped. The pairs of the
    second graph come first, in its order. The direction is the second's if it has one, otherwise the first's. Errors
    as for `counts`.
    """
    was, current = (dict.fromkeys(pairs) for pairs in both(first, second, ("the first graph", "the second graph")))
    rows: dict[frozenset[str], tuple[str, str, str]] = {}
    for pair in (*current, *was):
        sides = [(pair in graph, pair[::-1] in graph) for graph in (was, current)]
        is_open = [there and back for there, back in sides]
        change = _change(sides)
        drawn = pair[::-1] if is_open[1] and not is_open[0] and sides[0] == (False, True) else pair
        rows.setdefault(frozenset(pair), (*drawn, change))
    return pd.DataFrame(rows.values(), columns=["parent", "child", "change"])


def _change(sides: list[tuple[bool, bool]]) -> str:
    """The change of a pair, from its presence in each graph in its direction and in the reverse."""
    was, current = sides
    if was == current:
        return "kept"
    if not any(was):
        return "new"
    if not any(current):
        return "dropped"
    return "opened" if all(was) or all(current) else "reversed"


def edge_jaccard(a: Edges, b: Edges) -> float:
    """The number of edges in both graphs divided by the number in either."""
    first, second = (set(pairs) for pairs in both(a, b, ("the first graph", "the second graph")))
    return share(len(first & second), len(first | second))


def share(count: int, total: int) -> float:
    """`part` / `whole`; NaN if `whole` is 0."""
    return count / total if total else math.nan


def read(edges: Edges) -> tuple[Pairs, set[str] | None]:
    """The directed pairs, each once, and the set of all nodes if listed in this form of edges.

    InputError: they have none of the forms of `Edges`.
    """
    if isinstance(edges, nx.DiGraph):
        return list(edges.edges), set(edges)
    if not isinstance(edges, pd.DataFrame):
        return _pairs(edges), None
    if len(edges) and list(edges.index) == list(edges.columns):
        if edges.isna().to_numpy().any():
            raise InputError("The matrix of edges has an empty cell: write 1 for an edge, 0 otherwise.")
        rows, columns = edges.to_numpy().nonzero()
        names = list(edges.columns)
        return [(names[i], names[j]) for i, j in zip(rows, columns, strict=True)], set(names)
    if {"parent", "child"} <= set(edges.columns):
        if edges[["parent", "child"]].isna().to_numpy().any():
            raise InputError("An edge has no parent or no child: name both, or leave its row out.")
        edges = between_nodes(edges)
        return list(dict.fromkeys(zip(edges["parent"], edges["child"], strict=True))), None
    raise InputError("Edges need columns parent and child, or a square matrix with the same names on both sides.")


def _pairs(edges: object) -> Pairs:
    refused = InputError(f"Edges must be a table, a graph, or pairs (parent, child) of names; got {a_thing(edges)}.")
    if isinstance(edges, str | Mapping) or not isinstance(edges, Iterable):
        raise refused
    pairs = list(edges)
    if any(isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2 for pair in pairs):
        raise refused
    return list(dict.fromkeys((parent, child) for parent, child in pairs))


def both(a: Edges, b: Edges, sides: tuple[str, str] = ("the truth", "the estimate")) -> tuple[Pairs, Pairs]:
    """The directed pairs of two graphs, which must have the same nodes."""
    first, second = read(a), read(b)
    agree(first, second, sides)
    return first[0], second[0]


def met(truth: Edges, estimate: Edges) -> tuple[Pairs, Pairs]:
    """The directed pairs of both; true edges of unknown direction are reversed to match the estimate."""
    pairs, estimated = both(truth, estimate)
    return oriented(pairs, undirected(truth), set(estimated).__contains__), estimated


def _once(estimated: Pairs, free: Collection[tuple[str, str]]) -> Pairs:
    """The pairs of an estimate; of a pair in both directions whose direction cannot be known, only the truth's."""
    there = set(estimated)
    return [pair for pair in estimated if not (pair[::-1] in free and pair[::-1] in there)]


def undirected(truth: Edges) -> set[tuple[str, str]]:
    """The true edges whose direction cannot be known; none without a column `direction`.

    InputError: the column has a word that is not in `disco.graph.dag.DIRECTIONS`.
    """
    if not isinstance(truth, pd.DataFrame) or not {"parent", "child", "direction"} <= set(truth.columns):
        return set()
    odd = truth["direction"][~truth["direction"].isin([*DIRECTIONS, CONTEXT])]
    if len(odd):
        raise InputError(f"The direction of a true edge must be one of {', '.join(DIRECTIONS)}; got {odd.iloc[0]!r}.")
    rows = truth[truth["direction"] == UNKNOWN]
    return set(zip(rows["parent"], rows["child"], strict=True))


def oriented(pairs: Pairs, free: Collection[tuple[str, str]], has: Callable[[tuple[str, str]], bool]) -> Pairs:
    """The pairs, with each free one reversed if `has` holds for the reverse but not for the pair itself."""
    return [pair[::-1] if pair in free and has(pair[::-1]) and not has(pair) else pair for pair in pairs]


def again(edges: Edges) -> Edges:
    """The edges in a form that can be read repeatedly."""
    return list(edges) if isinstance(edges, Iterator) else edges


def agree(
    first: tuple[Pairs, set[str] | None],
    second: tuple[Pairs, set[str] | None],
    sides: tuple[str, str] = ("the truth", "the estimate"),
) -> None:
    """Refuse a name that is in only one of two graphs."""
    (pairs, nodes), (other_pairs, other_nodes) = first, second
    if nodes is not None and other_nodes is not None:
        same_names(nodes, other_nodes, sides)
    if nodes is not None:
        known(other_pairs, nodes, sides[0])
    if other_nodes is not None:
        known(pairs, other_nodes, sides[1])


def same_names(a: set[str], b: set[str], sides: tuple[str, str]) -> None:
    """Refuse two sets of names that differ."""
    if a != b:
        name = min(a ^ b, key=str)
        raise InputError(f'The names differ: "{name}" is missing from {sides[name in a]}.')


def known(pairs: Pairs, nodes: set[str], where: str, what: str = "An edge") -> None:
    """Refuse an edge that names an unknown node."""
    unknown = sorted({str(node) for node in names(pairs) if node not in nodes})
    if unknown:
        raise InputError(f'{what} names "{unknown[0]}", which is not in {where}: give both the same names.')


def names(pairs: Pairs) -> list[str]:
    """The parent and the child of every pair, in one list."""
    return [node for pair in pairs for node in pair]
