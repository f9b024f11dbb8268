"""The conditional distribution of a count, or of a continuous value, given its parents, with its parameters.

A law turns the *location* of each row, the value of the mechanism's response, into values. The meaning of the location
depends on the law: the conditional mean, the success probability of a binomial, the mean of the count part if zeros are
added, or mu of a discrete normal. `mean`, `variance` and `pmf` are exact, given the location. Draws use one stream, row
by row, so a smaller table is the first rows of a larger one.

Shapes: location (rows,), grid (values,), pmf (rows, values).
"""

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, gammaln, logit, xlogy
from scipy.stats import binom, gamma, nbinom, norm, poisson

from disco.fields import between, require


@dataclass(frozen=True)
class Parameter:
    """One parameter of a family, with an inclusive range."""

    label: str
    default: float
    low: float
    high: float
    whole: bool = False

    def check(self, name: str, value: Any) -> float:
        """The value as a number; InputError if it is not one, or outside the range."""
        if self.whole and isinstance(value, float) and value.is_integer():
            value = int(value)  # the command line gives floats
        require(f'"{name}" ({self.label})', value, between(self.low, self.high, self.whole))
        return int(value) if self.whole else float(value)


def parameter(label: str, default: float, low: float, high: float, whole: bool = False) -> Any:
    """A field of a law that users can set."""
    return dataclasses.field(default=default, metadata={"parameter": Parameter(label, default, low, high, whole)})


def parameters_of(law: type) -> dict[str, Parameter]:
    """The parameters of a law by name."""
    return {item.name: item.metadata["parameter"] for item in dataclasses.fields(law)}


class Law(ABC):
    """A conditional distribution."""

    largest_location: float = 1e6  # larger counts add no information, and memory and integers run out
    scalable: bool = True  # whether an exposure may multiply the location, because it is a mean
    continuous: bool = False

    @property
    def binary(self) -> bool:
        """Whether a value is 0 or 1."""
        return False

    @property
    def unit(self) -> float:
        """The divisor of parents before the feature map; a binomial's trials."""
        return 1.0

    @property
    def in_class(self) -> bool:
        """Whether it is a semiparametric GLM: same base measure and support at every location."""
        return True

    def mean(self, location: np.ndarray) -> np.ndarray:
        """The conditional mean, (rows,); in most laws the location itself."""
        return location

    @abstractmethod
    def variance(self, location: np.ndarray) -> np.ndarray:
        """The conditional variance, (rows,)."""

    @abstractmethod
    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """The probability, or density, of each grid value given each location, (rows, values)."""

    @abstractmethod
    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One value per row, (rows,)."""

    def raised(self, location: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """The location of another mode of a source, `factor` times as high, (rows,)."""
        return location * factor

    def shifted(self, location: np.ndarray, effect: np.ndarray) -> np.ndarray:
        """The location with the canonical parameter, or the logarithm of the mean, moved by `effect`, (rows,)."""
        return location * np.exp(effect)

    def widened(self, factor: float) -> "Widened":
        """The law with about `factor` times the standard deviation; most laws get factor² times the mean."""
        return Widened(self, factor**2, factor**2)


class Widened(NamedTuple):
    """A widened law, with the factors on its location and on its values."""

    law: Law
    location: float
    values: float


@dataclass(frozen=True)
class Poisson(Law):
    """Poisson; the location is the mean."""

    def variance(self, location: np.ndarray) -> np.ndarray:
        return location

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        return poisson.pmf(grid, location[:, None])

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(location)


@dataclass(frozen=True)
class NegativeBinomial(Law):
    """Negative binomial with size r: the variance is mean + mean^2 / r; the location is the mean."""

    size: float = parameter("size r: variance is mean + mean²/r", 6.0, 0.01, 1e6)

    def variance(self, location: np.ndarray) -> np.ndarray:
        return location + location**2 / self.size

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        return nbinom.pmf(grid, self.size, self.size / (self.size + location[:, None]))

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.negative_binomial(self.size, self.size / (self.size + location))

    def widened(self, factor: float) -> Widened:
        return Widened(replace(self, size=self.size * factor**2), factor**2, factor**2)


@dataclass(frozen=True)
class Geometric(Law):
    """Geometric on 0, 1, 2, ..., the negative binomial with size 1; the location is the mean."""

    def variance(self, location: np.ndarray) -> np.ndarray:
        return location + location**2

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        success = 1 / (1 + location[:, None])
        return success * (1 - success) ** grid

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.geometric(1 / (1 + location)) - 1


@dataclass(frozen=True)
class Binomial(Law):
    """Binomial with M trials; the location is the success probability."""

    trials: int = parameter("number of trials M", 50, 1, 1_000_000, whole=True)
    scalable = False

    @property
    def unit(self) -> float:
        return self.trials

    @property
    def binary(self) -> bool:
        return self.trials == 1

    def mean(self, location: np.ndarray) -> np.ndarray:
        return self.trials * location

    def variance(self, location: np.ndarray) -> np.ndarray:
        return self.trials * location * (1 - location)

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        return binom.pmf(grid, self.trials, location[:, None])

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.binomial(self.trials, location)

    def raised(self, location: np.ndarray, factor: np.ndarray) -> np.ndarray:
        odds = location / (1 - location) * factor
        return odds / (1 + odds)

    def shifted(self, location: np.ndarray, effect: np.ndarray) -> np.ndarray:
        return expit(logit(location) + effect)

    def widened(self, factor: float) -> Widened:
        trials = max(1, round(self.trials * factor**2))
        return Widened(replace(self, trials=trials), 1.0, trials / self.trials)


@dataclass(frozen=True)
class Bernoulli(Law):
    """0 or 1; the location is the probability of 1."""

    scalable = False
    binary = True

    def variance(self, location: np.ndarray) -> np.ndarray:
        return location * (1 - location)

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        return binom.pmf(grid, 1, location[:, None])

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return (rng.random(len(location)) < location).astype(np.int64)


@dataclass(frozen=True)
class GeneralisedPoisson(Law):
    """Consul's generalised Poisson: the variance is mean / (1 - dispersion)^2; the location is the mean.

    p(y) = t (t + y s)^(y - 1) exp(-t - y s) / y! with dispersion s and t = mean (1 - s). It is drawn as the total size
    of a Poisson branching process with t expected founders and s expected children of each member.
    """

    dispersion: float = parameter("dispersion s: variance is mean/(1 − s)²", 0.4, 0.0, 0.95)
    in_class = False

    def variance(self, location: np.ndarray) -> np.ndarray:
        return location / (1 - self.dispersion) ** 2

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        founders = location[:, None] * (1 - self.dispersion)
        rate = founders + self.dispersion * grid
        return np.exp(np.log(founders) + xlogy(grid - 1, rate) - rate - gammaln(grid + 1))

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        born = rng.poisson(location * (1 - self.dispersion))
        total = born.copy()
        while born.any():
            (generation,) = rng.spawn(1)  # one stream per generation, so a row's draws do not depend on later rows
            born = generation.poisson(self.dispersion * born)
            total += born
        return total


class _ZeroInflated(Law):
    """Zero with a fixed extra probability, else a count from the base law at the location."""

    zeros: float
    in_class = False

    @property
    @abstractmethod
    def base(self) -> Law:
        """The law of the count part."""

    def mean(self, location: np.ndarray) -> np.ndarray:
        return (1 - self.zeros) * self.base.mean(location)

    def variance(self, location: np.ndarray) -> np.ndarray:
        square = self.base.variance(location) + self.base.mean(location) ** 2
        return (1 - self.zeros) * square - self.mean(location) ** 2

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        return (1 - self.zeros) * self.base.pmf(location, grid) + self.zeros * (grid == 0)

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        extra, counts = rng.spawn(2)
        return np.where(extra.random(len(location)) < self.zeros, 0, self.base.sample(location, counts))


@dataclass(frozen=True)
class ZeroInflatedPoisson(_ZeroInflated):
    """Zero-inflated Poisson; the location is the mean of the Poisson part."""

    zeros: float = parameter("share of extra zeros", 0.3, 0.0, 0.99)

    base = Poisson()


@dataclass(frozen=True)
class ZeroInflatedNegativeBinomial(_ZeroInflated):
    """Zero-inflated negative binomial; the location is the mean of the negative binomial part."""

    zeros: float = parameter("share of extra zeros", 0.3, 0.0, 0.99)
    size: float = parameter("size r: variance of the count part is mean + mean²/r", 6.0, 0.01, 1e6)

    @property
    def base(self) -> Law:
        return NegativeBinomial(self.size)


@dataclass(frozen=True)
class HurdlePoisson(Law):
    """Zero with a fixed probability, else a Poisson count above zero; the location is the untruncated Poisson's mean.

    A Poisson count above zero is drawn as a first event at time t, exponential and truncated at the mean, and
    Poisson(mean - t) further events.
    """

    zeros: float = parameter("probability of zero", 0.3, 0.0, 0.99)
    in_class = False

    def mean(self, location: np.ndarray) -> np.ndarray:
        return (1 - self.zeros) * location / -np.expm1(-location)

    def variance(self, location: np.ndarray) -> np.ndarray:
        return self.mean(location) * (1 + location) - self.mean(location) ** 2

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        above = poisson.pmf(grid, location[:, None]) / -np.expm1(-location)[:, None]
        return np.where(grid == 0, self.zeros, (1 - self.zeros) * above)

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        hurdle, first, further = rng.spawn(3)
        event = -np.log1p(first.random(len(location)) * np.expm1(-location))
        above = 1 + further.poisson(np.maximum(location - event, 0.0))
        return np.where(hurdle.random(len(location)) < self.zeros, 0, above)


@dataclass(frozen=True)
class Gaussian(Law):
    """Normal with a fixed standard deviation; the location is the mean (paper, Continuous-Data Ordering Recovery)."""

    sd: float = parameter("standard deviation of the noise", 1.0, 0.01, 100.0)
    scalable = False
    continuous = True

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

    def variance(self, location: np.ndarray) -> np.ndarray:
        return location**2 / self.shape

    def pmf(self, location: np.ndarray, grid: np.ndarray) -> np.ndarray:
        return gamma.pdf(grid, self.shape, scale=location[:, None] / self.shape)

    def sample(self, location: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return location / self.shape * rng.standard_gamma(self.shape, len(location))
