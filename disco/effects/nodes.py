"""The fits of nodes given parents that effects need: each made once, with draws of its coefficients.

Every node is the semiparametric GLM of `disco.likelihood.rank_design`, fitted to all rows. Its coefficients are
uncertain: normal around the fit, with the inverse information H⁻¹ as covariance (Laplace). If rows form groups, what a
group's rows have in common counts once, and the covariance is H⁻¹ (Σ s sᵀ + Λ) H⁻¹, with the sum over the groups'
scores s, the sums of their rows' gradients, and Λ the prior's precision (Liang and Zeger, Biometrika 1986).
"""

import copy
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from disco.effects import drawing
from disco.likelihood.batch import Problems
from disco.likelihood.conditional import Distribution
from disco.likelihood.covariates import on_grids, rounded
from disco.likelihood.model import WEAK
from disco.likelihood.newton import Fits, fit
from disco.likelihood.small import inverse
from disco.progress import SILENT, Reporter
from disco.table.prepared import Prepared

_TOLERANCE = 1e-5  # nats; draws of the coefficients differ by far more
_SIDE_BY_SIDE = 16  # nodes fitted per batch
_AT_ONCE = 50  # draws of coefficients

Key = tuple[int, tuple[int, ...]]  # a node and its parents, ascending


class NodeAtRows(Distribution):
    """A node's distribution given its parents at the rows of a table; `shift`, (n,), is η without the parents' part."""

    def __init__(self, table: "Nodes", key: Key, theta: np.ndarray) -> None:
        node, parents = key
        super().__init__(table.design, node, parents, theta, len(table.grids[node]), table.bases)
        self.shift = self.shift_of(table.beside, table.offset)

    def at(self, number: int, bases: np.ndarray) -> np.ndarray:
        """The effect of the parent at a position, at values with these columns (`Nodes.basis_at`), (k, WIDTH); (k,)."""
        return bases @ self.blocks[number]

    def moved(self, by: np.ndarray) -> "NodeAtRows":
        """The same with numbers added to the canonical parameter at the rows, (n,)."""
        result = copy.copy(self)
        result.shift = self.shift + by
        return result

    def mean(self, of: np.ndarray, index: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The means, (k, …), of numbers of its levels, (levels, …), at sums of effects, (k, m), over rows, (m,)."""
        shares, chances = drawing.on_grid(index, self.shift[rows], self.bend, self.value, self.weight)
        return shares @ (chances @ of)

    def drawn(self, index: np.ndarray, rows: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """Levels at sums of effects, (k, m), of rows with these numbers, from random numbers of the rows, (m,)."""
        return drawing.drawn(index, self.shift[rows], self.bend, self.value, self.weight, uniform)

    def chances(self, index: np.ndarray) -> np.ndarray:
        """The probability of every level at sums of effects of the rows of the fit, (n,); (n, levels)."""
        return np.exp(self.log_probability(self.bent(index)[0] + self.shift))

    def centred(self, index: np.ndarray, levels: np.ndarray, measure: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v / s and the base measure's columns, (levels, q), minus their means, at the rows of the fit."""
        chances, measure = self.chances(index), measure[: len(self.value)]
        return self.value[levels] - chances @ self.value, measure[levels] - chances @ measure


class _Fit:
    def __init__(self, theta: np.ndarray, covariance: np.ndarray, random: np.random.Generator) -> None:
        self.theta, self._covariance, self._random = theta, covariance, random
        self._draws = np.empty((0, len(theta)))

    @cached_property
    def _root(self) -> np.ndarray:
        values, vectors = np.linalg.eigh((self._covariance + self._covariance.T) / 2)
        return vectors * np.sqrt(values.clip(0))

    def draw(self, number: int) -> np.ndarray:
        """The coefficients of a draw, the same for the same number; −1: those of the fit."""
        while number >= len(self._draws):
            draws = self.theta + self._random.standard_normal((_AT_ONCE, len(self.theta))) @ self._root.T
            self._draws = np.concatenate([self._draws, draws])
        return self.theta if number < 0 else self._draws[number]


class Nodes:
    """A table and the fits to it.

    Attributes:
        grids, parent_grids, design: as in `disco.likelihood.model.Model`.
        unset: the numbers of the rows in which nothing was set.
        rows: those over which means are taken; all of them, or some (`over`).
        levels: of every node as a parent, (n, d).
        bases: its columns on these levels, one array per node.
        beside, offset: the rows' own columns and the offset, as in `Model`.
    """

    def __init__(self, prepared: Prepared, seed: int = 0) -> None:
        adjustment = None if prepared.adjustment is None else prepared.adjustment.as_covariates()
        self.given, self.adjustment, self._seed = prepared, adjustment, seed
        self.grids, self.parent_grids, self.design = on_grids(prepared.counts, adjustment, WEAK)
        design, rows = self.design, len(prepared.counts)
        interventions = None if adjustment is None else adjustment.interventions
        self.rows = self.unset = np.arange(rows) if interventions is None else np.flatnonzero(interventions.arm == 0)
        self.levels = design.parent_ranks
        self.bases = [design.basis[node, : len(grid)] for node, grid in enumerate(self.parent_grids)]
        self.beside = design.columns[design.nodes :].reshape(-1, design.rows).T
        self.offset = design.offset
        self._fits = dict[Key, _Fit]()
        self._kept = dict[tuple[Key, int], NodeAtRows]()

    def over(self, rows: np.ndarray) -> "Nodes":
        """The same fits, with means over other rows."""
        result = copy.copy(self)
        result.rows = rows
        return result

    @property
    def group(self) -> np.ndarray | None:
        """Every row's group, (n,), or None."""
        return None if self.adjustment is None else self.adjustment.group

    def fit(self, keys: Iterable[Key], reporter: Reporter = SILENT) -> None:
        """Fit what is not fitted yet, nodes with equally many parents at once."""
        by_size = dict[int, list[Key]]()
        for key in dict.fromkeys(keys):
            if key not in self._fits:
                by_size.setdefault(len(key[1]), []).append(key)
        for same_size in by_size.values():
            for first in range(0, len(same_size), _SIDE_BY_SIDE):
                batch = same_size[first : first + _SIDE_BY_SIDE]
                reporter.check()
                fits = fit(self.design, Problems.of(batch), tolerance=_TOLERANCE)
                covariances = inverse(fits.moments.information, fits.penalty)
                for number, key in enumerate(batch):
                    theta, covariance = fits.theta[number], covariances[number]
                    if self.group is not None:
                        covariance = self._clustered(key, fits, number, covariance)
                    random = np.random.default_rng([self._seed, 23, key[0], *key[1]])
                    self._fits[key] = _Fit(theta, covariance, random)

    def conditional(self, key: Key, number: int) -> NodeAtRows:
        """A fitted node at a draw of its coefficients; −1: at the fit."""
        if number >= 0:
            return NodeAtRows(self, key, self._fits[key].draw(number))
        if (key, number) not in self._kept:
            self._kept[key, number] = NodeAtRows(self, key, self._fits[key].theta)
        return self._kept[key, number]

    def basis_at(self, node: int, value: float) -> np.ndarray:
        """The columns of a node as a parent at any value, (WIDTH,): linear between its levels and beyond them."""
        grid, basis = self.parent_grids[node], self.bases[node]
        right = int(np.clip(np.searchsorted(grid, value), 1, len(grid) - 1))
        share = (value - grid[right - 1]) / (grid[right] - grid[right - 1])
        return basis[right - 1] + share * (basis[right] - basis[right - 1])

    def as_parent(self, node: int, levels: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """A node's levels as a parent, (k, m), from its levels as a child, at rows with these numbers, (m,)."""
        if self._exposure is None:
            return levels
        grid = self.parent_grids[node]
        rates = rounded(self.grids[node][levels], self._exposure[rows])
        return np.searchsorted((grid[1:] + grid[:-1]) / 2, rates)

    @cached_property
    def _exposure(self) -> np.ndarray | None:
        logarithm = None if self.adjustment is None else self.adjustment.log_exposure
        return None if logarithm is None else np.exp(logarithm)

    def _clustered(self, key: Key, fits: Fits, number: int, covariance: np.ndarray) -> np.ndarray:
        """The covariance of a fit's coefficients if the rows of a group are dependent."""
        node, parents = key
        design, theta = self.design, fits.theta[number]
        distribution = NodeAtRows(self, key, theta)
        index = distribution.index_of(self.levels)
        _, slope, along = distribution.bent(index)
        residual, of_measure = distribution.centred(index, design.ranks[:, node], design.measure[node])
        columns = design.columns[list(parents)].reshape(-1, design.rows).T
        bases = [residual[:, None], of_measure, (residual * along)[:, None]]
        scores = np.column_stack([*bases, residual[:, None] * self.beside, (residual * slope)[:, None] * columns])
        if design.own_rows is not None:
            scores = scores * design.own_rows[node][:, None]
        assert self.group is not None
        sums = np.zeros((int(self.group.max()) + 1, scores.shape[1]))
        np.add.at(sums, self.group, scores)
        seen = len(np.unique(self.group))
        inner = sums.T @ sums * seen / max(seen - 1, 1) + np.diag(fits.penalty[number])
        return covariance @ inner @ covariance
