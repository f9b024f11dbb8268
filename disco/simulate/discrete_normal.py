"""A normal distribution on the whole numbers from 0 up.

p(y) ∝ exp(-(y - mu)² / 2 sd²), y = 0, 1, 2, ...: a semiparametric GLM with canonical parameter mu / sd², so that an
affine mu is an affine canonical parameter. Mean and standard deviation are mu and sd but for the cut at 0 and the grid.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from disco.simulate.laws import Law, Widened
from disco.simulate.parameters import parameter

REACH = 10  # standard deviations beyond mu that are summed over
ROWS_AT_ONCE = 1024
_MODES = 4.0  # standard deviations that a mode moves for each e-fold of its factor


@dataclass(frozen=True)
class DiscreteNormal(Law):
    """Normal on 0, 1, 2, ... with a fixed standard deviation; the location is mu."""

    sd: float = parameter("standard deviation", 2.0, 0.2, 100.0)
    largest_location = 1e4  # the sum takes time in proportion to it
    scalable = False

    def mean(self, location: np.ndarray) -> np.ndarray:
        return np.concatenate([pmf @ grid for _, grid, pmf in self._chunks(location)])

    def variance(self, location: np.ndarray) -> np.ndarray:
        squares = np.concatenate([pmf @ grid**2 for _, grid, pmf in self._chunks(location)])
        return squares - self.mean(location) ** 2

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        whole = np.zeros((len(location), len(grid)))
        for rows, counts, pmf in self._chunks(location):
            inside = (grid >= 0) & (grid < len(counts))
            whole[rows, : len(grid)] = np.where(inside, pmf[:, np.where(inside, grid, 0)], 0.0)
        return whole

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        uniform = rng.random(len(location))
        counts = np.zeros(len(location), dtype=np.int64)
        for rows, _, pmf in self._chunks(location):
            below = pmf.cumsum(axis=1)
            counts[rows] = (below < uniform[rows, None] * below[:, -1:]).sum(axis=1)
        return counts

    def raised(self, location: np.ndarray, factor: np.ndarray) -> np.ndarray:
        return location + _MODES * self.sd * np.log(factor)

    def widened(self, factor: float) -> Widened:
        return Widened(replace(self, sd=self.sd * factor), factor, factor)

    def _chunks(self, location: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Some rows, the counts their distribution is summed over, and that distribution, (chunk, counts)."""
        for start in range(0, len(location), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            mu = location[rows, None]
            grid = np.arange(int(max(mu.max(), 0.0) + REACH * self.sd) + 2)
            logs = -((grid - mu) ** 2) / (2 * self.sd**2)
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            yield rows, grid, weights / weights.sum(axis=1, keepdims=True)
