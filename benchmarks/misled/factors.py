"""Designs in which many columns share a cause that is not in the table."""

import networkx as nx
import numpy as np
from numpy.random import Generator
from scipy.special import expit, ndtri

from benchmarks.misled.design import (
    Dag,
    Drawn,
    compelled,
    dag,
    grown,
    independent,
    name,
    named,
    small,
    softplus,
    values_of,
)

ROWS = 2000


def gradient(random: Generator, rows: int, top: float) -> Drawn:
    """Species with unimodal responses along a hidden gradient. Right: no edge; or the common cause is said."""
    place, best, width = random.random((rows, 1)), random.uniform(-0.1, 1.1, 12), random.uniform(0.15, 0.35, 12)
    peak = random.uniform(top / 3, top, 12)
    return Drawn(named(random.poisson(0.2 + peak * np.exp(-(((place - best) / width) ** 2) / 2))))


def kinds(random: Generator, number: int = 2, spread: float = 0.5) -> Drawn:
    """Hidden kinds of rows, or batches, each with means of its own in every column. Right: no edge; or the kinds are
    said."""
    means = random.uniform(2.0, 8.0, 10) * random.lognormal(0.0, spread, (number, 10))
    return Drawn(named(random.poisson(means[random.integers(number, size=ROWS)])))


def opposite_kinds(random: Generator) -> Drawn:
    """Two kinds of rows whose graphs are the reverse of each other. Right: no direction."""
    graph = dag(random, 8, 8, most_parents=2)
    back = Dag(graph.order[::-1], _children(graph.parents))
    values = np.concatenate([values_of(direction, 300, softplus(random, 0.8)) for direction in (graph, back)])
    return Drawn(named(random.permutation(values)), graph.edges, ())


def _children(parents: list[list[int]]) -> list[list[int]]:
    return [[child for child, of in enumerate(parents) if node in of] for node in range(len(parents))]


def depth(random: Generator, share: float = 1.0, sd: float = 0.5, columns: int = 10) -> Drawn:
    """A depth multiplies the means of all columns, or of some. Right: no edge; or the depth is said."""
    means = independent(random, ROWS, columns)
    means[:, : round(share * columns)] *= random.lognormal(0.0, sd, (ROWS, 1))
    return Drawn(named(random.poisson(means)))


def two_depths(random: Generator) -> Drawn:
    """Two groups of columns, each with a depth of its own. Right: no edge; or the depths are said."""
    depths = np.repeat(random.lognormal(0.0, 0.5, (ROWS, 2)), 5, axis=1)
    return Drawn(named(random.poisson(independent(random, ROWS, 10) * depths)))


def negative_binomial_rows(random: Generator) -> Drawn:
    """One gamma effort per row: each column is negative binomial, and all share it. Right: no edge; or it is said."""
    return Drawn(named(random.poisson(independent(random, ROWS, 8) * random.gamma(3.0, 1 / 3.0, (ROWS, 1)))))


def depth_on_graph(random: Generator) -> Drawn:
    """An undeclared depth multiplies all means of a table of the class. Right: true directions or none; it is said."""
    return small(random, exposure=0.5)


def shallow(random: Generator) -> Drawn:
    """Independent genes in 300 shallow cells of varying depth. Right: no edge; or the depth is said."""
    values = random.poisson(random.lognormal(-0.2, 0.8, 30) * random.lognormal(0.0, 0.4, (300, 1)))
    return Drawn(named(values))


def shock(random: Generator) -> Drawn:
    """A rare shock adds the same number to all columns of a row. Right: no edge; or the common cause is said."""
    common = random.poisson(4.0, (ROWS, 1)) * (random.random((ROWS, 1)) < 0.15)
    return Drawn(named(random.poisson(independent(random, ROWS, 8)) + common))


def trait(random: Generator, levels: int) -> Drawn:
    """Items of one questionnaire, all of one trait. Right: no edge; or the common cause is said."""
    index = random.normal(size=(ROWS, 1)) * random.uniform(0.6, 1.3, 8) + random.normal(size=(ROWS, 8))
    cuts = ndtri(np.arange(1, levels) / levels) * 1.4
    return Drawn(named(np.searchsorted(cuts, index + random.normal(0.0, 0.4, 8))))


def hidden_counts(random: Generator, number: int) -> Drawn:
    """The columns with the most children are hidden from a table of the class. Right: no edge between children of a
    hidden cause, or no direction."""
    graph = dag(random, 14, 22)
    children = np.bincount([parent for parents in graph.parents for parent in parents], minlength=14)
    hidden = {name(node) for node in np.argsort(children)[-number:]}
    table = grown(graph, 3000, softplus(random, 0.6))
    edges = nx.DiGraph(graph.edges)
    for node in hidden:
        edges.add_edges_from([(a, b) for a in edges.predecessors(node) for b in edges.successors(node)])
        edges.remove_node(node)
    return Drawn(table.drop(columns=[*hidden]), tuple(sorted(edges.edges)))


def failed_rows(random: Generator, columns: int = 10, graph: bool = False) -> Drawn:
    """In 8 % of the rows most counts failed, in all columns or in half of them. Right: no edge; or they are said."""
    drawn = small(random) if graph else Drawn(named(random.poisson(independent(random, ROWS, 10))))
    values = drawn.table.to_numpy().copy()
    failed = random.random(len(values)) < 0.08
    values[np.ix_(failed, range(columns))] //= 8
    return drawn._replace(table=named(values))


def observers(random: Generator) -> Drawn:
    """Five observers, each with a calibration of its own in every column. Right: no edge; or the kinds are said."""
    calibration = random.lognormal(0.0, 0.3, (5, 9))[random.integers(5, size=ROWS)]
    return Drawn(named(random.poisson(independent(random, ROWS, 9) * calibration)))


def detection(random: Generator) -> Drawn:
    """Individuals are detected with a probability of the row: good and bad nights. Right: no edge; or it is said."""
    seen = random.beta(2.0, 2.0, (ROWS, 1))
    return Drawn(named(random.binomial(random.poisson(independent(random, ROWS, 8, 4.0, 12.0)), seen)))


def merged(random: Generator) -> Drawn:
    """Rows are sums of one to four visits that somebody merged. Right: no edge; or the depth is said."""
    visits = 1 + random.binomial(3, 0.25, (ROWS, 1))
    return Drawn(named(random.poisson(independent(random, ROWS, 8) * visits)))


def presence(random: Generator) -> Drawn:
    """A hidden state of the row, on or off, opens or closes the zeros of each column. Right: no edge; or the kinds are
    said."""
    index = 0.5 + random.uniform(-3.0, 3.0, 9) * (random.random((ROWS, 1)) < 0.5)
    return Drawn(named(random.poisson(independent(random, ROWS, 9)) * (random.random((ROWS, 9)) < expit(index))))


def latent_rates(random: Generator, slope: float, sd: float) -> Drawn:
    """Log rates form a linear graph, and the counts are their readings: beyond its skeleton no edge can be known, and
    no direction beyond its colliders."""
    graph, rows = dag(random, 8, 9, most_parents=2), 3000
    rates = values_of(graph, rows, lambda parents: slope * parents.sum(axis=1) + random.normal(0.0, sd, rows))
    return Drawn(named(random.poisson(np.exp(1.2 + np.clip(rates, -4, 2.5)))), graph.edges, compelled(graph.edges))
