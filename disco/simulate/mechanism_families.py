"""The families of mechanisms: index, response and law (paper, Data generation, table of the six mechanisms).

For a node j with parents, the index is z_j = b0 + sum over parents k of beta_kj phi(X_k). The response turns the index
into the law's location, and the law draws the count. Nothing is standardised, divided by the number of parents, or
changed after it is drawn. A node without parents has the same location, the parameter `source`, in every row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

from disco.simulate import laws
from disco.simulate.com_poisson import ComPoisson
from disco.simulate.discrete_normal import DiscreteNormal
from disco.simulate.laws import Parameter, parameters_of


def _same(values: np.ndarray) -> np.ndarray:
    return values


def _probability(values: np.ndarray) -> np.ndarray:
    return np.clip(values, 1e-8, 1 - 1e-8)


@dataclass(frozen=True)
class Index:
    """How parents determine a location: feature map phi, b0 and interval of beta, response, and source. Without
    a feature map, the index is a function of the raw parents, drawn from a Gaussian process."""

    formula: str
    feature: Callable[[np.ndarray], np.ndarray] | None
    coefficients: tuple[float, float, float]  # b0, then the interval of beta
    response: Callable[[np.ndarray], np.ndarray]
    source: Parameter | None  # None: all nodes are drawn together
    affine: bool = False  # the canonical parameter is affine in each parent: canonical link, phi the identity


def _location(default: float, low: float = 0.01, high: float = 1000) -> Parameter:
    return Parameter("location of a node without parents", default, low, high)


CHANCE = Parameter("success probability of a node without parents", 0.10, 1e-6, 1 - 1e-6)
SOFTPLUS = Index(
    "0.2 + softplus(0.5 + Σ β x), β from 0.30 to 0.45",
    _same,
    (0.5, 0.30, 0.45),
    lambda z: 0.2 + np.logaddexp(0.0, z),
    _location(2.0),
)
LOGARITHMIC = Index(
    "exp(0.4 + Σ β log(1 + x)), β from 0.15 to 0.30, exponent clipped to −3 … 3.5",
    np.log1p,
    (0.4, 0.15, 0.30),
    lambda z: np.exp(np.clip(z, -3.0, 3.5)),
    _location(1.5),
)
PROBIT = Index(
    "Φ(−1.28 + Σ β x/M), β from 0.50 to 1.00",
    _same,
    (-1.28, 0.50, 1.00),
    lambda z: _probability(ndtr(z)),
    CHANCE,
)
SIGMOID = Index(
    "sigmoid(−2.197 + Σ β √(x/M)), β from 0.60 to 0.90",
    np.sqrt,
    (-2.197, 0.60, 0.90),
    lambda z: _probability(expit(z)),
    CHANCE,
)
LOG_AFFINE = Index(
    "exp(0.4 + Σ β x), β from 0.04 to 0.07",
    _same,
    (0.4, 0.04, 0.07),
    lambda z: np.exp(np.minimum(z, 300.0)),  # no overflow before a mean that is too large is refused
    _location(3.0),
    affine=True,
)
LOGIT_AFFINE = Index(
    "sigmoid(−2.197 + Σ β x/M), β from 1.00 to 2.00",
    _same,
    (-2.197, 1.00, 2.00),
    lambda z: _probability(expit(z)),
    CHANCE,
    affine=True,
)
NORMAL_AFFINE = Index(
    "5.5 + Σ β x, β from 0.25 to 0.40",
    _same,
    (5.5, 0.25, 0.40),
    _same,
    _location(8.0, 0.0),
    affine=True,
)
PAIRWISE = Index(
    "log p = Σ b0 x + Σ θ (x − ½)(x′ − ½) + constant, x = 0 or 1, θ from 0.60 to 1.00",
    _same,
    (-0.3, 0.60, 1.00),
    lambda z: _probability(expit(z)),
    None,
)
PROCESS = Index(
    "f, a Gaussian process of the raw parents (RBF, variance 1, length 1)",
    None,
    (0.0, 0.0, 0.0),
    _same,
    _location(0.0, -1000),
)
EXP_PROCESS = Index(
    "2 exp(f/2), f a Gaussian process of the raw parents (RBF, variance 1, length 1)",
    None,
    (0.0, 0.0, 0.0),
    lambda z: 2 * np.exp(np.minimum(z / 2, 300.0)),  # no overflow while a mean is solved for
    _location(2.0),
)


@dataclass(frozen=True)
class Family:
    """A law together with the index that sets its location."""

    label: str
    law: type[laws.Law]
    index: Index

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters a user can set, by name: the law's own, then those that every family has."""
        source = {} if self.index.source is None else {"source": self.index.source}
        return parameters_of(self.law) | {
            "scale": Parameter("factor on what the parents add", 1.0, 0.0, 10.0),
            "intercept": Parameter("intercept b0 of the index", self.index.coefficients[0], -20.0, 20.0),
            **source,
        }

    def values(self, chosen: Mapping[str, float]) -> dict[str, float]:
        """All parameters of the family, with defaults for the missing; InputError if a value is outside its range."""
        return {name: item.check(name, chosen.get(name, item.default)) for name, item in self.parameters.items()}

    def make_law(self, chosen: Mapping[str, float]) -> laws.Law:
        """The law with these parameters."""
        values = self.values(chosen)
        return self.law(**{name: values[name] for name in parameters_of(self.law)})


FAMILIES = {
    "poisson-softplus": Family("Poisson, softplus", laws.Poisson, SOFTPLUS),
    "poisson-exp": Family("Poisson, exponential", laws.Poisson, LOGARITHMIC),
    "nb-softplus": Family("Negative binomial, softplus", laws.NegativeBinomial, SOFTPLUS),
    "nb-exp": Family("Negative binomial, exponential", laws.NegativeBinomial, LOGARITHMIC),
    "binomial-probit": Family("Binomial, probit", laws.Binomial, PROBIT),
    "binomial-sigmoid": Family("Binomial, sigmoid", laws.Binomial, SIGMOID),
    "com-poisson": Family("COM-Poisson", ComPoisson, SOFTPLUS),
    "zip": Family("Zero-inflated Poisson", laws.ZeroInflatedPoisson, SOFTPLUS),
    "zinb": Family("Zero-inflated negative binomial", laws.ZeroInflatedNegativeBinomial, SOFTPLUS),
    "hurdle-poisson": Family("Hurdle Poisson", laws.HurdlePoisson, SOFTPLUS),
    "geometric": Family("Geometric", laws.Geometric, SOFTPLUS),
    "generalised-poisson": Family("Generalised Poisson", laws.GeneralisedPoisson, SOFTPLUS),
    "poisson-log": Family("Poisson, log link, affine", laws.Poisson, LOG_AFFINE),
    "binomial-logit": Family("Binomial, logit link, affine", laws.Binomial, LOGIT_AFFINE),
    "discrete-normal": Family("Discrete normal, affine", DiscreteNormal, NORMAL_AFFINE),
    "ising": Family("Binary, pairwise (Ising)", laws.Bernoulli, PAIRWISE),
    "gaussian-gp": Family("Gaussian, Gaussian process", laws.Gaussian, PROCESS),
    "gamma-gp": Family("Gamma, Gaussian process", laws.Gamma, EXP_PROCESS),
}
