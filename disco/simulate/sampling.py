"""Draw a table from a design, with its truth.

The graph, the coefficients and each node's values have their own random streams. Therefore graphs and coefficients are
the same across families, and a smaller table is the first rows of a larger one (paper, Replication and pairing).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.fields import require, require_types, whole_from
from disco.graph.dag import CONTEXT
from disco.simulate import calibration, ising, source_shapes, surroundings
from disco.simulate.design import Design
from disco.simulate.drawn_arms import Arms, Everywhere
from disco.simulate.identifiable import directions
from disco.simulate.mechanisms import Mechanism, Streams, build
from disco.simulate.random_graphs import draw_graph, edge_list, own_graph
from disco.simulate.surroundings import Surroundings


@dataclass(frozen=True)
class Simulated:
    """A simulated table with its truth."""

    table: pd.DataFrame  # (rows, nodes), int64; float64 if continuous
    truth: pd.DataFrame  # columns parent, child, direction: whether it can be known (`disco.simulate.identifiable`)
    order: list[str]  # a causal order, sources first
    adjacency: pd.DataFrame  # 0/1, (nodes, nodes); rows are parents
    families: dict[str, str]  # node -> key of its family
    hidden: pd.DataFrame  # (rows, ...) columns kept out of the table: exposure, latent1, latent2, ...
    latent_edges: pd.DataFrame  # columns parent, child: from each latent cause to its children
    context_edges: pd.DataFrame  # columns parent, child: from each context to the nodes on which it acts
    surroundings: Surroundings
    arms: Arms
    design: Design

    @property
    def beside(self) -> pd.DataFrame:
        """The columns added to the counts, (rows, columns); `design.roles()` has their correct roles."""
        values = self.surroundings.beside() | self.arms.beside(self.design.names)
        return pd.DataFrame({name: values[name] for name in self.design.beside()}, index=self.table.index)

    @property
    def told(self) -> pd.DataFrame:
        """The truth followed by what contexts act on, with the direction `disco.graph.dag.CONTEXT`."""
        if self.context_edges.empty:
            return self.truth
        return pd.concat([self.truth, self.context_edges.assign(direction=CONTEXT)], ignore_index=True)

    @property
    def whole(self) -> pd.DataFrame:
        """The counts and the columns beside them, (rows, nodes and columns)."""
        return pd.concat([self.table, self.beside], axis=1)


def simulate(design: Design) -> Simulated:
    """Draw the table of a design. The same design always gives the same table. InputError if the graph does not exist,
    a node's mean is too large, or no intercept yields equal means."""
    require_types(design=(design, Design))
    return _simulated(design, {})


def do(design: Design, values: Mapping[str, int], rows: int | None = None) -> pd.DataFrame:
    """The table of a design whose nodes are set to these values in every row, without arms: the truth about effects.

    The random numbers are those of the design too, so the first rows of nodes that the set nodes do not affect are
    those of its own table. InputError if a node is unknown, a value is not a count, or as for `simulate`. The default
    of `rows` is that of the design.
    """
    require_types(design=(design, Design))
    if rows is not None:
        require("rows", rows, whole_from(1))
    for name, value in values.items():
        if name not in design.names:
            raise InputError(f'The design has no node "{name}".')
        require(name, value, whole_from(0))
    alone = replace(design, interventions=0, rows=design.rows if rows is None else rows)
    return _simulated(alone, {design.names.index(name): int(value) for name, value in values.items()}).table


def _simulated(design: Design, values_set: Mapping[int, int]) -> Simulated:
    streams = Streams.of(design.seed, design.nodes, design.latent)
    names = list(design.names)
    if design.edges is not None:
        present, order = own_graph(design.edges, names)
    else:
        present, order = draw_graph(design.graph, design.nodes, design.k, streams.graph)
    order_names = [names[node] for node in order]
    families = design.families(order_names)
    mechanisms = build(design, present, [families[name] for name in names], streams)
    causal = [*range(design.nodes, len(mechanisms)), *order]
    effects, placed, placed_for_calibration = streams.surroundings
    columns = surroundings.columns(design, effects)
    if design.equal_means:
        first, *streams_of_nodes = streams.calibration
        calibrate = calibration.equal_variances if design.equal_variances else calibration.equal_means
        around = surroundings.draw(design, columns, calibration.ROWS, first, placed_for_calibration)
        mechanisms, _ = calibrate(mechanisms, causal, around, streams_of_nodes)
    arms = Everywhere.at(values_set, design.rows) if values_set else Arms.of(design, streams.arms)
    around = surroundings.draw(design, columns, len(arms.arm), streams.exposure, placed)
    if design.keys() == [ising.KEY]:
        values = ising.draw(mechanisms, order, arms, streams.nodes)
    else:
        values = _draw(design.sources, mechanisms, causal, around, arms, streams)
    reached = around.reached(design.context_names())
    verdicts = directions(design, present, order, mechanisms, arms.nodes, reached.values())
    of_contexts = [(context, names[node]) for context, nodes in reached.items() for node in nodes]
    adjacency = pd.DataFrame(present.astype(np.int64), index=names, columns=names)
    return Simulated(
        table=pd.DataFrame(values[: design.nodes].T, columns=names),
        truth=edge_list(adjacency).assign(direction=verdicts[present]),
        order=order_names,
        adjacency=adjacency,
        families=families,
        hidden=_hidden(design, around.hidden, values, mechanisms),
        latent_edges=_latent_edges(design, mechanisms),
        context_edges=pd.DataFrame(of_contexts, columns=["parent", "child"]),
        surroundings=around,
        arms=arms,
        design=design,
    )


def _draw(
    shape: str, mechanisms: list[Mechanism], order: list[int], around: Surroundings, arms: Arms, streams: Streams
) -> np.ndarray:
    """The values of all nodes and latent causes, (nodes, rows); `shape` is that of the nodes without parents."""
    draws = [*streams.nodes, *streams.latent]
    values = np.zeros((len(mechanisms), len(around.depth)), dtype=float if mechanisms[0].law.continuous else np.int64)
    for node in order:
        mechanism = mechanisms[node]
        drift = mechanism.drift(around.seen(values[mechanism.parents]), streams.causes[node])
        location = mechanism.location(drift, around.factor, arms.shifted(node, around.effect(node)))
        if node < len(streams.nodes) and not len(mechanism.parents):
            drawn = source_shapes.draw(shape, mechanism.law, location, draws[node], streams.sources[node])
        else:
            drawn = mechanism.law.sample(location, draws[node])
        values[node] = arms.set(node, drawn)
    return values


def _hidden(design: Design, exposure: np.ndarray, values: np.ndarray, mechanisms: list[Mechanism]) -> pd.DataFrame:
    """The exposure and the latent causes, which affect the table but are not in it."""
    columns = {"exposure": exposure} if design.exposure else {}
    columns |= {mechanisms[node].name: values[node] for node in range(design.nodes, len(mechanisms))}
    return pd.DataFrame(columns, index=range(len(exposure)))


def _latent_edges(design: Design, mechanisms: list[Mechanism]) -> pd.DataFrame:
    pairs = [
        (mechanisms[parent].name, node.name) for node in mechanisms for parent in node.parents if parent >= design.nodes
    ]
    return pd.DataFrame(sorted(pairs), columns=["parent", "child"])
