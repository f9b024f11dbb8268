"""A design of the gauntlet, and what several designs are made of: random graphs, and tables that grow along them."""

import inspect
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.random import Generator

from disco.columns import UNKNOWN
from disco.metrics.equivalence import equivalence_class
from disco.simulate import Design as Simulation
from disco.simulate import simulate
from disco.table.roles import Roles

BROKEN, SHARED = "model class broken", "dependent rows or a common factor"
IN_CLASS, POWER = "in the class", "power"
GROUPS = {"broken": BROKEN, "shared": SHARED, "class": IN_CLASS, "power": POWER}

Edge = tuple[str, str]  # parent, child
Law = Callable[[np.ndarray], np.ndarray]  # the parents' values, (rows, parents), to the child's, (rows,)


class Drawn(NamedTuple):
    """One table of a design.

    Attributes:
        table: counts, one column per node.
        truth: the edges that exist.
        knowable: those whose direction can be known; None if all can. Deciding any other is wrong.
        roles: what the user declares.
    """

    table: pd.DataFrame
    truth: tuple[Edge, ...] = ()
    knowable: Collection[Edge] | None = None
    roles: Roles | None = None


@dataclass(frozen=True)
class Design:
    """A design: its name, its group (a value of `GROUPS`), and the function that draws a table.

    Attributes:
        arguments: of the function, beside the random numbers.
        seeds: the largest number of tables.
        stream: names the random numbers; designs of the same stream share them. The design's name if empty.
    """

    name: str
    group: str
    function: Callable[..., Drawn]
    arguments: dict[str, Any] = field(default_factory=dict)
    seeds: int = 10
    stream: str = ""

    def draw(self, seed: int) -> Drawn:
        """The table of a seed."""
        return self.function(
            np.random.default_rng([seed, crc32((self.stream or self.name).encode())]), **self.arguments
        )

    @property
    def sentence(self) -> str:
        """What misleads, and what a right answer is."""
        return " ".join((inspect.getdoc(self.function) or "").split())


def named(values: np.ndarray) -> pd.DataFrame:
    """Counts (rows, columns) as a table with columns x1, x2, …."""
    return pd.DataFrame(values.astype(np.int64), columns=[name(at) for at in range(values.shape[1])])


def name(column: int) -> str:
    """The name of a column by its place from 0."""
    return f"x{column + 1}"


class Dag(NamedTuple):
    """A random graph: the columns in causal order, and every column's parents."""

    order: list[int]
    parents: list[list[int]]

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges by name."""
        return tuple((name(parent), name(child)) for child in self.order for parent in self.parents[child])


def dag(random: Generator, nodes: int = 10, edges: int = 14, most_parents: int = 3) -> Dag:
    """A random graph with a number of edges, and at most some parents per node."""
    order = random.permutation(nodes).tolist()
    parents: list[list[int]] = [[] for _ in order]
    pairs = [(order[a], order[b]) for b in range(nodes) for a in range(b)]
    for parent, child in random.permutation(pairs).tolist():
        if len(parents[child]) < most_parents and sum(map(len, parents)) < edges:
            parents[child].append(parent)
    return Dag(order, parents)


def chain(nodes: int) -> Dag:
    """x1 → x2 → … ."""
    return Dag(list(range(nodes)), [[node - 1] if node else [] for node in range(nodes)])


def grown(graph: Dag, rows: int, law: Law) -> pd.DataFrame:
    """A table grown along a graph; the law draws a column from its parents."""
    return named(values_of(graph, rows, law))


def values_of(graph: Dag, rows: int, law: Law) -> np.ndarray:
    """What `grown` makes a table of, (rows, nodes)."""
    values = np.zeros((rows, len(graph.order)))
    for node in graph.order:
        values[:, node] = law(values[:, graph.parents[node]])
    return values


def compelled(edges: Iterable[Edge]) -> frozenset[Edge]:
    """The edges of a DAG whose direction follows from independences alone."""
    return frozenset(mark for mark in equivalence_class(set(edges)).values() if mark is not None)


def simulated(random: Generator, **design: Any) -> Drawn:
    """A table of the model class (`disco.simulate`), from the options of its design."""
    drawn = simulate(Simulation(seed=int(random.integers(2**31)), **design))
    rows = list(drawn.truth.itertuples(index=False, name=None))
    return Drawn(
        drawn.table,
        tuple((parent, child) for parent, child, _ in rows),
        frozenset((parent, child) for parent, child, direction in rows if direction != UNKNOWN),
    )


def small(random: Generator, rows: int = 3000, **options: Any) -> Drawn:
    """A small table of the model class that a design then spoils."""
    return simulated(random, **{"nodes": 10, "k": 2, "rows": rows} | options)


def independent(random: Generator, rows: int, columns: int, low: float = 2.0, high: float = 8.0) -> np.ndarray:
    """Means of independent columns, (rows, columns): the same in every row."""
    return np.tile(random.uniform(low, high, columns), (rows, 1))


def softplus(random: Generator, slope: float = 0.4) -> Law:
    """Poisson counts whose mean is softplus of 0.5 + slope · Σ parents, plus 0.2."""

    def law(parents: np.ndarray) -> np.ndarray:
        return random.poisson(0.2 + np.logaddexp(0.0, 0.5 + slope * parents.sum(axis=1)))

    return law
