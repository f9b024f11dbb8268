"""Means of an outcome if nodes are set, in one graph: ancestral sampling from the fits.

Nodes that do not depend on the set nodes have their values in the rows, as do covariates and exposure. Nodes between
are drawn, along the order. For the outcome itself, its distribution given its parents needs no draw. All values in
question use the same random numbers, so that differences have little error.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from disco.effects.drawing import spread
from disco.effects.nodes import Key, NodeAtRows, Nodes

Settings = Sequence[Mapping[int, float]]  # the values in question: of every set node, the same nodes in each


class Over:
    """The rows over which means are taken, (m,) numbers, and every node's random numbers at them."""

    def __init__(self, rows: np.ndarray, random: np.random.Generator) -> None:
        self.rows, self._random = rows, random
        self._uniform = dict[int, np.ndarray]()

    def uniform(self, node: int) -> np.ndarray:
        """A node's numbers between 0 and 1, (m,)."""
        if node not in self._uniform:
            self._uniform[node] = spread(len(self.rows), self._random)
        return self._uniform[node]


class OutcomeMeans:
    """The outcome's means at k settings, in any number of graphs with the same coefficients.

    A node is drawn once for all graphs in which it and all drawn nodes before it have the same parents.

    Args:
        of: numbers of the outcome's levels whose means are taken, such as their counts, (levels, q).
        number: of the draw of the coefficients; −1: those of the fit.
    """

    def __init__(self, nodes: Nodes, settings: Settings, of: np.ndarray, over: Over, number: int) -> None:
        self._nodes, self._of, self._over, self._number = nodes, of, over, number
        self._many = len(settings)
        self._set = {
            node: np.array([nodes.basis_at(node, setting[node]) for setting in settings]) for node in settings[0]
        }
        self._drawn = dict[tuple[Key, tuple[int | None, ...]], tuple[int, np.ndarray]]()

    def along(self, path: Sequence[Key]) -> np.ndarray:
        """The means in one graph, (q · k): of the first number at all settings, then of the next.

        The path has the nodes that the set nodes change and that act on the outcome, with their parents, causes first.
        """
        drawn = dict[int, tuple[int, np.ndarray]]()  # by node: its number among all draws, and its levels as a parent
        for key in path[:-1]:
            draw_key = key, tuple(drawn[parent][0] if parent in drawn else None for parent in key[1])
            if draw_key not in self._drawn:
                self._drawn[draw_key] = len(self._drawn), self._levels(key, drawn)
            drawn[key[0]] = self._drawn[draw_key]
        distribution = self._nodes.conditional(path[-1], self._number)
        return distribution.mean(self._of, self._index(distribution, path[-1], drawn), self._over.rows).T.ravel()

    def _levels(self, key: Key, drawn: Mapping[int, tuple[int, np.ndarray]]) -> np.ndarray:
        """A node's levels as a parent, (k, m)."""
        distribution, node, rows = self._nodes.conditional(key, self._number), key[0], self._over.rows
        levels = distribution.drawn(self._index(distribution, key, drawn), rows, self._over.uniform(node))
        return self._nodes.as_parent(node, levels, rows)

    def _index(self, distribution: NodeAtRows, key: Key, drawn: Mapping[int, tuple[int, np.ndarray]]) -> np.ndarray:
        """The sum of the parents' effects, (k, m)."""
        rows = self._over.rows
        index = np.zeros((self._many, len(rows)))
        for number, parent in enumerate(key[1]):
            if parent in self._set:
                index += distribution.at(number, self._set[parent])[:, None]
            else:
                levels = drawn[parent][1] if parent in drawn else self._nodes.levels[rows, parent]
                index += distribution.effects[number][levels]
        return index
