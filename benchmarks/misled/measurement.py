"""Designs whose table holds readings of the counts that act."""

import numpy as np
from numpy.random import Generator

from benchmarks.misled.design import Drawn, dag, grown, name, named, small, softplus

ROWS = 3000


def _read(drawn: Drawn, values: np.ndarray) -> Drawn:
    return drawn._replace(table=named(values))


def heaped(random: Generator, by_row: bool = False) -> Drawn:
    """Half of the cells, or half of the rows, are rounded to fives. Right: true directions, or none."""
    drawn = small(random, parameters={"source": 4.0})
    values = drawn.table.to_numpy()
    which = random.random((len(values), 1 if by_row else values.shape[1])) < 0.5
    return _read(drawn, np.where(which, 5 * np.round(values / 5), values))


def ceiling(random: Generator, acts: bool) -> Drawn:
    """Counts end at 5: those that act, or only their reading. Right: true directions, or none."""
    graph, law = dag(random), softplus(random)
    counts = grown(graph, ROWS, lambda parents: law(np.minimum(parents, 5) if acts else parents))
    return Drawn(named(np.minimum(counts.to_numpy(), 5)), graph.edges)


def thinned(random: Generator, share: float = 0.5) -> Drawn:
    """Each individual is counted with a probability of one half. Right: true directions, or none."""
    drawn = small(random, parameters={"source": 6.0})
    return _read(drawn, random.binomial(drawn.table.to_numpy(), share))


def background(random: Generator, mean: float = 2.0) -> Drawn:
    """Noise is added to every count. Right: true directions, or none."""
    drawn = small(random)
    return _read(drawn, drawn.table.to_numpy() + random.poisson(mean, drawn.table.shape))


def sums(random: Generator, of: int = 12) -> Drawn:
    """Every row is the sum of twelve rows of the class. Right: true directions, or none."""
    drawn = small(random, rows=of * ROWS)
    return _read(drawn, drawn.table.to_numpy().reshape(ROWS, of, -1).sum(axis=1))


def limit(random: Generator) -> Drawn:
    """Counts below 3 are reported as 0, as under a limit of detection. Right: true directions, or none."""
    drawn = small(random)
    values = drawn.table.to_numpy()
    return _read(drawn, np.where(values < 3, 0, values))


def dropout(random: Generator, share: float = 0.2) -> Drawn:
    """A fifth of the cells, at random, is 0 instead of missing. Right: true directions, or none."""
    drawn = small(random)
    return _read(drawn, drawn.table.to_numpy() * (random.random(drawn.table.shape) >= share))


def missing_code(random: Generator) -> Drawn:
    """In 3 % of the rows half of the columns hold the code 99. Right: true directions, or none; or it is said."""
    drawn = small(random)
    values = drawn.table.to_numpy().copy()
    values[np.ix_(random.random(len(values)) < 0.03, range(0, values.shape[1], 2))] = 99
    return _read(drawn, values)


def late_mediator(random: Generator) -> Drawn:
    """In three chains such as x1 → x2 → x3, the middle was counted late, when half of it had left. Right: true
    directions, or none."""
    values = random.poisson(3.0, (ROWS, 9))
    for first in (0, 3, 6):
        middle = random.poisson(0.5 + 1.2 * values[:, first])
        values[:, first + 2] = random.poisson(0.5 + 0.9 * middle)
        values[:, first + 1] = random.binomial(middle, 0.5)
    return Drawn(named(values), tuple((name(at), name(at + 1)) for at in (0, 1, 3, 4, 6, 7)))


def reversible(random: Generator, rows: int) -> Drawn:
    """x2 is the half of x1 and more: with Poisson counts, x1 given x2 is of the same kind. Right: no direction."""
    first = random.poisson(6.0, rows)
    second = random.binomial(first, 0.5) + random.poisson(3.0, rows)
    noise = random.poisson(4.0, (rows, 4))
    return Drawn(named(np.column_stack([first, second, noise])), (("x1", "x2"),), ())


def nested(random: Generator) -> Drawn:
    """x2 includes what x1 counts, and x3 what x2 counts. Right: no direction."""
    values = random.poisson(4.0, (ROWS, 8))
    values[:, :3] = values[:, :3].cumsum(axis=1)
    return Drawn(named(values), (("x1", "x2"), ("x2", "x3")), ())


def readings_of_chain(random: Generator) -> Drawn:
    """Readings of two chains of four counts, each individual seen with a probability of one half: x1 and x3 stay
    dependent given x2. Right: no edge beyond the chains; true directions, or none."""
    values = random.poisson(6.0, (ROWS, 8))
    steps = (1, 2, 3, 5, 6, 7)
    for at in steps:
        values[:, at] = random.poisson(1.0 + 0.8 * values[:, at - 1])
    return Drawn(named(random.binomial(values, 0.5)), tuple((name(at - 1), name(at)) for at in steps))


def swapped(random: Generator) -> Drawn:
    """In 5 % of the rows the entries of two columns were exchanged. Right: true directions, or none."""
    drawn = small(random)
    values = drawn.table.to_numpy().copy()
    which = random.random(len(values)) < 0.05
    values[np.ix_(which, [0, 1])] = values[np.ix_(which, [1, 0])]
    return _read(drawn, values)
