"""What a method found on a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from disco.errors import InputError

SCORES = ["parent", "child", "score"]


@dataclass(frozen=True)
class Result:
    """Order, edges and scores of one method on one table.

    Attributes:
        order: the names of all nodes, sources first; None if the method gives none.
        adjacency: 0 and 1, (nodes, nodes) in the table's order, rows are parents. An edge whose direction the method
            leaves open has 1 in both directions.
        scores: parent, child, score of candidate edges, and p_value if the method has one; how a score is read is the
            method's own. Empty if it has none.
        seconds: how long it took.
        notes: what a reader must know of this result, in sentences.
    """

    order: tuple[str, ...] | None
    adjacency: pd.DataFrame
    scores: pd.DataFrame
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        edges: Iterable[tuple[str, str]],
        *,
        undirected: Iterable[tuple[str, str]] = (),
        order: Sequence[str] | None = None,
        scores: pd.DataFrame | None = None,
        notes: Iterable[str] = (),
    ) -> "Result":
        """A result from names and pairs.

        Args:
            names: of all nodes, as the table's columns.
            edges: (parent, child).
            undirected: pairs joined by an edge without direction, each once.

        Raises:
            InputError: the order does not hold every name once.
        """
        if order is not None and sorted(order) != sorted(names):
            raise InputError("The order must hold every node once.")
        place = {name: k for k, name in enumerate(names)}
        matrix = np.zeros((len(names), len(names)), dtype=np.int64)
        for parent, child in edges:
            matrix[place[parent], place[child]] = 1
        for one, other in undirected:
            matrix[place[one], place[other]] = matrix[place[other], place[one]] = 1
        adjacency = pd.DataFrame(matrix, index=list(names), columns=list(names))
        empty = pd.DataFrame({"parent": [], "child": [], "score": []}).astype({"score": float})
        given = None if order is None else tuple(order)
        return cls(given, adjacency, empty if scores is None else scores, notes=tuple(notes))

    @property
    def edges(self) -> list[tuple[str, str]]:
        """(parent, child) of the edges with a direction."""
        matrix = self.adjacency.to_numpy()
        return self._pairs((matrix == 1) & (matrix.T == 0))

    @property
    def undirected(self) -> list[tuple[str, str]]:
        """The pairs joined by an edge without direction, each once."""
        matrix = self.adjacency.to_numpy()
        return self._pairs(np.triu((matrix == 1) & (matrix.T == 1)))

    def _pairs(self, matrix: np.ndarray) -> list[tuple[str, str]]:
        names = self.adjacency.columns
        return [(names[i], names[j]) for i, j in np.argwhere(matrix)]
