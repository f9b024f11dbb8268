"""Continuous conditional distributions (paper, Continuous-Data Ordering Recovery)."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import gamma, norm

from disco.simulate.laws import Law, parameter


@dataclass(frozen=True)
class Gaussian(Law):
    """Normal with a fixed standard deviation; the location is the mean."""

    sd: float = parameter("standard deviation of the noise", 1.0, 0.01, 100.0)
    scalable = False
    continuous = True

    def mean(self, location: np.ndarray) -> np.ndarray:
        return location

    def variance(self, location: np.ndarray) -> np.ndarray:
        return np.full_like(location, self.sd**2)

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        return norm.pdf(grid, location[:, None], self.sd)

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return location + self.sd * rng.standard_normal(len(location))


@dataclass(frozen=True)
class Gamma(Law):
    """Gamma with a fixed shape: the variance is mean^2 / shape; the location is the mean."""

    shape: float = parameter("shape: variance is mean²/shape", 6.0, 0.1, 1000.0)
    continuous = True

    def mean(self, location: np.ndarray) -> np.ndarray:
        return location

    def variance(self, location: np.ndarray) -> np.ndarray:
        return location**2 / self.shape

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        return gamma.pdf(grid, self.shape, scale=location[:, None] / self.shape)

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return location / self.shape * rng.standard_gamma(self.shape, len(location))
