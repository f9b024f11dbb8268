"""Regressions on smooths of a node's predecessors, for `cam` and `pcm`.

A smooth is a regression spline with a few columns. The columns Z of all nodes, in causal order, have one Cholesky
factor, Zᵀ Z = L Lᵀ, for the regressions of every node on the nodes before it.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.interpolate import BSpline

from disco.errors import InputError
from disco.graph.dag import check_order
from disco.table.adjustment import CATEGORICAL, Adjustment
from disco.table.prepared import Table, finite

SPANNED = 1e-8  # a column is in the span of others if its residual has less than this share of its squared norm
_DEGREE = 3
_COVARIATE = 6  # columns of a covariate's smooth: more than a node's, because a residual effect would look like an edge
_BLOCK = 128  # columns factorised together, for speed


def in_order(
    table: Table, order: Sequence[str], columns: int, adjustment: Adjustment | None
) -> tuple[np.ndarray, np.ndarray]:
    """The table as floats with its columns in causal order, (rows, nodes), and the columns of each smooth, (nodes,).

    With an exposure, a count becomes a rate, since the exposure multiplies its mean; a constant column stays constant.

    Args:
        table: numbers, whole or not, (rows, nodes).
        order: its columns' names, each once, sources first.
        columns: the columns of a smooth; a node with m distinct values has at most m - 1.

    InputError: order and table do not have the same names, or the table does not contain finite numbers.
    """
    numbers = finite(table)
    check_order(order, numbers.columns)
    values = np.stack([numbers[name].to_numpy(dtype=float) for name in order], axis=1)
    if adjustment is not None and adjustment.log_exposure is not None:
        constant = (values == values[:1]).all(axis=0)
        values = np.where(constant, values, values / np.exp(adjustment.log_exposure)[:, None])
    sizes = np.clip([len(np.unique(value)) - 1 for value in values.T], 0, columns)
    return values, sizes


def check_rows(rows: int, sizes: np.ndarray, order: Sequence[str], splits: int = 1, extra: int = 0) -> None:
    """Refuse a table with too few rows for the largest regression, that of the last node on all others.

    Args:
        rows: the table's rows, or the rows of the smallest split times the number of splits.
        sizes: columns of each node's smooth, in causal order, (nodes,).
        splits: the rows are split this often, each split with its own regression.
        extra: columns of covariates and exposure.
    """
    needed, nodes, each = int(sizes[:-1].sum()) + extra + 2, len(sizes) - 1, rows // splits
    if each < needed:
        fewer = (each - extra - 2) // max(nodes, 1)
        remedy = f"at least {splits * needed} rows" + (f", or columns = {fewer}" if fewer > 0 else "")
        which = f"{each} rows" + (", half of the table's" if splits == 2 else "")
        raise InputError(
            f'The regression of "{order[-1]}" on {nodes} nodes{" and the covariates" * (extra > 0)} has {needed - 2} '
            f"columns, too many for {which}: use {remedy}."
        )


def as_table(order: Sequence[str], score: np.ndarray, p_value: np.ndarray, cutoff: float) -> pd.DataFrame:
    """Tests, (children, parents) by position in the order, as a table: parent, child, score, p_value, selected."""
    (child, parent), names = np.tril_indices(len(order), -1), np.array(list(order), dtype=object)
    tests = pd.DataFrame({"parent": names[parent], "child": names[child], "score": score[child, parent]})
    return tests.assign(p_value=p_value[child, parent], selected=p_value[child, parent] < cutoff)


def spline_basis(values: np.ndarray, columns: int) -> np.ndarray:
    """An orthonormal basis of a node's centred cubic splines, (rows, columns).

    A node with too few distinct values has zeros in the missing columns. Knots are quantiles of the distinct values,
    not of the rows, because on counts the latter coincide. An F test is the same for any basis of the same functions;
    this one keeps rounding errors small.
    """
    basis = np.zeros((len(values), columns))
    above = values - values.min()
    distinct, indices = np.unique(above / (above.max() or 1.0), return_inverse=True)
    size = min(columns, len(distinct) - 1)
    if size < 1:
        return basis
    degree = min(_DEGREE, size)
    inner = np.unique(np.quantile(distinct, np.linspace(0, 1, size - degree + 2)[1:-1]))
    knots = np.concatenate([np.zeros(degree + 1), inner, np.ones(degree + 1)])
    # The first spline is 1 minus the others, so the node's mean already represents it.
    splines = BSpline.design_matrix(distinct, knots, degree).toarray()[indices, 1:]
    splines -= splines.mean(axis=0)
    norms = np.linalg.norm(splines, axis=0)
    q, r = np.linalg.qr(splines / np.where(norms > 0, norms, 1.0))
    basis[:, : q.shape[1]] = q * (np.abs(np.diag(r)) > SPANNED)
    return basis


def adjustment_columns(adjustment: Adjustment | None, rows: int) -> np.ndarray:
    """The columns of every regression in addition to its nodes, (rows, columns): smooths, and one column per level.

    The exposure enters by a smooth of its logarithm: rates still depend on it where counts act on counts.
    """
    if adjustment is None:
        return np.zeros((rows, 0))
    blocks = [
        np.eye(len(covariate.levels))[covariate.values]
        if covariate.kind == CATEGORICAL
        else spline_basis(covariate.scale, _COVARIATE)
        for covariate in adjustment.covariates
    ]
    if adjustment.log_exposure is not None:
        blocks.append(spline_basis(adjustment.log_exposure, _COVARIATE))
    return np.hstack([*blocks, np.zeros((rows, 0))])


def spanning(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the centred columns, (rows, rank)."""
    if not columns.size:
        return columns
    basis, sizes, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return basis[:, sizes**2 > SPANNED * (sizes**2).max(initial=0.0)]


def unexplained(values: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Residuals of centred columns given an orthonormal basis, of norm 1, or 0 if in its span, (rows, columns).

    A regression on the basis and other columns has the same residuals as a regression of residuals on residuals.
    """
    if not basis.shape[1]:
        return values
    rest = values - basis @ (basis.T @ values)
    norms, total = np.linalg.norm(rest, axis=0), np.linalg.norm(values, axis=0)
    is_independent = norms**2 > SPANNED * total**2
    return rest * is_independent / np.where(is_independent, norms, 1.0)


def normalised(values: np.ndarray) -> np.ndarray:
    """Each column centred and scaled to norm 1, (rows, nodes); a constant column becomes zeros."""
    above = values - values.min(axis=0)  # exactly 0 for a constant column; subtracting its mean may leave rounding
    centred = above - above.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    return centred / np.where(norms > 0, norms, 1.0)


def cholesky(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Cholesky factor L of a Gram matrix, (all, all), and a mask of columns outside the span of earlier ones.

    The Gram matrix is that of columns of norm 1 or 0. A spanned column keeps its position, with the row and column of
    an identity matrix, so that it affects no other.
    """
    factor, is_independent = np.zeros_like(gram), np.ones(len(gram), dtype=bool)
    for start in range(0, len(gram), _BLOCK):
        stop = min(start + _BLOCK, len(gram))
        panel = gram[start:, start:stop] - factor[start:, :start] @ factor[start:stop, :start].T
        for index in range(start, stop):
            remainder = panel[index - start :, index - start] - factor[index:, start:index] @ factor[index, start:index]
            is_independent[index] = remainder[0] > SPANNED
            if is_independent[index]:
                factor[index:, index] = remainder / np.sqrt(remainder[0])
            else:
                factor[index, :index], factor[index, index] = 0.0, 1.0
    return factor, is_independent
