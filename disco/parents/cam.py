"""Parents by the pruning of a causal additive model (CAM; Bühlmann, Peters and Ernest, 2014), given an order.

Each node is regressed on smooths of all its predecessors, with normal errors and the table as it is,

    X_i = μ_i + Σ_{j before i} f_j(X_j) + ε_i,

and j → i is kept where the test of f_j = 0 has p < 0.001, the cutoff of the paper (*Parent Selection*). Its smooths are
penalised and their p-values approximate; here they are regression splines of few columns, for which the F test is exact
under normal errors. With the columns Z of all nodes in causal order and Zᵀ Z = L Lᵀ, one factor serves every node: for
the columns P before node i, which come first, and w = (L⁻¹ Zᵀ X_i)_P,

    RSS = ‖X_i‖² − ‖w‖²,   b = (L⁻¹)_PPᵀ w,   V = (L⁻¹)_PPᵀ (L⁻¹)_PP,   F_j = b_jᵀ V_jj⁻¹ b_j / q_j / s²,

with q_j columns of f_j and s² = RSS / (n − 1 − |P|).
"""

import numbers
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy.interpolate import BSpline
from scipy.linalg.lapack import dtrtri
from scipy.special import fdtrc

from disco.counts import check_order
from disco.errors import FitStopped, InputError

_DEGREE = 3
_SPANNED = 1e-8  # a column of which others leave a smaller share, in squared norm, is taken to be spanned by them
_BLOCK = 128  # columns factorised together, for speed alone


def edges(
    table: pd.DataFrame,
    order: Sequence[str],
    *,
    cutoff: float = 0.001,
    columns: int = 3,
    goes_on: Callable[[int, int], bool] = lambda done, total: True,
) -> pd.DataFrame:
    """The F test of every candidate edge.

    A predecessor that earlier ones span, such as a copy of one of them, is left out: it has score 0 and p-value 1, and
    the earlier ones are tested without it. A constant has the same score and p-value, as a parent and as a child.

    Args:
        table: numbers, whole or not, (rows, nodes).
        order: the names of its columns, each once, sources first.
        cutoff: the p-value below which an edge is kept.
        columns: q, the columns of a smooth: 1 is a straight line, 2 and 3 are polynomials of that degree, more are
            cubic splines. A node of m distinct values has at most m - 1. More columns see more shapes with less power.
        goes_on: told after each child how many are done, and of how many; False stops.

    Returns:
        Columns parent, child, score (F), p_value and selected, children in causal order, and parents within a child.

    Raises:
        InputError: order and table do not have the same names, a value is no finite number, the rows are too few for
            the predecessors, or cutoff or columns is out of its range.
        FitStopped: `goes_on` asked for it.
    """
    _check_settings(cutoff, columns)
    check_order(order, table.columns)
    values = np.stack([_numbers(table, name) for name in order], axis=1)
    sizes = np.clip([len(np.unique(value)) - 1 for value in values.T], 0, columns)
    check_rows(len(values), sizes, order)
    columns = max(sizes.max(), 1)
    smooths = np.hstack([_smooth(value, columns) for value in values.T])
    factor, own = _factor(smooths.T @ smooths)
    projections = smooths.T @ _units(values)
    projections[~own] = 0.0
    score, p_value = _tests(projections, factor, own.reshape(-1, columns).sum(axis=1), len(values), goes_on)
    child, parent = np.tril_indices(len(order), -1)
    names = np.array(list(order), dtype=object)
    found = pd.DataFrame({"parent": names[parent], "child": names[child], "score": score[child, parent]})
    return found.assign(p_value=p_value[child, parent], selected=p_value[child, parent] < cutoff)


def _tests(
    projections: np.ndarray, factor: np.ndarray, sizes: np.ndarray, rows: int, goes_on: Callable[[int, int], bool]
) -> tuple[np.ndarray, np.ndarray]:
    """F and its p-value, both (children, parents) by place in the order; 0 and 1 where the parent does not come first.

    Args:
        projections: Zᵀ X with every X of norm 1, (nodes * columns, nodes).
        factor: L, (nodes * columns, nodes * columns).
        sizes: q_j, the columns of each smooth that earlier columns do not span, (nodes,).
    """
    nodes = len(sizes)
    columns = len(factor) // nodes
    inverse = np.tril(dtrtri(factor, lower=1)[0])
    before = np.arange(nodes).repeat(columns)[:, None] < np.arange(nodes)
    w = np.where(before, inverse @ projections, 0.0)
    slopes = inverse.T @ w
    free = rows - 1 - (sizes.cumsum() - sizes)
    # An exact fit leaves rounding, so that predecessors that add nothing would be tested by dividing noise by noise.
    variance = np.maximum(1.0 - (w**2).sum(axis=0), _SPANNED) / free
    score, p_value = np.zeros((nodes, nodes)), np.ones((nodes, nodes))
    blocks = np.zeros((nodes, columns, columns))  # V_jj, which grows by the rows of L⁻¹ of each further predecessor
    for child in range(1, nodes):
        last, end = slice((child - 1) * columns, child * columns), child * columns
        added = inverse[last, :end].reshape(columns, child, columns)
        blocks[:child] += np.einsum("rja,rjb->jab", added, added)
        b = slopes[:end, child].reshape(child, columns)
        explained = (b * np.linalg.solve(blocks[:child], b[..., None])[..., 0]).sum(axis=1)
        freedom = np.maximum(sizes[:child], 1)  # a spanned smooth explains 0
        score[child, :child] = explained / freedom / variance[child]
        p_value[child, :child] = fdtrc(freedom, free[child], score[child, :child])
        if not goes_on(child, nodes - 1):
            raise FitStopped("Stopped while parents were tested.")
    return score, p_value


def _smooth(values: np.ndarray, columns: int) -> np.ndarray:
    """An orthonormal basis of the centred cubic splines of a node, (rows, columns), with zeros for columns it lacks.

    Knots are quantiles of the distinct values, not of the rows: on counts the latter coincide. An F test is the same
    for any basis of the same functions, and this one keeps rounding small.
    """
    basis = np.zeros((len(values), columns))
    above = values - values.min()
    distinct, places = np.unique(above / (above.max() or 1.0), return_inverse=True)
    size = min(columns, len(distinct) - 1)
    if size < 1:
        return basis
    degree = min(_DEGREE, size)
    inner = np.unique(np.quantile(distinct, np.linspace(0, 1, size - degree + 2)[1:-1]))
    knots = np.concatenate([np.zeros(degree + 1), inner, np.ones(degree + 1)])
    # The first is 1 minus the others, which the mean of the node stands for.
    splines = BSpline.design_matrix(distinct, knots, degree).toarray()[places, 1:]
    splines -= splines.mean(axis=0)
    norms = np.linalg.norm(splines, axis=0)
    q, r = np.linalg.qr(splines / np.where(norms > 0, norms, 1.0))
    basis[:, : q.shape[1]] = q * (np.abs(np.diag(r)) > _SPANNED)
    return basis


def _units(values: np.ndarray) -> np.ndarray:
    """Each column centred and with norm 1, (rows, nodes); a constant as zeros."""
    above = values - values.min(axis=0)  # exactly 0 for a constant, which it need not be after its mean is subtracted
    centred = above - above.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    return centred / np.where(norms > 0, norms, 1.0)


def _factor(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L, (all, all), of the Gram matrix of columns of norm 1 or 0, and which of them earlier ones do not span, (all,).

    A spanned column keeps its place with the row and column of an identity, so that it touches no other.
    """
    factor, own = np.zeros_like(gram), np.ones(len(gram), dtype=bool)
    for start in range(0, len(gram), _BLOCK):
        stop = min(start + _BLOCK, len(gram))
        panel = gram[start:, start:stop] - factor[start:, :start] @ factor[start:stop, :start].T
        for place in range(start, stop):
            left = panel[place - start :, place - start] - factor[place:, start:place] @ factor[place, start:place]
            own[place] = left[0] > _SPANNED
            if own[place]:
                factor[place:, place] = left / np.sqrt(left[0])
            else:
                factor[place, :place], factor[place, place] = 0.0, 1.0
    return factor, own


def _numbers(table: pd.DataFrame, name: str) -> np.ndarray:
    """One column as finite numbers, (rows,)."""
    try:
        values = table[name].to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputError(f'Column "{name}" is not of numbers: correct it, or leave it out.') from None
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd):
        raise InputError(f'Column "{name}" has no finite number in row {odd[0] + 1}: correct it, or leave the row out.')
    return values


def check_rows(rows: int, sizes: np.ndarray, order: Sequence[str], parts: int = 1) -> None:
    """Refuse smooths of so many columns, (nodes,), that the last node's regression leaves no row for its error.

    Args:
        rows: of the table.
        sizes: columns of each node's smooth, in causal order.
        order: their names.
        parts: into how many equal parts the rows are split, each with a regression of its own.

    Raises:
        InputError: the rows of a part are too few.
    """
    needed, others, each = int(sizes[:-1].sum()) + 2, len(sizes) - 1, rows // parts
    if each < needed:
        fewer = (each - 2) // max(others, 1)
        remedy = f"at least {parts * needed} rows" + (f", or columns = {fewer}" if fewer > 0 else "")
        which = f"{each} rows" + (", half of the table's" if parts == 2 else "")
        raise InputError(
            f'The regression of "{order[-1]}" on {others} nodes has {needed - 2} columns, too many for {which}: '
            f"give {remedy}."
        )


def _check_settings(cutoff: float, columns: int) -> None:
    if isinstance(cutoff, bool) or not isinstance(cutoff, numbers.Real) or not 0 <= cutoff <= 1:
        raise InputError(f"cutoff must be a number from 0 to 1; got {cutoff!r}.")
    if isinstance(columns, bool) or not isinstance(columns, numbers.Integral) or columns < 1:
        raise InputError(f"columns must be a whole number from 1 up; got {columns!r}.")
