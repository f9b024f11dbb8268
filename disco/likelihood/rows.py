"""Work at the rows, compiled for the CPU, one problem after another.

A row passes through some thirty small steps. As array operations each of them reads and writes all rows of all
problems, which is most of the time of a fit on a CPU; here a block of rows stays in the cache through all of them, and
products of columns are summed block by block. The array form of the same steps, for a GPU, is in `evaluate` and
`steps`. What is compiled takes a problem's arrays whole: loops over slices of two dimensions are not vectorised.
"""

import hashlib
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numba
import numpy as np
import platformdirs
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from disco.likelihood.bank import WIDTH
from disco.likelihood.link import BENT, SERIES, SMALL

_EXP = np.array([1 / math.factorial(k) for k in range(14)])
BLOCK = 1024  # rows at a time: what is kept of them fits a core's cache
_OPTIONS = {
    "nogil": True,
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},  # sums may be reordered; infinities keep their meaning
    "error_model": "numpy",
}
_POOL = ThreadPoolExecutor(thread_name_prefix="rows")
_threads = 0  # for `side_by_side`; 0: as many as torch may use
_USER_FOLDER = platformdirs.user_cache_dir("disco", appauthor=False)


def kept_in(sources: Path) -> Path:
    """The folder of what is compiled: another one for every state of the sources.

    Numba compiles anew when the file of a function changes, but not when what it takes from another file does.
    """
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(sources.glob("*.py")))).hexdigest()
    beside = sources / "__pycache__"
    chosen = os.environ.get("NUMBA_CACHE_DIR") or (beside if os.access(sources, os.W_OK) else _USER_FOLDER)
    return Path(chosen) / f"compiled-{digest[:12]}"


_KEPT_IN = kept_in(Path(__file__).parent)


def compiled(function: Callable) -> Callable:
    """Compiled at its first call, for calls from Python; kept on disk where a folder for it can be written."""
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(_KEPT_IN)
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # numba finds no folder to keep it in
        return numba.njit(**_OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before


def within(function: Callable) -> Callable:
    """Compiled as a part of what calls it, and never kept apart from it.

    Machine code that is read back cannot be merged into its caller as what was just compiled can, and sums would come
    out in another order: results would depend on which process had compiled what before.
    """
    return numba.njit(forceinline=True, **_OPTIONS)(function)


@contextmanager
def threads_at_the_rows() -> Iterator[None]:
    """Keep torch's threads for `side_by_side`, and all other libraries, torch's own sums among them, to one.

    Between the many small calls of a search their threads wait for work and keep the processors busy: at 50 columns a
    search took three times the processor time, and longer by the clock too.
    """
    global _threads
    outer, _threads = _threads, _threads or torch.get_num_threads()
    try:
        with threadpool_limits(1):
            yield
    finally:
        _threads = outer


def side_by_side(problems: int, work: Callable[[slice], None]) -> None:
    """Call work on every problem, on as many threads as torch may use; how many changes no result."""
    threads = min(_threads or torch.get_num_threads(), problems)
    at_once = max(problems // (4 * threads), 1) if threads > 1 else problems  # a call costs as much as some rows
    left = iter(range(0, problems, max(at_once, 1)))

    def some() -> None:
        for first in left:  # whoever is free takes the next: some take several times as many steps as others
            work(slice(first, first + at_once))

    others = [_POOL.submit(some) for _ in range(threads - 1)]
    some()
    for other in others:
        other.result()


def arrays(*parts: Tensor) -> list[np.ndarray]:
    """In C order, the one layout that is compiled."""
    return [part.contiguous().numpy() for part in parts]


def products(
    columns: Tensor, parents: Tensor, slopes: Tensor, curvature: Tensor, candidates: Tensor
) -> tuple[Tensor, Tensor]:
    """Sums over the rows of every candidate's columns times `slopes`, times the parents' columns and among themselves.

    Args:
        columns: of all nodes, (d, WIDTH, n).
        parents: node numbers, (B, k), padded with −1.
        slopes, curvature: of `evaluate.Moments`; products of two columns are times the curvature.
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
    """Of vectors, by a loop: elements of more dimensions are looked up one by one, and slices bring a message."""
    for i in range(len(values)):
        into[i] = values[i]


@within
def index_at_rows(columns, parents, beta, s):
    """s = Σ f_k at the rows, from the columns of all nodes and the coefficients of a problem's parents."""
    number = columns.dtype.type
    s[:] = 0
    for k in range(len(parents)):
        one, two, three, four = (
            columns[parents[k], 0], columns[parents[k], 1], columns[parents[k], 2], columns[parents[k], 3],
        )  # fmt: skip
        a, b = number(beta[WIDTH * k]), number(beta[WIDTH * k + 1])
        c, d = number(beta[WIDTH * k + 2]), number(beta[WIDTH * k + 3])
        for r in range(len(s)):
            s[r] += a * one[r] + b * two[r] + c * three[r] + d * four[r]


@within
def exp(x):
    """eˣ for x from −100, below which it is e⁻¹⁰⁰, to 4, to within 1e-13 of itself; unlike `math.exp` vectorised."""
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
def bend_at_rows(s_at_rows, eta, slope, along, bend, intercept, offset):
    """Write η and the derivatives of `link.bent` from s; returns the bounds of η, or NaN.

    Both forms are computed at every row, so that the loop is vectorised. `offset` may be empty.
    """
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
    if not math.isfinite(total):  # bounds alone may pass over a NaN
        return np.nan, np.nan
    return np.float64(low), np.float64(high)


@within
def read_at_rows(
    columns, parents, own, weights, s, eta, slope, along, bend, observed, low, width, lowest, highest, coefficients,
    left, times, slopes, curvature, powers, plain, bending, products,
):  # fmt: skip
    """What `evaluate.AtRows` holds, read from a table over η with a cell's coefficients in a row; returns its `index`.

    `left` and `times` are room for a block. Sums are added to. `powers` gets those of the weight times the powers 0 to
    5 of the place in a cell. In `products` (k, rows of `left`, WIDTH) those with the parents' columns come first, of
    each pair of parents once, then those with the slopes. Where `observed` is true, what belongs to the information is
    that of the observed one, which has the residuals times the second derivatives of η taken off.
    """
    number, wide, moments = columns.dtype.type, WIDTH * len(parents), len(plain)
    index = 0.0
    for start in range(0, len(eta), BLOCK):
        size = min(BLOCK, len(eta) - start)
        index += _residuals(own, weights, eta, start, size, low, width, lowest, highest, coefficients, times, powers)
        rise, turn = slope[start : start + size], along[start : start + size]
        for i in range(moments):
            value, sloped = times[i], left[wide + i]
            total = once = twice = number(0)
            for r in range(size):
                sloped[r] = value[r] * rise[r]
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
            bending[1, 1] -= _turned(times[0], s, rise, turn, start, size, number(bend), bent, curved)
        for i in range(1 + moments):
            copy(left[wide + i, :size], slopes[i, start : start + size])
        for k in range(len(parents)):
            _curve(columns[parents[k]], curvature, start, size, left, WIDTH * k)
        for k in range(len(parents)):
            _add_dots(left, WIDTH * k, columns[parents[k]], start, size, products[k])
    return index


@within
def _residuals(own, weights, eta, start, size, low, width, lowest, highest, coefficients, times, powers):
    """x̂ − E v̂, Var v̂ and Cov(v̂, C) times the weight at a block of rows, into `times`; returns their `index`."""
    number = eta.dtype.type
    cells, places = np.empty(BLOCK, np.int32), np.empty(BLOCK, eta.dtype)
    index = _placed(own, weights, eta, start, size, low, width, lowest, highest, len(coefficients), cells, places)
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
    return index


@within
def _placed(own, weights, eta, start, size, low, width, lowest, highest, count, cells, places):
    """The cell of a table over η that a row lies in, and where in it, at a block of rows; returns their `index`."""
    number = eta.dtype.type
    first, each, top = number(low), number(1 / width), number(count - 1e-3)
    cell_width, bottom, peak = number(width), number(lowest), number(highest)
    zero, one, index = number(0), number(1), 0.0
    for r in range(size):
        e, x = eta[start + r], own[start + r]
        whole = (e - first) * each
        place = min(max(whole, zero), top)
        cells[r] = np.int32(place)
        places[r] = place - number(cells[r])
        beyond = (whole - place) * cell_width
        weight = weights[start + r] if len(weights) else one
        # One level is left beyond the grid, by which the normaliser rises.
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
