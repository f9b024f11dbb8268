"""How near an estimate is to a reference (paper, Experimental Setup, Evaluation metrics), and the sorting controls.

Edges are compared as directed pairs (parent, child): a true positive is a pair in both, and with TP, FP and FN
counted so, F1 = 2 TP / (2 TP + FP + FN) and SHD = FP + FN, in which a reversed edge counts twice. A share of
nothing, such as the precision of an estimate without edges, is NaN.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from disco.errors import InputError

Edges = pd.DataFrame | Iterable[tuple[str, str]]
"""A table with columns parent and child, a square 0/1 matrix with rows parents and columns children, or pairs."""


class Counts(NamedTuple):
    """Directed pairs in both, in the estimate alone, and in the truth alone."""

    true_positives: int
    false_positives: int
    false_negatives: int


def a_top(order: Sequence[str], edges: Edges) -> float:
    """The share of reference edges (u, v) whose u stands before v in the order.

    Args:
        order: all nodes, sources first.
        edges: the reference, at least one edge.

    Raises:
        InputError: there is no edge, or an edge names a node that is not in the order.
    """
    pairs, _ = _pairs(edges)
    if not pairs:
        raise InputError("The reference has no edges, and A_top is a share of them: give at least one edge.")
    _known(pairs, set(order), "the order")
    position = {node: place for place, node in enumerate(order)}
    return sum(position[u] < position[v] for u, v in pairs) / len(pairs)


def counts(truth: Edges, estimate: Edges) -> Counts:
    """The directed pairs that agree and disagree.

    Raises:
        InputError: the nodes of the two do not agree.
    """
    (true, true_nodes), (found, found_nodes) = _pairs(truth), _pairs(estimate)
    if true_nodes is not None and found_nodes is not None and true_nodes != found_nodes:
        name = min(true_nodes ^ found_nodes)
        side = "the estimate" if name in true_nodes else "the truth"
        raise InputError(f'Truth and estimate have different nodes: "{name}" is missing from {side}.')
    if true_nodes is not None:
        _known(found, true_nodes, "the truth")
    if found_nodes is not None:
        _known(true, found_nodes, "the estimate")
    return Counts(len(true & found), len(found - true), len(true - found))


def precision(truth: Edges, estimate: Edges) -> float:
    """The share of estimated edges that are true."""
    both, extra, _ = counts(truth, estimate)
    return both / (both + extra) if both + extra else math.nan


def recall(truth: Edges, estimate: Edges) -> float:
    """The share of true edges that are estimated."""
    both, _, missed = counts(truth, estimate)
    return both / (both + missed) if both + missed else math.nan


def f1(truth: Edges, estimate: Edges) -> float:
    """The harmonic mean of precision and recall."""
    both, extra, missed = counts(truth, estimate)
    return 2 * both / (2 * both + extra + missed) if both + extra + missed else math.nan


def shd(truth: Edges, estimate: Edges) -> int:
    """The structural Hamming distance FP + FN; a reversed edge counts 2."""
    _, extra, missed = counts(truth, estimate)
    return extra + missed


def order_by_mean(table: pd.DataFrame) -> list[str]:
    """The columns by rising mean: a control, since simulated counts often grow along the causal order."""
    return _sorted_by(table, table.mean())


def order_by_variance(table: pd.DataFrame) -> list[str]:
    """The columns by rising variance: a control."""
    return _sorted_by(table, table.var())


def order_by_excess(table: pd.DataFrame) -> list[str]:
    """The columns by rising variance - mean, which is 0 for a Poisson source: a control."""
    return _sorted_by(table, table.var() - table.mean())


def _sorted_by(table: pd.DataFrame, values: pd.Series) -> list[str]:
    """Column names by rising value; ties keep the order of the columns."""
    return [table.columns[k] for k in values.to_numpy().argsort(kind="stable")]


def _pairs(edges: Edges) -> tuple[set[tuple[str, str]], set[str] | None]:
    """The directed pairs, and all nodes where the form tells them."""
    if not isinstance(edges, pd.DataFrame):
        return {(parent, child) for parent, child in edges}, None
    if list(edges.index) == list(edges.columns) and len(edges):
        rows, columns = edges.to_numpy().nonzero()
        names = list(edges.columns)
        return {(names[i], names[j]) for i, j in zip(rows, columns, strict=True)}, set(names)
    if {"parent", "child"} <= set(edges.columns):
        return set(zip(edges["parent"], edges["child"], strict=True)), None
    raise InputError("Edges need columns parent and child, or a square matrix with the same names on both sides.")


def _known(pairs: set[tuple[str, str]], nodes: set[str], where: str) -> None:
    """Refuse an edge that names a node which is not there."""
    unknown = sorted({node for pair in pairs for node in pair} - nodes)
    if unknown:
        raise InputError(f'An edge names "{unknown[0]}", which is not in {where}: give both the same names.')
