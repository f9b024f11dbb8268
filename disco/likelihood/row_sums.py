"""Work at the rows, compiled, one problem after another.

Every row passes through some thirty small steps. As array operations, each step would read and write all rows of all
problems, which takes many times as long (benchmarks/log/2026-11-27-one-engine.md). Here a block of rows stays in the
cache through all steps, and products of columns are summed block by block. Compiled functions receive the whole arrays
of a problem, because loops over two-dimensional slices are not vectorised.
"""

import math
from typing import NamedTuple

import numpy as np

from disco.likelihood.cpu import within
from disco.likelihood.link import BENT, SERIES, SMALL
from disco.likelihood.products import BLOCK, add_dots, copy, curve_of
from disco.likelihood.rank_design import WIDTH

assert WIDTH == 4, "index_at_rows is unrolled for four columns per parent"

_EXP = np.array([1 / math.factorial(k) for k in range(14)])


class Rows(NamedTuple):
    """One problem's values at the rows, each (n,); the first four are overwritten by every evaluation."""

    index: np.ndarray  # s, the sum of the parents' effects
    eta: np.ndarray  # canonical parameter
    slope: np.ndarray  # ∂g/∂s
    along: np.ndarray  # ∂g/∂κ
    own: np.ndarray  # x̂, the node's own value
    weights: np.ndarray  # row weights; empty if all are 1
    offset: np.ndarray  # empty without one
    beside: np.ndarray  # h(z), written by every evaluation; empty without covariates


class Grid(NamedTuple):
    """A table over η."""

    low: float  # η at its first point
    width: float  # width of a cell
    lowest: float  # v̂ of the only remaining level below the grid
    highest: float  # and above it
    coefficients: np.ndarray  # coefficients of the powers of the position in a cell, one row per cell, (G − 1, 6 + 2 q)


class Evaluation(NamedTuple):
    """The results of one evaluation of one problem, as in `batch.Derivatives`."""

    slopes: np.ndarray
    curvature: np.ndarray
    gradient: np.ndarray
    information: np.ndarray


class Sums(NamedTuple):
    """Sums over the rows, with r = weight · (x̂ − E v̂, Var v̂, Cov(v̂, C)) at each; k includes the rows' own blocks.

    `products` are those with the columns of each block: first of the blocks' columns times the curvature, each pair of
    blocks once, then of the slopes.
    """

    powers: np.ndarray  # sums of the weight times the powers 0 to 5 of the position in a cell, by cell, (G, 6)
    plain: np.ndarray  # Σ r, (2 + q,)
    bending: np.ndarray  # Σ r ∂g/∂κ and Σ r (∂g/∂κ)², (2 + q, 2)
    products: np.ndarray  # (k, WIDTH · k + 3 + q, padded, WIDTH)


@within
def index_at_rows(columns, parents, beta, s, first, last):
    """s = Σ f_k over the blocks from `first` to before `last`; `columns` and `beta` are those of all blocks."""
    number = columns.dtype.type
    s[:] = 0
    for k in range(first, last):
        first_column, second_column = columns[parents[k], 0], columns[parents[k], 1]
        third_column, fourth_column = columns[parents[k], 2], columns[parents[k], 3]
        a, b = number(beta[WIDTH * k]), number(beta[WIDTH * k + 1])
        c, d = number(beta[WIDTH * k + 2]), number(beta[WIDTH * k + 3])
        for r in range(len(s)):
            s[r] += a * first_column[r] + b * second_column[r] + c * third_column[r] + d * fourth_column[r]


@within
def exp(x):
    """eˣ to within 1e-13 of itself for x from −100 to 4, and e⁻¹⁰⁰ below; unlike `math.exp` it is vectorised."""
    reduced, total = max(x, -100.0) / 256, 0.0
    for k in range(len(_EXP) - 1, -1, -1):
        total = total * reduced + _EXP[k]
    for _ in range(8):
        total *= total
    return total


@within
def _series(order, t):
    total = 0.0
    for k in range(SERIES.shape[1] - 1, -1, -1):
        total = total * t + SERIES[order, k]
    return total


@within
def bend_at_rows(rows, bend, intercept):
    """Write η and the derivatives of `link.bent` from s; returns the bounds of η, or NaN if it is not finite.

    Both forms of the link are computed at every row, so that the loop is vectorised.
    """
    s_at_rows, eta, slope, along, offset = rows.index, rows.eta, rows.slope, rows.along, rows.offset
    row_effects = rows.beside
    lowest, highest = BENT
    for r in range(len(eta)):
        s = np.float64(s_at_rows[r])
        t = bend * s
        bends, near = min(max(t, lowest), highest), abs(t) < SMALL
        risen, exact = exp(bends), 1.0 if near else t
        bent = (risen - 1.0 + risen * (t - bends)) / exact
        first = _series(0, t) if near else bent
        turned = _series(1, t) if near else (risen - bent) / exact
        slope[r] = risen
        eta[r] = s * first + intercept
        along[r] = s * s * turned
    for r in range(len(offset)):
        eta[r] += offset[r]
    for r in range(len(row_effects)):
        eta[r] += row_effects[r]
    low, high, total = eta[0], eta[0], 0.0
    for r in range(len(eta)):
        low, high = min(low, eta[r]), max(high, eta[r])
        total += eta[r]
    if not math.isfinite(total):  # the bounds alone may miss a NaN
        return np.nan, np.nan
    return np.float64(low), np.float64(high)


@within
def read_at_rows(columns, parents, outside, rows, bend, observed, grid, evaluation, sums):
    """Slopes, curvature and sums over the rows, from a table over η; returns Σ x̂ η minus A's increase beyond the grid.

    Slopes and curvature of `evaluation` are overwritten, `sums` are added to. If `observed` is true, the information is
    the observed one: the residuals times the second derivatives of η are subtracted.
    """
    slope, along, slopes, curvature = rows.slope, rows.along, evaluation.slopes, evaluation.curvature
    plain, bending, products = sums.plain, sums.bending, sums.products
    number, wide, moments = columns.dtype.type, WIDTH * len(parents), len(plain)
    weighted, times = np.zeros((products.shape[1], BLOCK), columns.dtype), np.empty((moments, BLOCK), columns.dtype)
    index = 0.0
    for start in range(0, len(slope), BLOCK):
        size = min(BLOCK, len(slope) - start)
        index += _residuals(rows, start, size, grid, times, sums.powers)
        rise, turn = slope[start : start + size], along[start : start + size]
        for i in range(moments):
            value, sloped = times[i], weighted[wide + i]
            total = once = twice = number(0)
            for r in range(size):
                sloped[r] = value[r] * rise[r]
            for r in range(size):  # separate: see `_index`
                total += value[r]
                once += value[r] * turn[r]
                twice += value[r] * turn[r] * turn[r]
            plain[i] += total
            bending[i, 0] += once
            bending[i, 1] += twice
        variance, bent = weighted[wide + 1], weighted[wide + moments]
        curved = curvature[start : start + size]
        for r in range(size):
            bent[r] = variance[r] * turn[r]
            curved[r] = variance[r] * rise[r]
        if observed:
            bending[1, 1] -= _turned(times[0], rows.index, rise, turn, start, size, number(bend), bent, curved)
        for i in range(1 + moments):
            copy(weighted[wide + i, :size], slopes[i, start : start + size])
        for k in range(outside, len(parents)):
            curve_of(columns[parents[k]], curved, start, size, weighted, WIDTH * k)
        for k in range(outside, len(parents)):
            add_dots(weighted, WIDTH * k, columns[parents[k]], start, size, products[k])
        if outside:
            _own_products(columns, parents, outside, turn, start, size, times, weighted, products)
    return index


@within
def _own_products(columns, parents, outside, turn, start, size, times, weighted, products):
    """Add the products of the rows' own columns, which enter η outside the link; `weighted` is overwritten."""
    wide, moments = WIDTH * len(parents), len(times)
    variance, sloped, bent = times[1, :size], weighted[wide + 1, :size].copy(), weighted[wide + moments]
    for k in range(len(parents)):
        curve_of(columns[parents[k]], variance if k < outside else sloped, start, size, weighted, WIDTH * k)
    for i in range(moments):
        copy(times[i, :size], weighted[wide + i, :size])
    for r in range(size):
        bent[r] = variance[r] * turn[r]
    for k in range(outside):
        add_dots(weighted, WIDTH * k, columns[parents[k]], start, size, products[k])


@within
def _residuals(rows, start, size, grid, times, powers):
    """x̂ − E v̂, Var v̂ and Cov(v̂, C) times the weight at a block of rows, into `times`; returns `_index` of them."""
    x_hat, weights, coefficients = rows.own, rows.weights, grid.coefficients
    number = x_hat.dtype.type
    cells, offsets = np.empty(BLOCK, np.int32), np.empty(BLOCK, x_hat.dtype)
    _located(rows, start, size, grid, cells, offsets)
    lines, unit = (coefficients.shape[1] - 4) // 2, number(1)
    for r in range(size):
        cell, at = cells[r], offsets[r]
        c = coefficients[cell]
        weight = weights[start + r] if len(weights) else unit
        mean = c[0] + at * (c[1] + at * (c[2] + at * c[3]))
        times[0, r] = weight * (x_hat[start + r] - mean)
        for i in range(lines):
            times[1 + i, r] = weight * (c[4 + i] + at * c[4 + lines + i])
        power = np.float64(weight)
        for i in range(6):
            powers[cell, i] += power
            power *= np.float64(at)
    return _index(rows, start, size, grid)


@within
def _located(rows, start, size, grid, cells, offsets):
    """The cell of each row of a block in a table over η, and the position in it."""
    eta = rows.eta
    number = eta.dtype.type
    first, each, top = number(grid.low), number(1 / grid.width), number(len(grid.coefficients) - 1e-3)
    zero = number(0)
    for r in range(size):
        located = min(max((eta[start + r] - first) * each, zero), top)
        cells[r] = np.int32(located)
        offsets[r] = located - number(cells[r])


@within
def _index(rows, start, size, grid):
    """Σ x̂ η of a block of rows, minus the increase of the normaliser beyond the grid.

    A summing loop must not write: otherwise the order of its sum, and so the last digit, would depend on the arrays'
    positions in memory.
    """
    x_hat, weights, eta = rows.own, rows.weights, rows.eta
    number = eta.dtype.type
    first, each, top = number(grid.low), number(1 / grid.width), number(len(grid.coefficients) - 1e-3)
    cell_width, bottom, peak = number(grid.width), number(grid.lowest), number(grid.highest)
    zero, unit, index = number(0), number(1), 0.0
    for r in range(size):
        e, x = eta[start + r], x_hat[start + r]
        cell = (e - first) * each
        beyond = (cell - min(max(cell, zero), top)) * cell_width
        weight = weights[start + r] if len(weights) else unit
        # Beyond the grid a single level remains, and the normaliser increases with it.
        tail = (x - (peak if beyond > zero else bottom)) * beyond
        index += np.float64(weight) * (np.float64(x * (e - beyond)) + np.float64(tail))
    return index


@within
def _turned(residual, s, rise, turn, start, size, bend, bent, curved):
    """Subtract the residuals times ∂²η/∂s∂κ and ∂²η/∂s²; returns their sum times ∂²η/∂κ²."""
    number = rise.dtype.type
    total, none, two, lowest, highest = 0.0, number(0), number(2), number(BENT[0]), number(BENT[1])
    for r in range(size):
        index, t = s[start + r], bend * s[start + r]
        second = rise[r] if lowest < t < highest else none  # of h, where g = h(κ s) / κ
        bent[r] -= residual[r] * index * second
        curved[r] -= residual[r] * bend * second
    for r in range(size):  # separate: see `_index`
        index, t = s[start + r], bend * s[start + r]
        second = rise[r] if lowest < t < highest else none
        if abs(t) < SMALL:
            total += np.float64(residual[r] * index * index * index) * _series(2, t)
        else:
            total += np.float64(residual[r] * (index * index * second - two * turn[r]) / bend)
    return total
