"""Work at the rows, compiled for the CPU, one problem after another.

Every row goes through some thirty small steps. As array operations, each step reads and writes all rows of all
problems, and that is most of the time of a fit on a CPU. Here a block of rows stays in the cache through all steps, and
products of columns are summed block by block. The array form of the same steps, for a GPU, is in `evaluate` and
`steps`. Compiled functions get the whole arrays of a problem, because loops over slices of two dimensions are not
vectorised.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from disco.likelihood.bank import WIDTH
from disco.likelihood.cpu import arrays, compiled, side_by_side, within
from disco.likelihood.link import BENT, SERIES, SMALL

assert WIDTH == 4, "index_at_rows and _add_dots are unrolled for four columns per parent"

_EXP = np.array([1 / math.factorial(k) for k in range(14)])
BLOCK = 1024  # rows at a time; what is kept of them fits into a core's cache


class Rows(NamedTuple):
    """What one problem has at the rows, each (n,); the first four are room that every evaluation fills.

    Attributes:
        index: s, the sum of the parents' effects.
        eta: canonical parameter.
        slope, along: ∂g/∂s and ∂g/∂κ.
        own: x̂, the node's own value.
        weights: of the rows; empty if all are 1.
        offset: empty if there is none.
    """

    index: np.ndarray
    eta: np.ndarray
    slope: np.ndarray
    along: np.ndarray
    own: np.ndarray
    weights: np.ndarray
    offset: np.ndarray


class Grid(NamedTuple):
    """A table over η.

    Attributes:
        low: η at its first point.
        width: of a cell.
        lowest, highest: v̂ of the only level left below the grid, and of the one above it.
        coefficients: by powers of the place in a cell, one row per cell, (G − 1, 6 + 2 q).
    """

    low: float
    width: float
    lowest: float
    highest: float
    coefficients: np.ndarray


class Evaluation(NamedTuple):
    """What one evaluation of one problem gives, as in `evaluate.Derivatives`."""

    slopes: np.ndarray
    curvature: np.ndarray
    gradient: np.ndarray
    information: np.ndarray


class Sums(NamedTuple):
    """Sums over the rows, as in `evaluate.AtRows` unless said otherwise.

    Attributes:
        powers: of the weight times the powers 0 to 5 of the place in a cell, by cell, (G, 6).
        plain: (2 + q,).
        bending: (2 + q, 2).
        products: with the columns of each parent, (k, WIDTH · k + 3 + q, padded, WIDTH): first those of the parents'
            columns times the curvature, each pair of parents once, then those of the slopes.
    """

    powers: np.ndarray
    plain: np.ndarray
    bending: np.ndarray
    products: np.ndarray


def products(
    columns: Tensor, parents: Tensor, slopes: Tensor, curvature: Tensor, candidates: Tensor
) -> tuple[Tensor, Tensor]:
    """Products of every candidate's columns, summed over the rows: with `slopes`, the parents' columns, and themselves.

    Args:
        columns: of all nodes, (d, WIDTH, n).
        parents: node numbers, (B, k), padded with −1.
        slopes, curvature: of `evaluate.Derivatives`; products of two columns are times the curvature.
        candidates: node numbers, (B, c), padded with −1, for which the sums are 0.

    Returns:
        (B, 3 + q + WIDTH · k, c, WIDTH) and (B, c, WIDTH, WIDTH).
    """
    (batch, count), wide = candidates.shape, WIDTH * parents.shape[1]
    sums = torch.zeros((batch, count, padded(wide + slopes.shape[1]), WIDTH), dtype=torch.float64)
    pairs = torch.zeros((batch, count, WIDTH, WIDTH), dtype=torch.float64)
    whole, *given = arrays(columns, parents, slopes, curvature, candidates, sums, pairs)
    side_by_side(batch, lambda part: _products(whole, *(one[part] for one in given)))
    sums = sums.transpose(1, 2)
    return torch.cat([sums[:, wide : wide + slopes.shape[1]], sums[:, :wide]], 1), pairs


@within
def padded(count: int) -> int:
    """The next multiple of WIDTH."""
    return -(-count // WIDTH) * WIDTH


@compiled
def _products(columns, parents, slopes, curvature, candidates, sums, pairs):
    wide = WIDTH * parents.shape[1]
    left = np.zeros((sums.shape[2], BLOCK), columns.dtype)
    curved = np.empty((WIDTH, BLOCK), columns.dtype)
    for b in range(len(parents)):
        for start in range(0, columns.shape[2], BLOCK):
            size = min(BLOCK, columns.shape[2] - start)
            for k in range(parents.shape[1]):
                if parents[b, k] >= 0:
                    _curve(columns[parents[b, k]], curvature[b], start, size, left, WIDTH * k)
                else:
                    left[WIDTH * k : WIDTH * (k + 1)] = 0
            for i in range(slopes.shape[1]):
                copy(slopes[b, i, start : start + size], left[wide + i])
            for c in range(candidates.shape[1]):
                if candidates[b, c] >= 0:
                    own = columns[candidates[b, c]]
                    _curve(own, curvature[b], start, size, curved, 0)
                    _add_dots(left, 0, own, start, size, sums[b, c])
                    _add_dots(curved, 0, own, start, size, pairs[b, c])


@within
def copy(values, into):
    """Copy a vector by a loop: assigning a slice would bring a message, and index arrays of more dimensions slowly."""
    for i in range(len(values)):
        into[i] = values[i]


@within
def index_at_rows(columns, parents, beta, s):
    """s = Σ f_k at the rows, from the columns of all nodes and the coefficients of a problem's parents."""
    number = columns.dtype.type
    s[:] = 0
    for k in range(len(parents)):
        one, two, three, four = (
            columns[parents[k], 0],
            columns[parents[k], 1],
            columns[parents[k], 2],
            columns[parents[k], 3],
        )
        a, b = number(beta[WIDTH * k]), number(beta[WIDTH * k + 1])
        c, d = number(beta[WIDTH * k + 2]), number(beta[WIDTH * k + 3])
        for r in range(len(s)):
            s[r] += a * one[r] + b * two[r] + c * three[r] + d * four[r]


@within
def exp(x):
    """eˣ to within 1e-13 of itself for x from −100 to 4, and e⁻¹⁰⁰ below; unlike `math.exp` it is vectorised."""
    part, total = max(x, -100.0) / 256, 0.0
    for k in range(len(_EXP) - 1, -1, -1):
        total = total * part + _EXP[k]
    for _ in range(8):
        total *= total
    return total


@within
def _series(order, t):
    """`link.SERIES` at a small t."""
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
    lowest, highest = BENT
    for r in range(len(eta)):
        s = np.float64(s_at_rows[r])
        t = bend * s
        bends, near = min(max(t, lowest), highest), abs(t) < SMALL
        risen, whole = exp(bends), 1.0 if near else t
        bent = (risen - 1.0 + risen * (t - bends)) / whole
        first = _series(0, t) if near else bent
        turned = _series(1, t) if near else (risen - bent) / whole
        slope[r] = risen
        eta[r] = s * first + intercept
        along[r] = s * s * turned
    for r in range(len(offset)):
        eta[r] += offset[r]
    low, high, total = eta[0], eta[0], 0.0
    for r in range(len(eta)):
        low, high = min(low, eta[r]), max(high, eta[r])
        total += eta[r]
    if not math.isfinite(total):  # the bounds alone may miss a NaN
        return np.nan, np.nan
    return np.float64(low), np.float64(high)


@within
def read_at_rows(columns, parents, rows, bend, observed, grid, found, sums):
    """What `evaluate.AtRows` holds, read from a table over η, into `found` and `sums`; returns its `index`.

    Slopes and curvature of `found` are overwritten, `sums` are added to. If `observed` is true, what belongs to the
    information is that of the observed information: the residuals times the second derivatives of η are subtracted.
    """
    slope, along, slopes, curvature = rows.slope, rows.along, found.slopes, found.curvature
    plain, bending, products = sums.plain, sums.bending, sums.products
    number, wide, moments = columns.dtype.type, WIDTH * len(parents), len(plain)
    left, times = np.zeros((products.shape[1], BLOCK), columns.dtype), np.empty((moments, BLOCK), columns.dtype)
    index = 0.0
    for start in range(0, len(slope), BLOCK):
        size = min(BLOCK, len(slope) - start)
        index += _residuals(rows, start, size, grid, times, sums.powers)
        rise, turn = slope[start : start + size], along[start : start + size]
        for i in range(moments):
            value, sloped = times[i], left[wide + i]
            total = once = twice = number(0)
            for r in range(size):
                sloped[r] = value[r] * rise[r]
            for r in range(size):  # apart: see `_index`
                total += value[r]
                once += value[r] * turn[r]
                twice += value[r] * turn[r] * turn[r]
            plain[i] += total
            bending[i, 0] += once
            bending[i, 1] += twice
        variance, bent = left[wide + 1], left[wide + moments]
        curved = curvature[start : start + size]
        for r in range(size):
            bent[r] = variance[r] * turn[r]
            curved[r] = variance[r] * rise[r]
        if observed:
            bending[1, 1] -= _turned(times[0], rows.index, rise, turn, start, size, number(bend), bent, curved)
        for i in range(1 + moments):
            copy(left[wide + i, :size], slopes[i, start : start + size])
        for k in range(len(parents)):
            _curve(columns[parents[k]], curvature, start, size, left, WIDTH * k)
        for k in range(len(parents)):
            _add_dots(left, WIDTH * k, columns[parents[k]], start, size, products[k])
    return index


@within
def _residuals(rows, start, size, grid, times, powers):
    """x̂ − E v̂, Var v̂ and Cov(v̂, C) times the weight at a block of rows, into `times`; returns their `index`."""
    own, weights, coefficients = rows.own, rows.weights, grid.coefficients
    number = own.dtype.type
    cells, places = np.empty(BLOCK, np.int32), np.empty(BLOCK, own.dtype)
    _placed(rows, start, size, grid, cells, places)
    lines, one = (coefficients.shape[1] - 4) // 2, number(1)
    for r in range(size):
        cell, at = cells[r], places[r]
        c = coefficients[cell]
        weight = weights[start + r] if len(weights) else one
        mean = c[0] + at * (c[1] + at * (c[2] + at * c[3]))
        times[0, r] = weight * (own[start + r] - mean)
        for i in range(lines):
            times[1 + i, r] = weight * (c[4 + i] + at * c[4 + lines + i])
        power = np.float64(weight)
        for i in range(6):
            powers[cell, i] += power
            power *= np.float64(at)
    return _index(rows, start, size, grid)


@within
def _placed(rows, start, size, grid, cells, places):
    """The cell of a table over η that each row of a block lies in, and where in it."""
    eta = rows.eta
    number = eta.dtype.type
    first, each, top = number(grid.low), number(1 / grid.width), number(len(grid.coefficients) - 1e-3)
    zero = number(0)
    for r in range(size):
        place = min(max((eta[start + r] - first) * each, zero), top)
        cells[r] = np.int32(place)
        places[r] = place - number(cells[r])


@within
def _index(rows, start, size, grid):
    """`AtRows.index` of a block of rows.

    A loop that sums writes nothing: one that also wrote would take its sum in another order where arrays happen to lie
    close together in memory, and the last digit would depend on that.
    """
    own, weights, eta = rows.own, rows.weights, rows.eta
    number = eta.dtype.type
    first, each, top = number(grid.low), number(1 / grid.width), number(len(grid.coefficients) - 1e-3)
    cell_width, bottom, peak = number(grid.width), number(grid.lowest), number(grid.highest)
    zero, one, index = number(0), number(1), 0.0
    for r in range(size):
        e, x = eta[start + r], own[start + r]
        whole = (e - first) * each
        beyond = (whole - min(max(whole, zero), top)) * cell_width
        weight = weights[start + r] if len(weights) else one
        # Beyond the grid a single level is left, and the normaliser rises by that.
        apart = (x - (peak if beyond > zero else bottom)) * beyond
        index += np.float64(weight) * (np.float64(x * (e - beyond)) + np.float64(apart))
    return index


@within
def _turned(residual, s, rise, turn, start, size, bend, bent, curved):
    """Take the residuals times ∂²η/∂s∂κ and ∂²η/∂s² off; returns their sum times ∂²η/∂κ²."""
    number = rise.dtype.type
    total, none, two, lowest, highest = 0.0, number(0), number(2), number(BENT[0]), number(BENT[1])
    for r in range(size):
        index, t = s[start + r], bend * s[start + r]
        second = rise[r] if lowest < t < highest else none  # of h, where g = h(κ s) / κ
        bent[r] -= residual[r] * index * second
        curved[r] -= residual[r] * bend * second
    for r in range(size):  # apart: see `_index`
        index, t = s[start + r], bend * s[start + r]
        second = rise[r] if lowest < t < highest else none
        if abs(t) < SMALL:
            total += np.float64(residual[r] * index * index * index) * _series(2, t)
        else:
            total += np.float64(residual[r] * (index * index * second - two * turn[r]) / bend)
    return total


@within
def _curve(x, curvature, start, size, out, first):
    """out[first + c] = x[c] · curvature at a block of rows."""
    curve = curvature[start : start + size]
    for c in range(x.shape[0]):
        column, curved = x[c, start : start + size], out[first + c]
        for r in range(size):
            curved[r] = column[r] * curve[r]


@within
def _add_dots(left, first, x, start, size, sums):
    """sums[i, w] += Σ_r left[i, r] · x[w, start + r] from row i = `first` on, four rows times WIDTH columns at once."""
    one, two = x[0, start : start + size], x[1, start : start + size]
    three, four = x[2, start : start + size], x[3, start : start + size]
    for i in range(first, left.shape[0], 4):
        up, upper, low, lower = left[i], left[i + 1], left[i + 2], left[i + 3]
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = x.dtype.type(0)
        c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = x.dtype.type(0)
        for r in range(size):
            p, q, s, t = one[r], two[r], three[r], four[r]
            a, b, c, d = up[r], upper[r], low[r], lower[r]
            a0, a1, a2, a3 = a0 + a * p, a1 + a * q, a2 + a * s, a3 + a * t
            b0, b1, b2, b3 = b0 + b * p, b1 + b * q, b2 + b * s, b3 + b * t
            c0, c1, c2, c3 = c0 + c * p, c1 + c * q, c2 + c * s, c3 + c * t
            d0, d1, d2, d3 = d0 + d * p, d1 + d * q, d2 + d * s, d3 + d * t
        _add(sums[i], a0, a1, a2, a3)
        _add(sums[i + 1], b0, b1, b2, b3)
        _add(sums[i + 2], c0, c1, c2, c3)
        _add(sums[i + 3], d0, d1, d2, d3)


@within
def _add(sums, a, b, c, d):
    sums[0] += a
    sums[1] += b
    sums[2] += c
    sums[3] += d
