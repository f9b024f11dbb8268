"""A normal distribution on the whole numbers from 0 up.

p(y) ∝ exp(-(y - mu)² / 2 sd²), y = 0, 1, 2, ...

This is a semiparametric GLM with canonical parameter mu / sd², so if mu is affine, the canonical parameter is too. The
mean and standard deviation are close to mu and sd; they differ because of the cut at 0 and the grid.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from disco.simulate.laws import Law, Widened, parameter

REACH = 10  # the sum runs this many standard deviations beyond mu
ROWS_AT_ONCE = 1024
_MODES = 4.0  # a factor of e on a mode moves it by this many standard deviations


@dataclass(frozen=True)
class DiscreteNormal(Law):
    """Normal on 0, 1, 2, ... with a fixed standard deviation; the location is mu."""

    sd: float = parameter("standard deviation", 2.0, 0.2, 100.0)
    largest_location = 1e4  # the time of the sum is proportional to it
    scalable = False

    def mean(self, location: np.ndarray) -> np.ndarray:
        return np.concatenate([pmf @ grid for _, grid, pmf in self._chunks(location)])

    def variance(self, location: np.ndarray) -> np.ndarray:
        squares = np.concatenate([pmf @ grid**2 for _, grid, pmf in self._chunks(location)])
        return squares - self.mean(location) ** 2

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        probabilities = np.zeros((len(location), len(grid)))
        for rows, counts, pmf in self._chunks(location):
            inside = (grid >= 0) & (grid < len(counts))
            probabilities[rows, : len(grid)] = np.where(inside, pmf[:, np.where(inside, grid, 0)], 0.0)
        return probabilities

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        uniform = rng.random(len(location))
        counts = np.zeros(len(location), dtype=np.int64)
        for rows, _, pmf in self._chunks(location):
            below = pmf.cumsum(axis=1)
            counts[rows] = (below < uniform[rows, None] * below[:, -1:]).sum(axis=1)
        return counts

    def raised(self, location: np.ndarray, factor: np.ndarray) -> np.ndarray:
        return location + _MODES * self.sd * np.log(factor)

    def shifted(self, location: np.ndarray, effect: np.ndarray) -> np.ndarray:
        return location + self.sd**2 * effect  # the canonical parameter is mu / sd²

    def widened(self, factor: float) -> Widened:
        return Widened(replace(self, sd=self.sd * factor), factor, factor)

    def _chunks(self, location: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Groups of rows: the rows, the counts with probability, and the distributions on them, (chunk, counts)."""
        for start in range(0, len(location), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            mu = location[rows, None]
            grid = np.arange(int(max(mu.max(), 0.0) + REACH * self.sd) + 2)
            logs = -((grid - mu) ** 2) / (2 * self.sd**2)
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            yield rows, grid, weights / weights.sum(axis=1, keepdims=True)
