"""A DAG as a fitted model: likelihood, BIC, held-out likelihood, new tables, response curves, base measures.

Every node is a semiparametric GLM of its parents and of the rows' covariates (`disco.likelihood.rank_design`), fitted
in double precision. Counts are in the table's units: level v of a column is its (v + 1)-th smallest count. With an
exposure, a parent's levels are its rates at an average exposure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from scipy.special import ndtri

from disco.errors import InputError
from disco.graph.dag import require_dag
from disco.likelihood.batch import Problems
from disco.likelihood.conditional import Distribution
from disco.likelihood.covariates import bases, on_grids, rounded, values_of
from disco.likelihood.newton import Fits, fit
from disco.likelihood.rank_design import WIDTH, Prior, RankDesign
from disco.likelihood.small import inverse
from disco.paper.ranks import rank_on_grid
from disco.progress import SILENT, Reporter
from disco.table.adjustment import Adjustment
from disco.table.cells import names_of
from disco.table.prepared import Table, prepare

_TOLERANCE = 1e-8
WEAK = Prior(0.1, 1.0, 4.0)
_ENTRIES = 1 << 20  # probabilities in memory at once, 8 MB
_POINTS = 1024  # number of canonical parameters for interpolating a curve


class _GridRows(NamedTuple):
    """Rows on a model's grids."""

    ranks: np.ndarray  # levels, (rows, nodes)
    parents: np.ndarray  # levels as parents, (rows, nodes)
    beside: np.ndarray  # the rows' own columns, (rows, WIDTH · m)
    offset: np.ndarray | None  # (rows,), or None


@dataclass(frozen=True)
class Model:
    """A fitted DAG; its adjustment has contexts as covariates."""

    names: tuple[str, ...]
    grids: tuple[np.ndarray, ...]  # the distinct counts of every column, ascending; level v is grids[j][v]
    parent_grids: tuple[np.ndarray, ...]  # its distinct rates if there is an exposure, its counts otherwise
    parents: tuple[tuple[int, ...], ...]  # of every node, ascending node numbers
    design: RankDesign
    fits: tuple[Fits, ...]
    order: tuple[int, ...]  # node numbers, sources first
    adjustment: Adjustment | None = None

    @classmethod
    def of(
        cls,
        table: Table,
        parents: Mapping[str, Sequence[str]],
        *,
        adjustment: Adjustment | None = None,
        prior: Prior = WEAK,
        known: "Model | None" = None,
        reporter: Reporter = SILENT,
    ) -> "Model":
        """Fit a DAG to a table of counts.

        Args:
            prior: as in `RankDesign.of`; the default is outweighed by some hundred rows.
            known: a model of the same table, adjustment and prior; nodes with the same parents are not fitted again.
            reporter: receives the number of finished nodes before every fit.

        Raises:
            InputError: the table does not contain counts, or the parents name an unknown column or form a cycle.
            FitStopped: the reporter's callback stopped the work.
        """
        prepared = prepare(table, adjustment, folds=None)
        names = tuple(prepared.counts.columns)
        adjustment = None if prepared.adjustment is None else prepared.adjustment.as_covariates()
        index = {name: number for number, name in enumerate(names)}
        named = nx.DiGraph([(parent, child) for child, nodes in parents.items() for parent in nodes])
        named.add_nodes_from(parents)
        require_dag(named, index)
        graph = nx.relabel_nodes(named, index)
        graph.add_nodes_from(range(len(names)))
        sets = tuple(tuple(sorted(graph.predecessors(node))) for node in range(len(names)))
        if known is None:
            grids, parent_grids, design = on_grids(prepared.counts, adjustment, prior)
        else:
            grids, parent_grids, design = known.grids, known.parent_grids, known.design
        fits = []
        for node, nodes in enumerate(sets):
            if known is not None and known.parents[node] == nodes:
                fits.append(known.fits[node])
                continue
            reporter.check(node)
            fits.append(fit(design, Problems.of([(node, nodes)]), tolerance=_TOLERANCE))
        order = tuple(nx.lexicographical_topological_sort(graph))
        return cls(names, grids, parent_grids, sets, design, tuple(fits), order, adjustment)

    @property
    def log_likelihood(self) -> pd.Series:
        """Every node's log-likelihood, nats."""
        return pd.Series([node_fit.log_likelihood[0] for node_fit in self.fits], index=list(self.names))

    @property
    def bic(self) -> float:
        """Log-likelihood − ½ log(rows) · coefficients, nats; larger is better."""
        counted = sum(self.design.coefficients(node, nodes) for node, nodes in enumerate(self.parents))
        return float(self.log_likelihood.sum()) - np.log(self.design.rows) / 2 * counted

    def held_out(self, table: Table, adjustment: Adjustment | None = None) -> pd.Series:
        """Every node's log-likelihood on other rows, nats; errors as for `row_log_likelihood`."""
        return pd.Series(self.row_log_likelihood(table, adjustment).sum(0), index=list(self.names))

    def row_log_likelihood(self, table: Table, adjustment: Adjustment | None = None) -> np.ndarray:
        """Log-likelihood of other rows, nats, (rows, nodes); a count off the grid gets one of its ranks.

        InputError: the table does not contain counts, or a column of the model is missing.
        """
        rows = self._rows(table, adjustment)
        log_likelihood = np.empty(rows.ranks.shape)
        for node in range(len(self.names)):
            eta = self._eta(node, rows)
            for block in self._row_blocks(node, len(eta)):
                logarithm = self._distributions[node].log_probability(eta[block])
                log_likelihood[block, node] = np.take_along_axis(logarithm, rows.ranks[block, node, None], axis=1)[:, 0]
        return log_likelihood

    def sample(self, rows: int, seed: int = 0, adjustment: Adjustment | None = None) -> pd.DataFrame:
        """A new table drawn node by node along the order, with the given adjustment.

        InputError: an adjustment is missing, not needed, or has another length.
        """
        row_columns, offset = self._row_columns(adjustment, rows)
        random = np.random.default_rng([seed, 17])
        ranks, parents = np.zeros((2, rows, len(self.names)), dtype=np.int64)
        for node in self.order:
            eta, uniform = self._eta(node, _GridRows(ranks, parents, row_columns, offset)), random.random((rows, 1))
            for block in self._row_blocks(node, rows):
                weight = self._distributions[node].logits(eta[block])
                weight -= weight.max(axis=1, keepdims=True)
                cumulative = np.cumsum(np.exp(weight, out=weight), axis=1, out=weight)
                drawn = uniform[block] * cumulative[:, -1:] > cumulative
                ranks[block, node] = np.count_nonzero(drawn, axis=1).clip(max=len(self.grids[node]) - 1)
            parents[:, node] = self._as_parent(node, self.grids[node][ranks[:, node]], adjustment)
        return pd.DataFrame({name: self.grids[node][ranks[:, node]] for node, name in enumerate(self.names)})

    def curve(self, parent: str, child: str, level: float = 0.95) -> pd.DataFrame:
        """The child's mean at each count of a parent, averaged over the other parents' values in the rows.

        The pointwise band is by the delta method, from the information of the child's coefficients, given the graph.

        Returns:
            Columns count (of the parent; its rate if there is an exposure), rows, and mean, low and high of the child.

        InputError: there is no such edge.
        """
        nodes = [self.names.index(name) if name in self.names else -1 for name in (parent, child)]
        if nodes[0] not in (self.parents[nodes[1]] if nodes[1] >= 0 else ()):
            raise InputError(f'The graph has no edge from "{parent}" to "{child}".')
        cause, node = nodes
        means, errors = self._means(cause, node)
        half = -ndtri((1 - level) / 2) * errors
        grid, seen = self.grids[node], np.bincount(self.design.parent_ranks[:, cause])
        low, high = (means - half).clip(grid[0], grid[-1]), (means + half).clip(grid[0], grid[-1])
        return pd.DataFrame({"count": self.parent_grids[cause], "rows": seen, "mean": means, "low": low, "high": high})

    def covariate_curve(self, covariate: str, child: str, level: float = 0.95) -> pd.DataFrame:
        """A covariate's part of the child's canonical parameter, 0 on average over the rows, with bands as in `curve`.

        For a Poisson child on its counts, this is the change in the logarithm of its mean.

        Returns:
            Columns value, rows, effect, low and high; one row per distinct value or level. For the exposure, value is
            the exposure, and the effect is additional to its logarithm.

        InputError: there is no such covariate or node.
        """
        covariate_bases = [] if self.adjustment is None else bases(self.adjustment)
        node, names = self._number(child), [basis.name for basis in covariate_bases]
        if self.adjustment is None or covariate not in names:
            raise InputError(f'The model has no covariate "{covariate}".')
        index = names.index(covariate)
        first = self.design.bend + 1 + sum(len(basis.kinds) for basis in covariate_bases[:index])
        coefficients = slice(first, first + len(covariate_bases[index].kinds))
        values, at, seen = values_of(self.adjustment, index)
        columns, fits = covariate_bases[index].at(self.adjustment.take(at)), self.fits[node]
        covariance = inverse(fits.moments.information, fits.penalty)[0][coefficients, coefficients]
        scale = float(self.design.value[node, 1])
        effect = scale * columns @ fits.theta[0, coefficients]
        half = -ndtri((1 - level) / 2) * scale * np.sqrt(np.einsum("vi,ij,vj->v", columns, covariance, columns))
        result = {"value": values, "rows": seen, "effect": effect, "low": effect - half, "high": effect + half}
        return pd.DataFrame(result)

    def conditionals(self, node: str, groups: int = 32) -> tuple[np.ndarray, np.ndarray]:
        """The node's distributions given its parents, in groups of rows with similar canonical parameters.

        Returns:
            Each group's share of the rows, (groups,), and log p at its mean canonical parameter, (groups, levels).

        InputError: there is no such node.
        """
        number = self._number(node)
        eta = np.sort(self._eta(number, self._fit_rows()))
        row_groups = [members for members in np.array_split(eta, groups) if len(members)] if eta[-1] > eta[0] else [eta]
        share = np.array([len(members) for members in row_groups]) / len(eta)
        return share, self._distributions[number].log_probability(np.array([members.mean() for members in row_groups]))

    def base_measure(self, node: str) -> pd.DataFrame:
        """The base measure, tilted to the node's average canonical parameter: count, probability.

        InputError: there is no such node.
        """
        number = self._number(node)
        eta = self._eta(number, self._fit_rows()).mean(keepdims=True)
        probability = np.exp(self._distributions[number].log_probability(eta)[0])
        return pd.DataFrame({"count": self.grids[number], "probability": probability})

    def _row_blocks(self, node: int, rows: int) -> list[slice]:
        """Blocks of rows whose probabilities, (rows, levels), fit into memory: every row may have its own level."""
        size = max(1, _ENTRIES // len(self.grids[node]))
        return [slice(first, first + size) for first in range(0, rows, size)]

    def _number(self, node: str) -> int:
        if node not in self.names:
            raise InputError(f'There is no node "{node}".')
        return self.names.index(node)

    def _fit_rows(self) -> _GridRows:
        design = self.design
        row_columns = design.columns[design.nodes :].reshape(-1, design.rows).T
        return _GridRows(design.ranks, design.parent_ranks, row_columns, design.offset)

    def _rows(self, table: Table, adjustment: Adjustment | None) -> _GridRows:
        if isinstance(table, pd.DataFrame):  # its other columns are arbitrary
            table = table.loc[:, [name in self.names for name in names_of(table)]]
        prepared = prepare(table, adjustment, folds=None)
        adjustment = prepared.adjustment
        for name in self.names:
            if name not in prepared.counts:
                raise InputError(f'The table lacks the column "{name}" of the model.')
        counts = [prepared.counts[name].to_numpy() for name in self.names]
        ranks = np.column_stack([rank_on_grid(column, grid) for column, grid in zip(counts, self.grids, strict=True)])
        parents = np.column_stack([self._as_parent(node, column, adjustment) for node, column in enumerate(counts)])
        return _GridRows(ranks, parents, *self._row_columns(adjustment, len(prepared.counts)))

    def _as_parent(self, node: int, counts: np.ndarray, adjustment: Adjustment | None) -> np.ndarray:
        """The levels of a node's counts as a parent, (rows,); a rate off the grid gets the nearest."""
        offset = self._offset(adjustment)
        if offset is None:
            return rank_on_grid(counts, self.grids[node])
        grid = self.parent_grids[node]
        middle = (grid[1:] + grid[:-1]) / 2
        return np.searchsorted(middle, rounded(counts, np.exp(offset)))

    def _offset(self, adjustment: Adjustment | None) -> np.ndarray | None:
        """log exposure of rows, (rows,), 0 at the geometric mean of the fitted rows."""
        if self.adjustment is None or adjustment is None:
            return None
        return adjustment.log_exposure_like(self.adjustment)

    def _row_columns(self, adjustment: Adjustment | None, rows: int) -> tuple[np.ndarray, np.ndarray | None]:
        """The rows' own columns, (rows, WIDTH · m), and the offset."""
        if (self.adjustment is None) != (adjustment is None) or (adjustment and adjustment.rows != rows):
            raise InputError(f"The model needs covariates of {rows} rows if and only if it was fitted with covariates.")
        row_columns = np.zeros((rows, WIDTH * self.design.own))
        if adjustment is not None and self.adjustment is not None:
            covariate_columns = [basis.at(adjustment) for basis in bases(self.adjustment)]
            columns = np.column_stack([*covariate_columns, np.empty((rows, 0))])
            row_columns[:, : columns.shape[1]] = columns
        return row_columns, self._offset(adjustment)

    @cached_property
    def _distributions(self) -> list[Distribution]:
        bases = [basis[: len(grid)] for basis, grid in zip(self.design.basis, self.parent_grids, strict=True)]
        return [
            Distribution(self.design, node, nodes, self.fits[node].theta[0], len(self.grids[node]), bases)
            for node, nodes in enumerate(self.parents)
        ]

    def _eta(self, node: int, rows: _GridRows) -> np.ndarray:
        distribution = self._distributions[node]
        bent = distribution.bent(distribution.index_of(rows.parents))[0]
        return distribution.shift_of(rows.beside, rows.offset) + bent

    def _means(self, parent: int, node: int) -> tuple[np.ndarray, np.ndarray]:
        """The node's mean count over the rows with a parent set to each of its levels, and its standard error."""
        rows, distribution = self._fit_rows(), self._distributions[node]
        effect = distribution.effects[self.parents[node].index(parent)]
        shift = distribution.shift_of(rows.beside, rows.offset)
        rest = distribution.index_of(rows.parents) - effect[rows.parents[:, parent]]
        low, high = distribution.bent(np.array([rest.min() + effect.min(), rest.max() + effect.max()]))[0]
        points = np.linspace(low + shift.min(), high + shift.max() + 1e-9, _POINTS)
        mean, with_value, with_measure = self._along(node, points)
        columns = self.design.columns[list(self.parents[node])].reshape(-1, self.design.rows)
        block = WIDTH * self.parents[node].index(parent) + np.arange(WIDTH)
        basis = self.design.basis[parent]
        covariance = inverse(self.fits[node].moments.information, self.fits[node].penalty)[0]
        means, errors = np.empty(len(effect)), np.empty(len(effect))
        for value in range(len(effect)):
            added, along, bend = distribution.bent(rest + effect[value])
            cell = (shift + added - points[0]) / (points[1] - points[0])
            lower = np.clip(cell.astype(np.int64), 0, _POINTS - 2)
            at = cell - lower
            carried = np.bincount(lower, 1 - at, _POINTS) + np.bincount(lower + 1, at, _POINTS)
            share = carried / len(rest)  # of the rows, at each point
            slope_of_row = (1 - at) * with_value[lower] + at * with_value[lower + 1]
            parent_slopes = columns @ (slope_of_row * along) / len(rest)
            parent_slopes[block] = basis[value] * (slope_of_row * along).mean()
            node_slopes = [slope_of_row.mean(), *(share @ with_measure), (slope_of_row * bend).mean()]
            slope = np.concatenate([node_slopes, slope_of_row @ rows.beside / len(rest), parent_slopes])
            means[value] = share @ mean
            errors[value] = np.sqrt(max(slope @ covariance @ slope, 0.0))
        return means, errors

    def _along(self, node: int, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean count, Cov(count, v̂) and Cov(count, C) at canonical parameters: (points,), (points,), (points, q)."""
        probability = np.exp(self._distributions[node].log_probability(points))
        count, value = self.grids[node].astype(float), self._distributions[node].value
        mean = probability @ count
        centred = probability * (count - mean[:, None])
        return mean, centred @ value, centred @ self.design.measure[node, : len(count)]
