"""Agreement of an estimate with a reference (paper, Experimental Setup, Evaluation metrics), and sorting controls.

Edges are directed pairs (parent, child), and an order has its sources first. An undefined share, such as the precision
of an estimate without edges, is NaN. A reference may be partial: A_top and recall use only its edges. If it is a table
with a column `direction`, an edge with direction `unknown` counts as found, and as ordered correctly, in either
direction. SID and ancestor AID use every edge as given.

Two graphs are compared on the same nodes. A 0/1 matrix and a networkx.DiGraph list their nodes, so a name in only one
of them is an error. Pairs and edge tables do not list nodes, so their names may differ.
"""

import math
from collections.abc import Sequence
from typing import Any

from disco.errors import InputError
from disco.graph.dag import positions
from disco.metrics.adjustment_distance import ancestor_aid, cycle, sid
from disco.metrics.edges import (
    EdgeCounts,
    Edges,
    Pairs,
    again,
    agree,
    changes,
    counts,
    edge_jaccard,
    f1,
    known,
    precision,
    read,
    recall,
    shd,
    shd_reversals_once,
    undirected,
    verdicts,
)
from disco.metrics.equivalence import class_shd, equivalence_class, skeleton_f1
from disco.metrics.orders import (
    a_top,
    along,
    controls,
    order_agreement,
    order_by_excess,
    order_by_mean,
    order_by_variance,
    order_errors,
    wrong_removals,
)
from disco.metrics.precision_recall import (
    along_thresholds,
    average_precision,
    calibration,
    precision_recall,
    random_precision,
)
from disco.table.prepared import Prepared, Table, finite

_SHARES = ("a_top", "precision", "recall", "f1", "skeleton_f1")


def evaluate(
    truth: Edges, order: Sequence[str] | None = None, edges: Edges | None = None, table: Table | None = None
) -> dict[str, Any]:
    """All metrics of one estimate; None if an input is missing or the metric is undefined.

    Args:
        truth: the true edges; a column `direction` may mark directions that cannot be known.
        order: the estimated order, all nodes, sources first.
        edges: the estimated edges; with a cycle, SID and ancestor AID are None.
        table: the rows, for the sorting controls.

    Returns:
        a_top, precision, recall, f1, skeleton_f1, shd, shd_reversals_once, class_shd, sid, ancestor_aid; the numbers
        edges, true_edges and either_way (true edges whose direction cannot be known); and controls (mean, variance,
        excess).

    InputError: the nodes differ, the truth has a cycle, or the table does not contain finite numbers.
    """
    truth = again(truth)
    pairs, nodes = read(truth)
    if loop := cycle(pairs):
        raise InputError(f"The truth has the cycle {loop}; a causal graph has none.")
    values: dict[str, Any] = dict.fromkeys((*_SHARES, "shd", "shd_reversals_once", "class_shd"))
    values |= {"sid": None, "ancestor_aid": None, "edges": None, "true_edges": len(pairs), "controls": None}
    values["either_way"] = len(undirected(truth))
    if order is not None:
        known(pairs, set(positions(order)), "the order", "An edge of the truth")
        values["a_top"] = a_top(order, truth) if pairs else None
    if edges is not None:
        estimate, estimate_nodes = read(edges)
        agree((pairs, nodes), (estimate, estimate_nodes))
        if order is not None:
            known(estimate, set(order), "the order")
        values |= _edge_values(truth, estimate)
    if table is not None:
        prepared = Prepared(finite(table))
        columns = set(prepared.counts.columns)
        if order is not None:
            known([(node, node) for node in order], columns, "the table", "The order")
        known(pairs, columns, "the table", "An edge of the truth")
        values["controls"] = controls(prepared, truth) if pairs else None
    return values


def _edge_values(true: Edges, estimate: Pairs) -> dict[str, Any]:
    """The metrics of `evaluate` that concern edges."""
    agreed = counts(true, estimate)
    shares = {name: getattr(agreed, name) for name in ("precision", "recall", "f1")}
    shares["skeleton_f1"] = skeleton_f1(true, estimate)
    values: dict[str, Any] = {name: None if math.isnan(value) else value for name, value in shares.items()}
    values |= {"shd": agreed.shd, "shd_reversals_once": shd_reversals_once(true, estimate), "edges": len(estimate)}
    values["class_shd"] = class_shd(true, estimate)
    if not cycle(estimate):
        values |= {"sid": sid(true, estimate), "ancestor_aid": ancestor_aid(true, estimate)}
    return values
