"""A season that columns share: waves along time of one period, stronger than those of neighbouring periods.

Along the Fourier frequencies of time, the power of series is smooth, however much they depend on their own past; a
season is a peak. The power of all whitened columns together at a frequency, divided by the mean of its neighbours on
the side where they are stronger, follows an F distribution; p-values are corrected for the number of frequencies.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from disco.table.cells import mid_ranks

_LEVEL, _MATTERS = 1e-4, 4.0  # of the p-value; rows that a column shares with a season, times its share of them
_LEAST_CYCLES, _LEAST_STEPS = 4, 30  # of a season that can be told
_NEIGHBOURS, _APART = 10, 2  # on either side, and how far the nearest is
_USUAL = (4, 7, 12, 24, 52, 365)  # steps of a quarter, a day, a month, an hour, a week, a day


@dataclass(frozen=True)
class Season:
    """The clearest season of a table."""

    period: int  # steps
    p_value: float
    strength: np.ndarray  # the share of each column's variance that its wave explains, (columns,)

    rows: int

    @property
    def stands_out(self) -> bool:
        """Whether there is a season, and at least two columns share enough of it to create edges."""
        second = float(np.partition(self.strength, -2)[-2])
        return self.p_value < _LEVEL and self.rows * second**2 >= _MATTERS


def season(values: np.ndarray, declared: np.ndarray, steps: np.ndarray) -> Season | None:
    """The clearest season of counts, (rows, columns); None if the time is too short to tell one.

    Args:
        declared: an orthonormal basis of what the columns are adjusted for, without the past, (rows, any).
        steps: the time of every row, (rows,).
    """
    length = int(np.ptp(steps)) + 1
    if length < _LEAST_STEPS or values.shape[1] < 2:
        return None
    scores = np.column_stack([mid_ranks(column) for column in values.T])
    scores = scores - scores.mean(axis=0)
    scores -= declared @ (declared.T @ scores)
    scores /= np.maximum(np.sqrt((scores**2).mean(axis=0)), 1e-12)
    vectors, sizes, _ = np.linalg.svd(scores, full_matrices=False)
    white = vectors[:, sizes > 1e-6 * sizes[0]] * np.sqrt(len(scores))
    power = _power(np.column_stack([white, scores]), steps - steps.min(), length)
    together, size = power[:, : white.shape[1]].sum(axis=1), white.shape[1]
    first, last = _LEAST_CYCLES, len(power) - _APART - _NEIGHBOURS
    if last <= first:
        return None
    ratios = np.array([together[k] / _background(together, k) for k in range(first, last)])
    p_values = fdtrc(2 * size, 2 * size * _NEIGHBOURS, ratios) * len(ratios)
    best = first + int(p_values.argmin())
    shares = power[best, size:] / len(scores)
    return Season(_named(length / best, length), float(min(p_values.min(), 1.0)), shares, len(scores))


def _power(columns: np.ndarray, at: np.ndarray, length: int) -> np.ndarray:
    """The squared length of the wave of every Fourier frequency, in rows explained, (frequencies, columns)."""
    sums = np.column_stack([np.bincount(at, column, length) for column in columns.T])
    return 2 / len(at) * np.abs(np.fft.rfft(sums, axis=0)) ** 2


def _background(power: np.ndarray, at: int) -> float:
    """The mean power of the neighbours of a frequency, on the stronger side."""
    below = power[max(at - _APART - _NEIGHBOURS + 1, 1) : at - _APART + 1]
    above = power[at + _APART : at + _APART + _NEIGHBOURS]
    return float(max(below.mean() if len(below) else 0.0, above.mean()))


def _named(period: float, length: int) -> int:
    """The period in whole steps: a usual one, if the time is too short to tell it apart."""
    near = [usual for usual in _USUAL if abs(1 / usual - 1 / period) <= 1 / length]
    return min(near, key=lambda usual: abs(1 / usual - 1 / period)) if near else round(period)
