"""A table drawn from a design, with its truth.

Graph, coefficients and each node's values have a random stream of their own, so that graphs and coefficients are the
same across families, and a table with fewer rows is the first rows of a longer one (paper, Replication and pairing).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.simulate.design import Design
from disco.simulate.families import FAMILIES, Family
from disco.simulate.graphs import draw_graph, edge_list, own_graph
from disco.simulate.laws import Law


@dataclass(frozen=True)
class Simulated:
    """A simulated table and what is true of it."""

    table: pd.DataFrame  # (rows, nodes), int64; float64 if continuous
    truth: pd.DataFrame  # columns parent, child
    order: list[str]  # a causal order, sources first
    adjacency: pd.DataFrame  # 0/1, (nodes, nodes); rows are parents
    families: dict[str, str]  # key of each node's family
    design: Design


def simulate(design: Design) -> Simulated:
    """The table of a design.

    The same design gives the same table, and fewer rows give the first rows of more.

    Raises:
        InputError: the graph does not exist, or a node's mean explodes.
    """
    graph_stream, mechanism_stream = np.random.default_rng(design.seed).spawn(2)
    names = list(design.names)
    if design.graph == "own":
        present, order = own_graph(list(design.edges), names)
    else:
        present, order = draw_graph(design.graph, design.nodes, design.k, graph_stream)
    order_names = [names[node] for node in order]
    families = design.families(order_names)
    adjacency = pd.DataFrame(present.astype(np.int64), index=names, columns=names)
    values = _draw(design, present, order, [families[name] for name in names], mechanism_stream)
    table = pd.DataFrame(values.T, columns=names)
    return Simulated(table, edge_list(adjacency), order_names, adjacency, families, design)


def _draw(
    design: Design, present: np.ndarray, order: np.ndarray, keys: list[str], stream: np.random.Generator
) -> np.ndarray:
    """The values of every node, (nodes, rows)."""
    coefficient_stream, *node_streams = stream.spawn(1 + len(present))
    families = [FAMILIES[key] for key in keys]
    made = {key: (FAMILIES[key].make_law(design.parameters), FAMILIES[key].values(design.parameters)) for key in keys}
    low, high = (np.array([getattr(family.index, end) for family in families]) for end in ("low", "high"))
    coefficients = low + (high - low) * coefficient_stream.random(present.shape)
    values = np.zeros((len(present), design.rows), dtype=np.int64)
    for node in order:
        law, numbers = made[keys[node]]
        parents = present[:, node].nonzero()[0]
        if len(parents):
            weights = coefficients[parents, node] * numbers["scale"]
            location = families[node].index.response(
                numbers["intercept"] + _drift(families[node], law, values[parents], weights)
            )
        else:
            location = np.full(design.rows, numbers["source"])
        _refuse_explosion(location, law, design.names[node])
        values[node] = law.sample(location, node_streams[node])
    return values


def _drift(family: Family, law: Law, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The sum of beta phi(X_k) over the parents, (rows,), in a fixed order of summation."""
    drift = np.zeros(values.shape[1])
    for parent, weight in zip(values, weights, strict=True):
        drift += family.index.feature(parent / law.unit) * weight
    return drift


def _refuse_explosion(location: np.ndarray, law: Law, name: str) -> None:
    """Refuse a mean beyond what memory, integers and the reader can take."""
    row = int(location.argmax())
    if not location[row] <= law.largest_location:
        raise InputError(
            f'The mean of "{name}" grows to {law.mean(location[row]):,.0f} in row {row + 1}, more than '
            f"{law.largest_location:,.0f}: lower k or scale, shorten the paths, or take a family with a bounded mean "
            "(poisson-exp, nb-exp, a binomial)."
        )
