"""A DAG as a fitted model: likelihood, BIC, held-out likelihood, new tables, response curves, carriers.

Every node is a semiparametric GLM of its parents (`disco.likelihood.bank`), fitted in double precision. What concerns
counts is in the units of the table: level v of a column stands for its (v + 1)-th smallest count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd
import torch
from scipy.stats import norm
from torch import Tensor

from disco.errors import InputError
from disco.likelihood.bank import RIDGE, Bank
from disco.likelihood.newton import Design, Fits, Moments, Problems, fit, tabulated
from disco.ranks import rank_on_grid

_TOLERANCE = 1e-8


@dataclass(frozen=True)
class Model:
    """A fitted DAG.

    Attributes:
        names: columns, in the order of the table.
        grids: the distinct counts of every column, ascending; level v is grids[j][v].
        parents: of every node, ascending node numbers.
        bank: the table on its levels.
        fits: of every node, one problem each.
        order: node numbers, sources first.
    """

    names: tuple[str, ...]
    grids: tuple[np.ndarray, ...]
    parents: tuple[tuple[int, ...], ...]
    bank: Bank
    fits: tuple[Fits, ...]
    order: tuple[int, ...]

    @classmethod
    def of(
        cls,
        table: pd.DataFrame,
        parents: Mapping[str, Sequence[str]],
        *,
        offset: np.ndarray | None = None,
        precision: tuple[float, float] = (RIDGE, RIDGE),
    ) -> "Model":
        """Fit a DAG to a table of counts.

        Args:
            table: counts, (rows, nodes).
            parents: of every node that has any.
            offset: log exposure of every row, (rows,).
            precision: as `Bank.of`; maximum likelihood unless given.

        Raises:
            InputError: the parents name a column that is not there, or make a cycle.
        """
        names = tuple(table.columns)
        place = {name: number for number, name in enumerate(names)}
        for child, nodes in parents.items():
            for name in (child, *nodes):
                if name not in place:
                    raise InputError(f'The graph names "{name}", which is not a column of the table.')
        graph = nx.DiGraph([(place[parent], place[child]) for child, nodes in parents.items() for parent in nodes])
        graph.add_nodes_from(range(len(names)))
        if not nx.is_directed_acyclic_graph(graph):
            cycle = ", ".join(names[edge[0]] for edge in nx.find_cycle(graph))
            raise InputError(f"The graph has a cycle through {cycle}; a DAG has none.")
        counts = table.to_numpy()
        grids = tuple(np.unique(column) for column in counts.T)
        ranks = np.column_stack([np.searchsorted(grid, column) for grid, column in zip(grids, counts.T, strict=True)])
        bank = Bank.of(ranks, offset=offset, precision=precision, names=names)
        sets = tuple(tuple(sorted(graph.predecessors(node))) for node in range(len(names)))
        fits = tuple(
            fit(bank, Problems.of([(node, nodes)]), tolerance=_TOLERANCE, evaluate=tabulated)
            for node, nodes in enumerate(sets)
        )
        return cls(names, grids, sets, bank, fits, tuple(nx.lexicographical_topological_sort(graph)))

    @property
    def log_likelihood(self) -> pd.Series:
        """Of every node, nats."""
        return pd.Series([float(one.log_likelihood) for one in self.fits], index=list(self.names))

    @property
    def bic(self) -> float:
        """Log-likelihood − ½ log(rows) · coefficients, nats; larger is better."""
        counted = sum(self.bank.coefficients(node, nodes) for node, nodes in enumerate(self.parents))
        return float(self.log_likelihood.sum()) - np.log(self.bank.rows) / 2 * counted

    def held_out(self, table: pd.DataFrame, offset: np.ndarray | None = None) -> pd.Series:
        """Log-likelihood of other rows, of every node, nats; a count off the grid counts as its rank (`disco.ranks`).

        Raises:
            InputError: a column of the model is missing.
        """
        bank = self.bank.at_rows(self._ranks(table), offset)
        found = [float(self._evaluated(bank, node).log_likelihood) for node in range(len(self.names))]
        return pd.Series(found, index=list(self.names))

    def sample(self, rows: int, seed: int = 0, offset: np.ndarray | None = None) -> pd.DataFrame:
        """A new table drawn from the model, node by node along the order.

        Raises:
            InputError: the model has an offset and none is given, or one of another length.
        """
        if (self.bank.offset is None) != (offset is None) or (offset is not None and len(offset) != rows):
            raise InputError(f"The model needs an offset of {rows} rows exactly where it was fitted with one.")
        random = np.random.default_rng([seed, 17])
        ranks = np.zeros((rows, len(self.names)), dtype=np.int64)
        for node in self.order:
            probability = self._probability(self.bank.at_rows(ranks, offset), node).numpy()
            drawn = random.random((rows, 1)) > np.cumsum(probability, axis=1)
            ranks[:, node] = drawn.sum(axis=1).clip(max=len(self.grids[node]) - 1)
        columns = {
            name: grid[ranks[:, node]] for node, (name, grid) in enumerate(zip(self.names, self.grids, strict=True))
        }
        return pd.DataFrame(columns)

    def curve(self, parent: str, child: str, level: float = 0.95) -> pd.DataFrame:
        """How the child's mean moves with a parent, averaged over the rows' other parents, with a pointwise band.

        The band is that of the delta method, from the information of the child's coefficients; it takes the graph as
        given.

        Returns:
            Columns count (of the parent), rows (how many have it), mean, low and high (of the child's count).

        Raises:
            InputError: there is no such edge.
        """
        nodes = [self.names.index(name) if name in self.names else -1 for name in (parent, child)]
        if nodes[0] not in (self.parents[nodes[1]] if nodes[1] >= 0 else ()):
            raise InputError(f'The graph has no edge from "{parent}" to "{child}".')
        other, node = nodes
        covariance = torch.linalg.inv(self.fits[node].moments.information[0])
        ranks = self.bank.ranks.numpy()
        seen, means, errors = np.bincount(ranks[:, other]), [], []
        for value in range(len(self.grids[other])):
            moved = ranks.copy()
            moved[:, other] = value
            mean, slope = self._mean_and_slope(self.bank.at_rows(moved, self._offset()), node)
            means.append(float(mean))
            errors.append(float((slope @ covariance @ slope).clamp_min(0).sqrt()))
        half = norm.isf((1 - level) / 2) * np.array(errors)
        mean, grid = np.array(means), self.grids[node]
        low, high = (mean - half).clip(grid[0], grid[-1]), (mean + half).clip(grid[0], grid[-1])
        return pd.DataFrame({"count": self.grids[other], "rows": seen, "mean": mean, "low": low, "high": high})

    def carrier(self, node: str) -> pd.DataFrame:
        """The node's conditional distribution at its average canonical parameter: count, probability.

        Raises:
            InputError: there is no such node.
        """
        if node not in self.names:
            raise InputError(f'There is no node "{node}".')
        number = self.names.index(node)
        design = Design(self.bank, Problems.of([(number, self.parents[number])]))
        theta = self.fits[number].theta
        eta = design.eta(theta).double().mean()
        logits = (eta * design.value + design.log_weights(theta))[0, : len(self.grids[number])]
        return pd.DataFrame({"count": self.grids[number], "probability": torch.softmax(logits, 0).numpy()})

    def _offset(self) -> np.ndarray | None:
        return None if self.bank.offset is None else self.bank.offset.numpy()

    def _ranks(self, table: pd.DataFrame) -> np.ndarray:
        for name in self.names:
            if name not in table:
                raise InputError(f'The table has no column "{name}", which the model has.')
        columns = (
            rank_on_grid(table[name].to_numpy(), grid) for name, grid in zip(self.names, self.grids, strict=True)
        )
        return np.column_stack(list(columns))

    def _evaluated(self, bank: Bank, node: int) -> Moments:
        return tabulated(Design(bank, Problems.of([(node, self.parents[node])])), self.fits[node].theta)

    def _probability(self, bank: Bank, node: int) -> Tensor:
        """Of every level at every row, (rows, levels of the node)."""
        design = Design(bank, Problems.of([(node, self.parents[node])]))
        theta = self.fits[node].theta
        levels = len(self.grids[node])
        logits = design.eta(theta)[0, :, None] * design.value[0, :levels] + design.log_weights(theta)[0, :levels]
        return torch.softmax(logits, -1)

    def _mean_and_slope(self, bank: Bank, node: int) -> tuple[Tensor, Tensor]:
        """The node's mean count over the rows, and its derivative in the coefficients."""
        design = Design(bank, Problems.of([(node, self.parents[node])]))
        probability = self._probability(bank, node)
        levels = probability.shape[1]
        count = torch.as_tensor(self.grids[node], dtype=torch.float64)
        mean = probability @ count
        centred = probability * (count - mean[:, None])
        with_value = centred @ design.value[0, :levels]  # Cov(count, v̂), (rows,)
        with_carrier = centred @ design.carrier[0, :levels]
        columns = design.x[0] * with_value
        parts = columns.mean(1)
        return mean.mean(), torch.cat([parts[:1], with_carrier.mean(0), parts[1:]])
