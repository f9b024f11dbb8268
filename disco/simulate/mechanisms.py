"""The mechanism of each node of a design: parents, coefficients, law; its random streams, and its drift.

Each kind of draw has its own stream, so an option of the design changes only what it concerns: graph and coefficients
are paired across families and options, and each node's values are drawn row by row from its own stream.

The *drift* is what a node's parents add to its index, (rows,). Sums run parent by parent and every row is independent,
so rounding does not depend on the number of rows.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from disco.errors import InputError
from disco.simulate.design import Design
from disco.simulate.laws import Law, Widened
from disco.simulate.mechanism_families import FAMILIES, Index


class Streams(NamedTuple):
    """Independent generators, all from one seed."""

    graph: np.random.Generator
    coefficients: np.random.Generator
    nodes: list[np.random.Generator]
    signs: np.random.Generator
    exposure: np.random.Generator
    latent: list[np.random.Generator]
    functions: list[np.random.Generator]  # per node, for its Gaussian process
    causes: list[np.random.Generator]  # per node and latent cause, for its own hidden cause
    calibration: list[np.random.Generator]  # the exposure, then one per node and latent cause
    sources: list[np.random.Generator]  # per node, for its shape if it has no parents
    spreads: np.random.Generator
    surroundings: list[np.random.Generator]  # effects, the rows' values, and those of the calibration
    arms: np.random.Generator

    @classmethod
    def of(cls, seed: int, nodes: int, latent: int) -> "Streams":
        """The streams of a seed. The order of the calls matters: append new ones, never insert."""
        graph, mechanism = np.random.default_rng(seed).spawn(2)
        coefficients, *values = mechanism.spawn(1 + nodes)
        signs, exposure, latents, functions, causes, calibration = mechanism.spawn(6)
        sources, spreads, surroundings, arms = mechanism.spawn(4)
        return cls(
            graph,
            coefficients,
            values,
            signs,
            exposure,
            latents.spawn(latent),
            functions.spawn(nodes),
            causes.spawn(nodes + latent),
            calibration.spawn(1 + nodes + latent),
            sources.spawn(nodes),
            spreads,
            surroundings.spawn(3),
            arms,
        )


FREQUENCIES = 1000
ROWS_AT_ONCE = 512


def additive(features: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """The sum of beta_k phi(X_k); features (parents, rows), coefficients (parents,)."""
    drift = np.zeros(features.shape[1])
    for feature, coefficient in zip(features, coefficients, strict=True):
        drift += feature * coefficient
    return drift


def pairwise(features: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """The nonadditive counterpart: the sum over pairs of (beta_k + beta_l) / (parents - 1) sqrt(phi(X_k) phi(X_l)).

    If all features are equal, so are this and the additive sum: it does not grow faster. A single parent has no pair
    and its term is additive.
    """
    if len(features) == 1:
        return additive(features, coefficients)
    drift, roots = np.zeros(features.shape[1]), np.sqrt(features)
    for k, m in combinations(range(len(features)), 2):
        drift += (coefficients[k] + coefficients[m]) / (len(features) - 1) * (roots[k] * roots[m])
    return drift


def gaussian_process(values: np.ndarray, stream: np.random.Generator) -> np.ndarray:
    """A function of the parents, (parents, rows), from a zero-mean Gaussian process: RBF kernel, variance 1, length 1.

    f(x) = sum_i (a_i cos(w_i x) + b_i sin(w_i x)) / sqrt(m) with standard normal a, b and w and m = 1,000 has exactly
    this mean and covariance, and is Gaussian except for a relative error of order 1/m in its fourth moment. Unlike a
    draw through the Cholesky factor of all rows, it is one function that can be evaluated at any rows.
    """
    frequencies = stream.standard_normal((len(values), FREQUENCIES))
    cosines, sines = stream.standard_normal((2, FREQUENCIES)) / np.sqrt(FREQUENCIES)
    rows = values.shape[1]
    drift = np.zeros(-(-rows // ROWS_AT_ONCE) * ROWS_AT_ONCE)
    padded = np.zeros((len(values), len(drift)))  # blocks of equal shape, so a row rounds the same in any table
    padded[:, :rows] = values
    for start in range(0, rows, ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        phase = padded[:, block].T @ frequencies
        drift[block] = np.cos(phase) @ cosines + np.sin(phase) @ sines
    return drift[:rows]


@dataclass(frozen=True)
class Mechanism:
    """One node's conditional distribution given its parents."""

    name: str
    key: str  # a key of `FAMILIES`
    law: Law
    parents: np.ndarray  # (parents,) node numbers
    coefficients: np.ndarray  # (parents,) beta, signed
    scale: float  # factor on what the parents add
    intercept: float
    source: float | None  # location if there are no parents; None: a hidden standard normal cause drives the node
    interactions: float
    function: np.random.SeedSequence  # seed of the function drawn from a Gaussian process
    level: float  # factor on the location, not 1 if spreads differ
    units: np.ndarray  # (parents,) divisors of parents before the feature map

    @property
    def index(self) -> Index:
        return FAMILIES[self.key].index

    def drift(self, values: np.ndarray, stream: np.random.Generator) -> np.ndarray:
        """What the parents, (parents, rows), add to the unscaled index, (rows,); without any, the hidden cause."""
        if not len(self.parents):
            rows = values.shape[1:]
            return np.zeros(rows) if self.source is not None else stream.standard_normal(rows)
        if self.index.feature is None:
            return gaussian_process(values / self.units[:, None], np.random.default_rng(self.function))
        measured = [parent / unit for parent, unit in zip(values, self.units, strict=True)]
        features = np.array([self.index.feature(parent) for parent in measured])
        added = additive(features, self.coefficients)
        if self.interactions:
            added += self.interactions * (pairwise(features, self.coefficients) - added)
        return added

    def location(self, drift: np.ndarray, factor: np.ndarray, effect: np.ndarray | None) -> np.ndarray:
        """The law's location in each row; InputError if the mean is too large. The drift, a factor on the mean, and the
        effect of the columns beside the counts on the canonical parameter are (rows,)."""
        location = self._location(drift, factor, effect)
        self._refuse_explosion(location)
        return location

    def mean(self, drift: np.ndarray, factor: np.ndarray, effect: np.ndarray | None) -> float:
        """The marginal mean over the rows, however large."""
        return float(self.law.mean(self._location(drift, factor, effect)).mean())

    def _location(self, drift: np.ndarray, factor: np.ndarray, effect: np.ndarray | None) -> np.ndarray:
        if self.source is not None and not len(self.parents):
            location = self.source * self.level * factor
        else:
            location = self.index.response(self.intercept + self.scale * drift) * self.level * factor
        return location if effect is None else self.law.shifted(location, effect)

    def _refuse_explosion(self, location: np.ndarray) -> None:
        """Refuse a mean that is too large for memory, integers or a useful table."""
        largest = location.max()
        if not largest <= self.law.largest_location:
            raise InputError(
                f'The mean of "{self.name}" grows to {self.law.mean(largest):,.0f} in some rows, more than '
                f"{self.law.largest_location:,.0f}: lower k, scale, exposure or depth, or choose a family with a "
                "bounded mean (poisson-exp, nb-exp, a binomial)."
            )


def build(design: Design, present: np.ndarray, keys: list[str], streams: Streams) -> list[Mechanism]:
    """The mechanism of every node, then of every latent cause; `present` is (nodes, nodes), rows are parents.

    Coefficients are uniform on the interval of the child's family, whose key is in `keys`. Each latent cause has two
    children, a random pair of nodes, and is a source of the family of the first.
    """
    nodes = len(present)
    _, low, high = np.array([FAMILIES[key].index.coefficients for key in keys]).T
    coefficients = low + (high - low) * streams.coefficients.random(present.shape)
    if design.random_signs:
        coefficients *= np.where(streams.signs.random(present.shape) < 0.5, -1.0, 1.0)
    parents = [list(column.nonzero()[0]) for column in present.T]
    weights = [list(coefficients[rows, child]) for child, rows in enumerate(parents)]
    latent_keys = []
    for number, stream in enumerate(streams.latent):
        children = stream.choice(nodes, size=2, replace=False)
        signs = np.where(stream.random(2) < 0.5, -1.0, 1.0) if design.random_signs else np.ones(2)
        for child, weight in zip(children, signs * stream.uniform(low[children], high[children]), strict=True):
            parents[child].append(nodes + number)
            weights[child].append(weight)
        latent_keys.append(keys[children[0]])
    names = [*design.names, *(f"latent{number + 1}" for number in range(design.latent))]
    parents += [[] for _ in latent_keys]
    weights += [[] for _ in latent_keys]
    functions = [*streams.functions, *streams.latent]
    laws = _widened(design, [*keys, *latent_keys], streams.spreads)
    stretched = np.array([law.values for law in laws])
    described = zip(names, [*keys, *latent_keys], laws, parents, weights, functions, strict=True)
    return [_mechanism(design, stretched, *node) for node in described]


def _widened(design: Design, keys: list[str], stream: np.random.Generator) -> list[Widened]:
    """The law of every node and latent cause; the nodes' spreads are geometrically spaced, in random order."""
    factors = np.ones(len(keys))
    factors[: design.nodes] = stream.permutation(np.geomspace(1.0, design.spread, design.nodes))
    laws = [FAMILIES[key].make_law(design.parameters) for key in keys]
    if design.spread == 1:
        return [Widened(law, 1.0, 1.0) for law in laws]
    return [law.widened(float(factor)) for law, factor in zip(laws, factors, strict=True)]


def _mechanism(
    design: Design,
    stretched: np.ndarray,
    name: str,
    key: str,
    widened: Widened,
    parents: list[int],
    weights: list[float],
    function: np.random.Generator,
) -> Mechanism:
    values = FAMILIES[key].values(design.parameters)
    numbers = np.array(parents, dtype=int)
    return Mechanism(
        name=name,
        key=key,
        law=widened.law,
        parents=numbers,
        coefficients=np.array(weights),
        scale=values["scale"],
        intercept=values["intercept"],
        source=values.get("source"),
        interactions=design.interactions,
        function=function.bit_generator.seed_seq,  # type: ignore[arg-type]  # NumPy declares less than it gives
        level=widened.location,
        units=FAMILIES[key].make_law(design.parameters).unit * stretched[numbers],
    )
