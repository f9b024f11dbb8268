"""Parents by the pruning step of a causal additive model (CAM; Bühlmann, Peters and Ernest, 2014), given an order.

Each node is regressed on smooths of all its predecessors, with normal errors, on the untransformed table,

    X_i = μ_i + Σ_{j before i} f_j(X_j) + ε_i,

and j → i is kept if the test of f_j = 0 has p < 0.001, the cutoff of the paper (*Parent Selection*). The smooths of the
original CAM are penalised, and their p-values are approximate. Here they are regression splines with few columns, for
which the F test is exact under normal errors. With the columns Z of all nodes in causal order, one factor Zᵀ Z = L Lᵀ
serves every node: for the columns P of the nodes before i, which come first, and w = (L⁻¹ Zᵀ X_i)_P,

    RSS = ‖X_i‖² − ‖w‖²,   b = (L⁻¹)_PPᵀ w,   V = (L⁻¹)_PPᵀ (L⁻¹)_PP,   F_j = b_jᵀ V_jj⁻¹ b_j / q_j / s²,

with q_j columns of f_j and s² = RSS / (n − 1 − |P|).

With an adjustment, every regression also has covariates and exposure, C, which are neither tested nor dropped. Z and X
are then their residuals given C, with the same RSS, b and F, and n is reduced by the rank of C. With an exposure, X and
the values in the smooths are rates, count / exposure.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.linalg.lapack import dtrtri
from scipy.special import fdtrc

from disco.fields import between, require, whole_from
from disco.progress import Callback, Reporter
from disco.selectors import STOPPED
from disco.selectors.smooths import (
    SPANNED,
    adjustment_columns,
    as_table,
    check_rows,
    cholesky,
    in_order,
    normalised,
    spanning,
    spline_basis,
    unexplained,
)
from disco.table.adjustment import Adjustment
from disco.table.prepared import Table

COLUMNS = 3  # of a smooth


def edges(
    table: Table,
    order: Sequence[str],
    *,
    cutoff: float = 0.001,
    columns: int = COLUMNS,
    adjustment: Adjustment | None = None,
    callback: Callback | None = None,
) -> pd.DataFrame:
    """The F test of every candidate edge: parent, child, score (F), p_value, selected; in causal order.

    A predecessor in the span of covariates or earlier ones, such as a copy, is dropped: it has score 0 and p-value 1,
    and the earlier ones are tested without it. A node that is constant, or in the span of covariates, also has score 0
    and p-value 1, both as a parent and as a child.

    Args:
        table: numbers, whole or not, (rows, nodes).
        order: its columns' names, each once, sources first.
        cutoff: the p-value below which an edge is selected.
        columns: q, the columns of a smooth: 1 is a straight line, 2 and 3 are polynomials of that degree, more are
            cubic splines. A node with m distinct values has at most m - 1. More columns fit more shapes but have less
            power.
        callback: receives an event after each child; returning False stops the tests.

    Raises:
        InputError: order and table do not have the same names, the table does not hold finite numbers, there are too
            few rows for the predecessors, or cutoff or columns is out of range.
    """
    require("cutoff", cutoff, between(0, 1))
    require("columns", columns, whole_from(1))
    reporter = Reporter(callback, {"selector": 1.0}, STOPPED)
    values, sizes = in_order(table, order, columns, adjustment)
    basis = spanning(adjustment_columns(adjustment, len(values)))
    check_rows(len(values), sizes, order, extra=basis.shape[1])
    columns, freedom = max(sizes.max(), 1), len(values) - basis.shape[1]
    smooths = unexplained(np.hstack([spline_basis(value, columns) for value in values.T]), basis)
    factor, is_independent = cholesky(smooths.T @ smooths)
    projections = smooths.T @ unexplained(normalised(values), basis)
    projections[~is_independent] = 0.0
    score, p_value = _tests(projections, factor, is_independent.reshape(-1, columns).sum(axis=1), freedom, reporter)
    return as_table(order, score, p_value, cutoff)


def _tests(
    projections: np.ndarray, factor: np.ndarray, sizes: np.ndarray, freedom: int, reporter: Reporter
) -> tuple[np.ndarray, np.ndarray]:
    """F and its p-value, both (children, parents) by position in the order; 0 and 1 unless the parent comes first.

    Args:
        projections: Zᵀ X with every X of norm 1, (nodes * columns, nodes).
        factor: L, (nodes * columns, nodes * columns).
        sizes: q_j, the number of each smooth's columns outside the span of earlier ones, (nodes,).
        freedom: n.
    """
    nodes = len(sizes)
    columns = len(factor) // nodes
    inverse = np.tril(dtrtri(factor, lower=1)[0])
    precedes = np.arange(nodes).repeat(columns)[:, None] < np.arange(nodes)
    w = np.where(precedes, inverse @ projections, 0.0)
    slopes = inverse.T @ w
    free = freedom - 1 - (sizes.cumsum() - sizes)
    # An exact fit leaves only rounding errors; without a bound, a useless predecessor would be tested on these.
    variance = np.maximum(1.0 - (w**2).sum(axis=0), SPANNED) / free
    score, p_value = np.zeros((nodes, nodes)), np.ones((nodes, nodes))
    blocks = np.zeros((nodes, columns, columns))  # V_jj, to which each further predecessor adds its rows of L⁻¹
    for child in range(1, nodes):
        last, end = slice((child - 1) * columns, child * columns), child * columns
        added = inverse[last, :end].reshape(columns, child, columns)
        blocks[:child] += np.einsum("rja,rjb->jab", added, added)
        b = slopes[:end, child].reshape(child, columns)
        explained = (b * np.linalg.solve(blocks[:child], b[..., None])[..., 0]).sum(axis=1)
        tested = np.maximum(sizes[:child], 1)  # a spanned smooth explains 0
        score[child, :child] = explained / tested / variance[child]
        p_value[child, :child] = fdtrc(tested, free[child], score[child, :child])
        reporter.step("selector", child, nodes - 1, unit="node")
    return score, p_value
