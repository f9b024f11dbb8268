"""A node's distribution given its parents and the rows' own columns, at one vector of coefficients.

The coefficients are those of `disco.likelihood.rank_design`: log p(v) = η v / s + base measure − normaliser, with the
canonical parameter η = shift + bent(Σ effects of the parents).
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import log_softmax

from disco.likelihood.link import bent
from disco.likelihood.rank_design import WIDTH, RankDesign


class Distribution:
    """A node's distribution.

    Attributes:
        value, weight: v / s and the log base measure of every level, (levels,).
        effects: of each parent on its levels.
        bend: of the link.
    """

    def __init__(
        self,
        design: RankDesign,
        node: int,
        parents: Sequence[int],
        theta: np.ndarray,
        levels: int,
        bases: Sequence[np.ndarray],
    ) -> None:
        """Split the coefficients `theta`; `bases` are every node's columns as a parent, (its levels, WIDTH)."""
        width = design.measure.shape[-1]
        self.parents = parents
        self.value = design.value[node, :levels]
        self.weight = design.measure[node, :levels] @ theta[1 : 1 + width]
        self.bend = float(theta[design.bend])
        self.blocks = theta[design.head :].reshape(-1, WIDTH)[: len(parents)]
        self.effects = [bases[parent] @ block for parent, block in zip(parents, self.blocks, strict=True)]
        self._start, self._own = theta[0], theta[design.bend + 1 : design.head]

    def shift_of(self, row_columns: np.ndarray, offset: np.ndarray | None) -> np.ndarray:
        """The canonical parameter at rows without the parents' part, (rows,), from their own columns and offset."""
        shift = self._start + row_columns @ self._own
        return shift if offset is None else shift + offset / self.value[1]

    def index_of(self, levels: np.ndarray) -> np.ndarray:
        """The sum of the parents' effects at rows, (rows,), from levels as parents, (rows, nodes)."""
        total = np.zeros(len(levels))
        for parent, effect in zip(self.parents, self.effects, strict=True):
            total += effect[levels[:, parent]]
        return total

    def bent(self, index: np.ndarray) -> tuple[np.ndarray, ...]:
        """An index's part of the canonical parameter, and its derivatives by index and bend (`link.bent`)."""
        return bent(index, self.bend)

    def logits(self, eta: np.ndarray) -> np.ndarray:
        """log p of every level at canonical parameters, without the normaliser, (values, levels)."""
        return eta[:, None] * self.value + self.weight

    def log_probability(self, eta: np.ndarray) -> np.ndarray:
        """log p of every level at canonical parameters, (values, levels)."""
        return log_softmax(self.logits(eta), axis=1)
