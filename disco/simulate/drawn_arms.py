"""Arms of a simulated experiment: after the controls, rows in which one node each is set, or its mechanism shifted.

In an arm of kind *set* the node has one value, the 5% or the 95% quantile of the controls. In one of kind *shift* its
canonical parameter, or the logarithm of its mean, moves up or down, and its parents still act on it. All other
mechanisms are those of the controls (truncated factorisation), and the controls are the rows of the same design without
arms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from disco.simulate.design import INTERVENTION, Design
from disco.table.interventions import SET

TAIL = 0.05
_CONTROL = "control"


@dataclass(frozen=True)
class Arms:
    """The arms of a table.

    Attributes:
        kind: set or shift.
        nodes: the node of each arm, (arms,).
        up: whether it is set high or shifted up, (arms,) bool.
        size: of a shift.
        arm: of every row, from 1; 0 for a control, (rows,).
    """

    kind: str
    nodes: np.ndarray
    up: np.ndarray
    size: float
    arm: np.ndarray

    @classmethod
    def of(cls, design: Design, stream: np.random.Generator) -> "Arms":
        """The arms of a design: of the nodes that it names, or of random ones."""
        targets = design.interventions
        if isinstance(targets, tuple):
            nodes = np.array([design.names.index(name) for name in targets], dtype=int)
        else:
            nodes = np.sort(stream.permutation(design.nodes)[:targets])
        arm = np.repeat(np.arange(len(nodes) + 1), [design.rows] + [design.intervention_rows] * len(nodes))
        up = stream.random(design.nodes)[nodes] < 0.5
        return cls(design.intervention_kind, nodes, up, design.intervention_effect, arm)

    def labels(self, names: Sequence[str]) -> np.ndarray:
        """The column of labels: the node of every row's arm, or control, (rows,)."""
        return np.array([_CONTROL, *(names[node] for node in self.nodes)], dtype=object)[self.arm]

    def of_node(self, node: int) -> tuple[np.ndarray, bool]:
        """The rows of the arm that acts on a node, (rows,) bool, and whether it acts upwards."""
        arms = np.flatnonzero(self.nodes == node)
        if not len(arms):
            return np.zeros(len(self.arm), dtype=bool), False
        return self.arm == arms[0] + 1, bool(self.up[arms[0]])

    def shifted(self, node: int, effect: np.ndarray | None) -> np.ndarray | None:
        """The effect of the surroundings on a node, (rows,) or None, with that of the arm that shifts it."""
        rows, up = self.of_node(node)
        if self.kind == SET or not rows.any():
            return effect
        moved = self.size * (1 if up else -1) * rows
        return moved if effect is None else effect + moved

    def set(self, node: int, values: np.ndarray) -> np.ndarray:
        """A node's values, (rows,), with those of the arm that sets it."""
        rows, up = self.of_node(node)
        if self.kind != SET or not rows.any():
            return values
        level = np.quantile(values[self.arm == 0], 1 - TAIL if up else TAIL, method="lower")
        return np.where(rows, level, values)

    def beside(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """The column of the table that names the arms, by its name; none without arms."""
        return {INTERVENTION: self.labels(names)} if len(self.nodes) else {}


@dataclass(frozen=True)
class Everywhere(Arms):
    """Nodes set in every row; `values` by the number of the node."""

    values: Mapping[int, int]

    @classmethod
    def at(cls, values: Mapping[int, int], rows: int) -> "Everywhere":
        none = np.zeros(0, dtype=int)
        return cls(SET, none, none.astype(bool), 0.0, np.ones(rows, dtype=int), values)

    def set(self, node: int, values: np.ndarray) -> np.ndarray:
        """A node's values, (rows,): constant if it is set."""
        return np.full_like(values, self.values[node]) if node in self.values else values
