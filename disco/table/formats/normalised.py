"""Counts behind normalised values, exactly or not at all.

Each row of a normalised table is f(k · s), with whole numbers k, a scale s of the row's own, and f the same for all:
counts per million, shares of the row's total, or log(1 + x) of these. The scale of a row is the largest one of which
all its values are multiples. Smoothed, rounded, centred or corrected values are not of this form and stay unchanged.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

_PROOF = 1e-6  # the most by which a value may differ from its multiple, relative to it
_MOST_UNITS = 1000  # of a row's smallest value; of more, most numbers are nearly multiples of something
_FEW_UNITS = 8  # tried first
_HEAD = 200  # rows that are tried first
_SAMPLE = 6  # values that most scales are tried on
_MOST_CHANCE = 1e-3  # scales that would fit a row by chance
_PRIMES = (2, 3, 5, 7, 11, 13)  # that all counts of a row may have as a factor, which its values do not show
_MOST_FACTOR = 1e-4  # probability that a row's counts have one
_MOST_OPEN = 0.05  # share of rows with values too few to know their scale
_LEAST_PROVEN = 0.5  # share of rows that prove f by themselves
_LEAST_VALUES = 3  # different ones, of a row that proves it
_MOST_COUNT = 1e9
_MOST_ALIKE = 0.5  # share of rows with one scale, unless their totals are one too
_ONE_TOTAL = 1e-3  # relative spread of rows' totals that were made equal

INVERSE: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "": lambda values: values,
    "log(1 + x) of ": np.expm1,
    "log2(1 + x) of ": lambda values: np.expm1(values * np.log(2)),
    "log10(1 + x) of ": lambda values: np.expm1(values * np.log(10)),
}


@dataclass(frozen=True)
class Restored:
    """The counts behind normalised values.

    Attributes:
        counts: of the values, int64; 0 in open rows.
        scale: the name of the normalisation.
        residual: the largest relative difference between a value and the multiple of its scale.
        open_rows: positions of rows with too few values to determine their scale, ascending.
    """

    counts: np.ndarray
    scale: str
    residual: float
    open_rows: np.ndarray


def restored(values: np.ndarray, pointers: np.ndarray) -> Restored | str:
    """The counts behind values, or why there are none, as the end of a sentence that begins with "The values".

    Args:
        values: the values other than 0, row after row, float64.
        pointers: the start of each row and the end of the last, (rows + 1,).
    """
    if not len(values) or not np.isfinite(values).all():
        return "have missing or infinite cells: fill them in, or leave them out"
    if values.min() < 0:
        return "are partly below 0, as after centring, scaling or batch correction"
    head, why_not = pointers[: _HEAD + 1], ""
    for words, inverse in INVERSE.items():
        with np.errstate(over="ignore", invalid="ignore"):
            plain = inverse(values)
            totals = _totals(plain, pointers)
        if np.isfinite(totals).all() and _are_equal(totals) and not why_not:
            why_not = (
                f"look like {words}{_of(totals)}, but were rounded, smoothed, corrected or divided by lengths since"
            )
        if not np.isfinite(plain).all() or _multiples(plain[: head[-1]], head) is None:
            continue
        if (multiples := _multiples(plain, pointers)) is not None:
            counts, residual, open_rows = multiples
            if len(open_rows) > _MOST_OPEN * (len(pointers) - 1):
                return f"are too few in {len(open_rows):,} rows to know the counts behind them"
            return Restored(counts, words + _of(totals), residual, open_rows)
    return why_not or "are no multiples of one number for each row, as counts divided by a total or a depth are"


def _multiples(values: np.ndarray, pointers: np.ndarray) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Whole numbers of which each row's values are one multiple, the residual, and open rows; None without any.

    Numbers with few decimals, counts with a fraction among them and means of equally many counts are multiples too, but
    of a number that most rows share.
    """
    rows, lengths = len(pointers) - 1, np.diff(pointers)
    counts, scales, residual = np.zeros(len(values), dtype=np.int64), np.full(rows, np.nan), 0.0
    fits, proven = np.zeros((2, rows), dtype=bool)
    for row in np.flatnonzero(lengths):
        span = slice(pointers[row], pointers[row + 1])
        ordered = np.sort(values[span])
        units = ordered[np.append(True, np.diff(ordered) > 2 * _PROOF * ordered[1:])]  # within the residual: one value
        scale, chance = _scale(units)
        if scale is None or units[-1] > _MOST_COUNT * scale:
            return None
        counts[span] = np.rint(values[span] / scale)
        residual = max(residual, float(np.max(np.abs(values[span] / scale / counts[span] - 1))))
        scales[row], fits[row] = scale, chance < _MOST_CHANCE
        proven[row] = fits[row] and len(units) >= _LEAST_VALUES
    filled = lengths > 0
    if residual > _PROOF or proven[filled].mean() < _LEAST_PROVEN:
        return None
    # Thinned counts have exactly one total, and some are small. Transcripts per million with two decimals are multiples
    # of 0.01 too, with nearly equal totals.
    are_thinned = np.ptp(_totals(counts, pointers)) == 0 and counts.min() < _FEW_UNITS
    if _share_of_one(scales[filled]) > _MOST_ALIKE and not are_thinned:
        return None
    # The probability that all true counts of a row have a common factor, which is lost, by its share of all counts.
    factor = np.sum([np.mean(counts % prime == 0) ** lengths for prime in _PRIMES], axis=0)
    open_rows = filled & (~fits | (factor > _MOST_FACTOR))
    counts[np.repeat(open_rows, lengths)] = 0
    return counts, residual, np.flatnonzero(open_rows)


def _share_of_one(scales: np.ndarray) -> float:
    """The largest share of the rows that have one scale."""
    ordered = np.sort(scales)
    last = np.searchsorted(ordered, ordered * (1 + _PROOF), side="right")
    return float((last - np.arange(len(ordered))).max() / len(ordered))


def _scale(units: np.ndarray) -> tuple[float | None, float]:
    """The largest number of which all are multiples, and how many larger ones would be by chance; None if too small."""
    ratios = units / units[0]
    sample = ratios[:: max(len(ratios) // _SAMPLE, 1)][: _SAMPLE + 1]
    for first, last in ((1, _FEW_UNITS), (_FEW_UNITS + 1, _MOST_UNITS)):
        tried = np.arange(first, last + 1)
        for count in tried[_are_whole(np.outer(tried, sample)).all(axis=1)]:
            if _are_whole(count * ratios).all():
                # By all values, since the smallest alone may be rounded.
                return float(np.median(units / np.rint(count * ratios))), _chance(count, ratios)
    return None, 1.0


def _are_whole(multiples: np.ndarray) -> np.ndarray:
    return np.abs(multiples - np.rint(multiples)) <= _PROOF * multiples


def _chance(count: int, ratios: np.ndarray) -> float:
    """How many numbers up to `count` of units would make all ratios whole, were these drawn at random."""
    tried = np.arange(1, count + 1)
    logs = np.log(np.minimum(2 * _PROOF * np.outer(tried, ratios[1 : _SAMPLE + 4]), 1)).sum(axis=1)
    return float(np.exp(logs).sum()) if len(ratios) > 1 else 0.0


def _totals(values: np.ndarray, pointers: np.ndarray) -> np.ndarray:
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return np.diff(sums[pointers])[np.diff(pointers) > 0]


def _are_equal(totals: np.ndarray) -> bool:
    return bool(len(totals) > 1 and np.ptp(totals) <= _ONE_TOTAL * totals.max())


def _of(totals: np.ndarray) -> str:
    if not _are_equal(totals):
        return "counts divided by a number for each row"
    total = float(np.median(totals))
    if abs(total - 1) < _ONE_TOTAL:
        return "shares of the row's total"
    return f"counts per {float(f'{total:.6g}'):,.10g} in each row"
