"""Mean-parametrised COM-Poisson (paper, DAG Recovery Beyond Standard Count Families; Huang 2017).

p(y) = exp(y eta - nu log y! - A_nu(eta)), y = 0, 1, 2, ..., with eta solved so that the mean is the location.

The sum runs over a window of counts around the mean. The window is widened until the probability outside it, and the
part of the mean outside it, are both below 1e-10. The bounds use the ratio p(y + 1) / p(y) = exp(eta) / (y + 1)^nu: it
falls with y, so the tails are bounded by geometric ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from disco.simulate.laws import Law, parameter

OMITTED = 1e-10
ROWS_AT_ONCE = 128  # rows with similar locations share a window


class Window(NamedTuple):
    """A group of rows, the counts that carry their probability, and their distributions on these counts."""

    rows: np.ndarray  # (chunk,) row numbers
    grid: np.ndarray  # (values,) consecutive counts
    eta: np.ndarray  # (chunk,)
    log_sum: np.ndarray  # (chunk,) A_nu(eta)
    pmf: np.ndarray  # (chunk, values)


@dataclass(frozen=True)
class ComPoisson(Law):
    """COM-Poisson with shape nu; the location is the mean. nu = 1 is the Poisson, nu near 0 nearly geometric."""

    nu: float = parameter("shape ν: 1 is Poisson; below 1, more variance; above 1, less", 0.5, 0.001, 1000.0)
    largest_location = 1e4  # the time of the sum is proportional to the standard deviation

    def variance(self, location: np.ndarray) -> np.ndarray:
        variance = np.zeros(len(location))
        for window in self.windows(location):
            away = window.grid - location[window.rows, None]
            variance[window.rows] = (window.pmf * away**2).sum(axis=1)
        return variance

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        logs = np.zeros((len(location), len(grid)))
        for window in self.windows(location):
            logs[window.rows] = self._logs(window.eta, grid) - window.log_sum[:, None]
        return np.exp(logs)

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        uniform = rng.random(len(location))
        counts = np.zeros(len(location), dtype=np.int64)
        for window in self.windows(location):
            below = window.pmf.cumsum(axis=1)
            counts[window.rows] = window.grid[0] + (below < uniform[window.rows, None] * below[:, -1:]).sum(axis=1)
        return counts

    def windows(self, location: np.ndarray) -> Iterator[Window]:
        """The distribution of every row, in groups of rows with similar locations."""
        by_location = location.argsort(kind="stable")
        for rows in np.split(by_location, range(ROWS_AT_ONCE, len(location), ROWS_AT_ONCE)):
            low, high = location[rows[0]], location[rows[-1]]
            reach = 10 + 8 * np.sqrt(min(high / self.nu, high + high**2))
            while (window := self._window(rows, location[rows], low, high, reach)) is None:
                reach *= 2
            yield window

    def _window(self, rows: np.ndarray, location: np.ndarray, low: float, high: float, reach: float) -> Window | None:
        """The distribution of these rows on all counts within reach; None if too much of it lies outside."""
        grid = np.arange(max(0, int(low - reach)), int(high + reach) + 1)
        eta = self._solve(location, grid)
        logs = self._logs(eta, grid)
        log_sum = np.logaddexp.reduce(logs, axis=1)
        pmf = np.exp(logs - log_sum[:, None])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            up = np.exp(eta - self.nu * np.log(grid[-1] + 1))
            down = np.exp(self.nu * np.log(grid[0]) - eta)  # 0 where the window starts at count 0
            above, below = pmf[:, -1] * up / (1 - up), pmf[:, 0] * down / (1 - down)
            outside = above * (1 + grid[-1] + 1 / (1 - up)) + below * (1 + grid[0])
        inside = (up < 1) & (down < 1) & (outside < OMITTED)
        return Window(rows, grid, eta, log_sum, pmf) if inside.all() else None

    def _logs(self, eta: np.ndarray, grid: np.ndarray) -> np.ndarray:
        return grid * eta[:, None] - self.nu * gammaln(grid + 1.0)

    def _solve(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """The eta of each location, by Newton steps on the log mean; if a step leaves the bracket, bisection.

        The bracket follows from E[g(X) X^nu] = exp(eta) E[g(X + 1)]. With g = 1 and with g(x) = x^(1 - nu), Jensen's
        inequality puts eta between nu log(mean) and log(mean) + (nu - 1) log(1 + mean), whichever is larger.
        """
        bounds = self.nu * np.log(location), np.log(location) + (self.nu - 1) * np.log1p(location)
        low, high = np.minimum(*bounds) - 1e-6, np.maximum(*bounds) + 1e-6
        # A good start unless the mean is small: the mode is near mean + (nu - 1) / (2 nu).
        start = self.nu * np.log(np.maximum(location + (self.nu - 1) / (2 * self.nu), 1e-300))
        eta = np.where((low < start) & (start < high), start, (low + high) / 2)
        for _ in range(200):
            logs = self._logs(eta, grid)
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            total = weights.sum(axis=1)
            mean = weights @ grid / total
            if (abs(mean - location) <= 1e-13 * location).all() or (high - low <= 1e-15 * abs(eta)).all():
                break
            variance = (weights * (grid - mean[:, None]) ** 2).sum(axis=1) / total
            low, high = np.where(mean < location, eta, low), np.where(mean > location, eta, high)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = eta + (np.log(location) - np.log(mean)) * mean / variance
            eta = np.where((low < step) & (step < high), step, (low + high) / 2)
        return eta
