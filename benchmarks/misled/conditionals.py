"""Designs whose children depend on their parents in a way that the model class lacks."""

import numpy as np
from numpy.random import Generator
from scipy.special import expit, ndtri
from scipy.stats import poisson

from benchmarks.misled.design import (
    Drawn,
    Law,
    chain,
    compelled,
    dag,
    grown,
    name,
    named,
    simulated,
    values_of,
)

ROWS = 2000


def _opened(random: Generator, at: float, slope: float = 1.0, size: float = np.inf, mean: float = 5.0) -> Law:
    """Counts above 0 with probability sigmoid(slope · Σ (parent − at)); negative binomial if `size` is finite."""

    def law(parents: np.ndarray) -> np.ndarray:
        rows = len(parents)
        means = mean if np.isinf(size) else mean * random.gamma(size, 1 / size, rows)
        is_open = random.random(rows) < expit(slope * (parents - at).sum(axis=1)) if parents.shape[1] else 1
        return random.poisson(means, rows) * is_open

    return law


def hurdle_pair(random: Generator, slope: float = 1.0, size: float = np.inf, rows: int = ROWS) -> Drawn:
    """x1 opens or closes the zeros of x2, beside six columns of noise. Given x2, log p(x1) is linear in x1: the
    reversed class fits exactly. Right: x1 → x2, or no direction."""
    values = random.poisson(4.0, (rows, 8))
    values[:, 1] = _opened(random, 4.0, slope, size)(values[:, :1])
    return Drawn(named(values), (("x1", "x2"),))


def hurdle_collider(random: Generator) -> Drawn:
    """x1 and x2 open the zeros of x3, beside five columns of noise. Right: x1 → x3 ← x2, or no direction."""
    values = random.poisson(4.0, (ROWS, 8))
    values[:, 2] = _opened(random, 4.0)(values[:, :2])
    return Drawn(named(values), (("x1", "x3"), ("x2", "x3")))


def hurdle_chain(random: Generator) -> Drawn:
    """Each column of a chain opens the zeros of the next. Right: the true directions, or none."""
    return Drawn(grown(chain(8), ROWS, _opened(random, 2.5)), chain(8).edges)


def hurdle_dag(random: Generator, slope: float) -> Drawn:
    """Parents open or close the zeros of their children in a random graph. Right: the true directions, or none."""
    return _along(random, _opened(random, 3.0, slope, mean=4.0))


def _along(random: Generator, of_parents: Law, rows: int = ROWS) -> Drawn:
    """A table grown along a random graph; sources are Poisson of mean 4, and have no law of parents."""
    graph = dag(random, 12, 11, most_parents=2)

    def law(parents: np.ndarray) -> np.ndarray:
        return of_parents(parents) if parents.shape[1] else random.poisson(4.0, len(parents))

    return Drawn(grown(graph, rows, law), graph.edges)


def spread_alone(random: Generator) -> Drawn:
    """Parents move the dispersion of their children and leave the mean alone. Right: the true directions, or none."""

    def law(parents: np.ndarray) -> np.ndarray:
        size = np.exp(2.5 - 0.35 * parents.mean(axis=1))
        return random.poisson(5.0 * random.gamma(size, 1 / size))

    return _along(random, law, rows=1000)


def interaction(random: Generator) -> Drawn:
    """A child follows the product of its two parents. Right: the true directions, or none."""
    return _along(random, lambda parents: random.poisson(1.5 + 0.1 * parents.prod(axis=1) ** (2 / parents.shape[1])))


def u_shape(random: Generator, size: float) -> Drawn:
    """A child is large where its parents are small or large. Right: the true directions, or none."""
    return _along(random, lambda parents: random.poisson(1.5 + size * ((parents - 4.0) ** 2).mean(axis=1)))


def step(random: Generator) -> Drawn:
    """A parent above 4 doubles the mean of its child. Right: the true directions, or none."""
    return _along(random, lambda parents: random.poisson(2.5 * 2.0 ** (parents > 4).mean(axis=1)))


def offspring(random: Generator) -> Drawn:
    """A child is the sum of what every unit of its parents yields: without parents always 0. Right: the true
    directions, or none."""
    return _along(random, lambda parents: random.poisson(1.2 * parents.mean(axis=1)))


def heavy_tails(random: Generator) -> Drawn:
    """Log-normal noise multiplies every mean, as in field counts. Right: the true directions, or none."""

    def law(parents: np.ndarray) -> np.ndarray:
        return random.poisson((1.0 + parents.mean(axis=1)) * random.lognormal(0.0, 0.4, len(parents)))

    return _along(random, law)


def feedback(random: Generator) -> Drawn:
    """x1 and x2 act on each other until they settle; x3 follows x1, x4 follows x2, and x5 → x1. Right: no direction
    between x1 and x2."""
    values = random.poisson(3.0, (ROWS, 8))
    for _ in range(30):
        values[:, 0] = random.poisson(0.5 + 0.45 * values[:, 1] + 0.5 * values[:, 4])
        values[:, 1] = random.poisson(1.0 + 0.45 * values[:, 0])
    values[:, 2] = random.poisson(0.5 + 0.8 * values[:, 0])
    values[:, 3] = random.poisson(0.5 + 0.8 * values[:, 1])
    knowable = (("x1", "x3"), ("x2", "x4"), ("x5", "x1"))
    return Drawn(named(values), (*knowable, ("x1", "x2")), knowable)


def quota(random: Generator) -> Drawn:
    """Columns take in turn from a quota of 20 a row, so each acts on all later ones. Right: earlier → later, or no
    direction."""
    values = random.poisson(random.uniform(2.0, 5.0, 7), (ROWS, 7))
    for column in range(1, 7):
        values[:, column] = np.minimum(values[:, column], 20 - values[:, :column].sum(axis=1))
    return Drawn(named(values), tuple((name(a), name(b)) for b in range(7) for a in range(b)))


def affine(random: Generator, **design: object) -> Drawn:
    """A canonical link with an affine index: every tree has its reversal in the class. Right: no direction."""
    return simulated(random, **{"nodes": 8, "graph": "chain", "rows": ROWS} | design)


def copula(random: Generator, levels: tuple[int, ...] = (), rows: int = 1000) -> Drawn:
    """A linear Gaussian graph, read with equal or unequal numbers of levels, or as Poisson counts. Right: no direction
    beyond those that independences show."""
    graph = dag(random)

    def law(parents: np.ndarray) -> np.ndarray:
        return 0.7 * parents.sum(axis=1) + random.normal(size=len(parents))

    values = values_of(graph, rows, law)
    places = (values.argsort(axis=0).argsort(axis=0) + 0.5) / rows
    if levels:
        counts = np.floor(places * random.choice(levels, values.shape[1]))
    else:
        counts = poisson.ppf(places, random.choice((0.7, 1.5, 4.0, 10.0), values.shape[1]))
    return Drawn(named(counts), graph.edges, compelled(graph.edges))


def rounded_copula(random: Generator) -> Drawn:
    """A linear Gaussian graph, each column exponentiated and rounded: log-normal counts. Right: no direction beyond
    those that independences show."""
    graph = dag(random)
    values = values_of(graph, ROWS, lambda parents: 0.5 * parents.sum(axis=1) + random.normal(0.0, 0.6, ROWS))
    return Drawn(named(np.round(np.exp(1.5 + values))), graph.edges, compelled(graph.edges))


def binary_items(random: Generator) -> Drawn:
    """Yes or no in a random graph: two values fit in either direction. Right: no direction beyond those that
    independences show."""
    graph = dag(random)

    def law(parents: np.ndarray) -> np.ndarray:
        return random.random(len(parents)) < expit(2.0 * (parents - 0.5).sum(axis=1))

    return Drawn(grown(graph, ROWS, law), graph.edges, compelled(graph.edges))


def five_levels(random: Generator) -> Drawn:
    """Answers from 0 to 4 by an ordered probit in a random graph. Right: the true directions, or none."""
    graph, cuts = dag(random), ndtri(np.array([0.15, 0.4, 0.65, 0.88]))

    def law(parents: np.ndarray) -> np.ndarray:
        index = 0.3 * (parents - 2.0).sum(axis=1) + random.normal(size=len(parents))
        return np.searchsorted(cuts, index)

    return Drawn(grown(graph, 3000, law), graph.edges)
