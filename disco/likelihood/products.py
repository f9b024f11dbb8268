"""Products of columns summed over the rows, compiled, block by block of rows."""

import numpy as np

from disco.likelihood.cpu import arrays, compiled, side_by_side, within
from disco.likelihood.rank_design import WIDTH

assert WIDTH == 4, "add_dots is unrolled for four columns per parent"

BLOCK = 1024  # rows at a time; their data fit into a core's cache


def of_candidates(
    columns: np.ndarray,
    parents: np.ndarray,
    outside: int,
    slopes: np.ndarray,
    curvature: np.ndarray,
    candidates: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Products of every candidate's columns, summed over the rows: with `slopes`, the parents' columns, and themselves.

    Products of two columns are multiplied by the curvature, those with a row's own column by the variance and the slope
    of the link.

    Args:
        columns: of all blocks, (d + m, WIDTH, n).
        parents: block numbers, (B, k), padded with −1; the first `outside` are the rows' own.
        candidates: node numbers, (B, c), padded with −1, for which the sums are 0.

    Returns:
        (B, 3 + q + WIDTH · k, c, WIDTH) and (B, c, WIDTH, WIDTH).
    """
    (batch, count), wide = candidates.shape, WIDTH * parents.shape[1]
    sums = np.zeros((batch, count, padded(wide + slopes.shape[1]), WIDTH))
    pairs = np.zeros((batch, count, WIDTH, WIDTH))
    all_columns, *per_problem = arrays(columns, parents, slopes, curvature, candidates, sums, pairs)
    side_by_side(batch, lambda problems: _products(all_columns, outside, *(array[problems] for array in per_problem)))
    sums = sums.swapaxes(1, 2)
    return np.concatenate([sums[:, wide : wide + slopes.shape[1]], sums[:, :wide]], 1), pairs


@within
def padded(count: int) -> int:
    """The next multiple of WIDTH."""
    return -(-count // WIDTH) * WIDTH


@compiled
def _products(columns, outside, parents, slopes, curvature, candidates, sums, pairs):
    wide = WIDTH * parents.shape[1]
    weighted = np.zeros((sums.shape[2], BLOCK), columns.dtype)
    curved = np.empty((WIDTH, BLOCK), columns.dtype)
    for b in range(len(parents)):
        for start in range(0, columns.shape[2], BLOCK):
            size = min(BLOCK, columns.shape[2] - start)
            curve, sloped = curvature[b, start : start + size], slopes[b, 1, start : start + size]
            for k in range(parents.shape[1]):
                if k < outside:
                    curve_of(columns[parents[b, k]], sloped, start, size, weighted, WIDTH * k)
                elif parents[b, k] >= 0:
                    curve_of(columns[parents[b, k]], curve, start, size, weighted, WIDTH * k)
                else:
                    weighted[WIDTH * k : WIDTH * (k + 1)] = 0
            for i in range(slopes.shape[1]):
                copy(slopes[b, i, start : start + size], weighted[wide + i])
            for c in range(candidates.shape[1]):
                if candidates[b, c] >= 0:
                    candidate = columns[candidates[b, c]]
                    curve_of(candidate, curve, start, size, curved, 0)
                    add_dots(weighted, 0, candidate, start, size, sums[b, c])
                    add_dots(curved, 0, candidate, start, size, pairs[b, c])


@within
def copy(values, into):
    """Copy a vector by a loop: assigning a slice emits a message and slows indexing of arrays with more dimensions."""
    for i in range(len(values)):
        into[i] = values[i]


@within
def curve_of(x, curve, start, size, out, first):
    """out[first + c] = x[c] · curve at a block of rows, of which `curve` has the values, (size,)."""
    for c in range(x.shape[0]):
        column, curved = x[c, start : start + size], out[first + c]
        for r in range(size):
            curved[r] = column[r] * curve[r]


@within
def add_dots(weighted, first, x, start, size, sums):
    """sums[i, w] += Σ_r left[i, r] · x[w, start + r] from row i = `first` on, four rows times WIDTH columns at once."""
    first_column, second_column = x[0, start : start + size], x[1, start : start + size]
    third_column, fourth_column = x[2, start : start + size], x[3, start : start + size]
    for i in range(first, weighted.shape[0], 4):
        up, upper, low, lower = weighted[i], weighted[i + 1], weighted[i + 2], weighted[i + 3]
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = x.dtype.type(0)
        c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = x.dtype.type(0)
        for r in range(size):
            p, q, s, t = first_column[r], second_column[r], third_column[r], fourth_column[r]
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
