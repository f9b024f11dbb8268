"""The mechanism of each node of a design: parents, coefficients, law."""

from dataclasses import dataclass

import numpy as np

from disco.errors import InputError
from disco.simulate import drift
from disco.simulate.design import Design
from disco.simulate.families import FAMILIES, Index
from disco.simulate.laws import Law, Widened
from disco.simulate.streams import Streams


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
        """What the parents add to the index before scaling, (rows,); without parents, the hidden cause if there is one.

        Args:
            values: of the parents, (parents, rows).
            stream: for the hidden cause.
        """
        if not len(self.parents):
            rows = values.shape[1:]
            return np.zeros(rows) if self.source is not None else stream.standard_normal(rows)
        if self.index.feature is None:
            return drift.gaussian_process(values / self.units[:, None], np.random.default_rng(self.function))
        measured = [parent / unit for parent, unit in zip(values, self.units, strict=True)]
        features = np.array([self.index.feature(parent) for parent in measured])
        added = drift.additive(features, self.coefficients)
        if self.interactions:
            added += self.interactions * (drift.pairwise(features, self.coefficients) - added)
        return added

    def location(self, drift: np.ndarray, factor: np.ndarray, effect: np.ndarray | None) -> np.ndarray:
        """The law's location in each row, (rows,).

        Args:
            drift: what the parents add.
            factor: on the mean, (rows,).
            effect: of the columns beside the counts on the canonical parameter, (rows,), or None.

        Raises:
            InputError: the mean is too large.
        """
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
    """The mechanism of every node, then of every latent cause.

    Coefficients are uniform on the interval of the child's family. Each latent cause has two children, a random pair of
    nodes, and is a source of the family of the first.

    Args:
        design: the options.
        present: (nodes, nodes), rows are parents.
        keys: the family of each node.
        streams: for coefficients, signs, latent causes and functions.
    """
    nodes = len(present)
    low, high = (np.array([getattr(FAMILIES[key].index, end) for key in keys]) for end in ("low", "high"))
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
    whole = zip(names, [*keys, *latent_keys], laws, parents, weights, functions, strict=True)
    return [_mechanism(design, stretched, *node) for node in whole]


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
