"""Columns of the rows in a node's model: smooths of numbers, effects of levels, the smooth of an exposure.

A number enters as a natural cubic spline with knots at its quantiles, on the scale of `Covariate.scale`; a category as
one effect per level. An exposure is an offset, log exposure. That is exact for a Poisson node on its counts; otherwise
the canonical parameter grows more slowly than log exposure, so a smooth of log exposure is added.

All columns are centred and orthonormal under the rows. Each *kind* of coefficients has its own prior precision, fitted
to the table (`disco.refine.prior`): the straight part of a smooth, its bends, the levels of one category.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike

from disco.likelihood.rank_design import Prior, RankDesign, RowTerms
from disco.paper.ranks import transform_table
from disco.paper.settings import Settings
from disco.table.adjustment import CATEGORICAL, Adjustment, Covariate
from disco.table.cells import dense_ranks
from disco.table.prepared import Prepared

EXPOSURE = "exposure"  # the name of an exposure's smooth
_KNOTS = 7  # of a spline, including its ends; it has one column fewer
_DEPENDENT = 1e-8  # a column with a smaller squared residual counts as dependent on the others


@dataclass(frozen=True, eq=False)
class Basis:
    """The columns of one covariate."""

    name: str
    kinds: np.ndarray  # each column's kind: 0, or 1 for the bends of a smooth, (columns,)
    at: Callable[[Adjustment], np.ndarray]  # columns at the rows of an adjustment, (rows, columns)


def bases(adjustment: Adjustment) -> list[Basis]:
    """The columns of every covariate, and of the exposure if there is one."""
    result = []
    for index, covariate in enumerate(adjustment.covariates):
        if covariate.kind == CATEGORICAL:
            result.append(_of_levels(covariate, index))
        else:
            result.append(_smooth(covariate.name, covariate.scale, partial(_scale, index)))
    if (exposure := adjustment.log_exposure) is not None and np.ptp(exposure) > 0:
        result.append(_smooth(EXPOSURE, exposure, lambda rows: rows.log_exposure_like(adjustment)))
    return result


def _scale(index: int, rows: Adjustment) -> np.ndarray:
    return rows.covariates[index].scale


def _smooth(name: str, values: np.ndarray, values_at: Callable[[Adjustment], np.ndarray | None]) -> Basis:
    """The smooth of a number, from its values and those at other rows; without columns if it is constant."""
    if np.ptp(values) == 0:  # in a part of the rows
        return Basis(name, np.empty(0, dtype=int), lambda rows: np.empty((rows.rows, 0)))
    distinct = np.unique(values)
    knots = np.unique(np.quantile(distinct, np.linspace(0, 1, min(_KNOTS, len(distinct)))))
    transform = _orthonormal(_spline(values, knots))

    def at(rows: Adjustment) -> np.ndarray:
        here = values_at(rows)
        assert here is not None  # either all rows of a model have an exposure, or none
        return transform(_spline(here, knots))

    return Basis(name, (np.arange(len(transform(_spline(values, knots)).T)) > 0).astype(int), at)


def _of_levels(covariate: Covariate, index: int) -> Basis:
    """The effects of a covariate's levels, one fewer because their mean is 0; 0 for unseen levels."""
    levels = np.eye(len(covariate.levels))
    seen = np.bincount(covariate.values, minlength=len(levels)) > 0
    transform = _orthonormal(levels[covariate.values])
    columns = len(transform(levels[:1]).T)

    def at(new_rows: Adjustment) -> np.ndarray:
        values = new_rows.covariates[index].values
        return transform(levels[values]) * seen[values, None]

    return Basis(covariate.name, np.zeros(columns, dtype=int), at)


def _spline(values: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """A natural cubic spline: the values, then its bends, (rows, knots − 1); level beyond the outer knots.

    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, Eq. 5.4.
    """
    t = (values.clip(knots[0], knots[-1]) - knots[0]) / (knots[-1] - knots[0])
    knots = (knots - knots[0]) / (knots[-1] - knots[0])

    def bend(knot: float) -> np.ndarray:
        cubes = np.maximum(t - knot, 0) ** 3 - np.maximum(t - knots[-1], 0) ** 3
        return cubes / (knots[-1] - knot)

    last = bend(knots[-2])
    return np.column_stack([t, *(bend(knot) - last for knot in knots[:-2])])


def _orthonormal(columns: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The map to columns that are centred and orthonormal under these rows; dependent ones are dropped."""
    mean = columns.mean(axis=0)
    length = np.sqrt(((columns - mean) ** 2).mean(axis=0))
    scale = np.where(length > 0, length, 1.0)
    standard = (columns - mean) / scale
    selected: list[int] = []
    for column in range(standard.shape[1]):
        target, earlier = standard[:, column], standard[:, selected]
        residual = target - earlier @ np.linalg.lstsq(earlier, target, rcond=None)[0] if selected else target
        if (residual**2).mean() > _DEPENDENT:
            selected.append(column)
    triangle = np.linalg.qr(standard[:, selected], mode="r") / np.sqrt(len(columns))
    solve = np.linalg.inv(triangle)
    return lambda new_columns: ((new_columns - mean) / scale)[:, selected] @ solve


def rates(counts: np.ndarray, adjustment: Adjustment | None) -> np.ndarray | None:
    """Counts at an average exposure, (rows, nodes); None without an exposure."""
    if adjustment is None or adjustment.log_exposure is None:
        return None
    return rounded(counts, np.exp(adjustment.log_exposure)[:, None])


def rounded(counts: np.ndarray, exposure: np.ndarray) -> np.ndarray:
    """count / exposure, (rows, …), rounded to about a quarter of one count's rate in the row.

    Exposures average about 1. The step is between 1/64 and 1/4: finer than a count's information, with few more levels
    than the counts.
    """
    steps = 4 * np.round(exposure).clip(1, 16)
    return np.round(steps * counts / exposure) / steps


def ranks_of(rates: np.ndarray) -> np.ndarray:
    """Rates on their own rank grid, (rows, nodes): linear between the ranks of the neighbouring whole numbers.

    With equal exposures, these are the counts' own ranks.
    """
    ranks = np.empty(rates.shape)
    for node, column in enumerate(rates.T):
        integers = np.unique([np.floor(column), np.ceil(column)])
        ranks[:, node] = np.interp(column, integers, np.arange(len(integers)))
    return ranks


def seen(
    counts: pd.DataFrame, adjustment: Adjustment | None, settings: Settings
) -> tuple[pd.DataFrame, Adjustment | None]:
    """The likelihood's view of a table: its counts, or their quantile levels.

    With an exposure, the levels are those of the rates, and the exposure is a covariate: levels do not grow in
    proportion to it.
    """
    if settings.transform != "quantile":
        return counts, adjustment
    as_rates = rates(counts.to_numpy(), adjustment)
    if adjustment is None or as_rates is None:
        return transform_table(Prepared(counts), settings), adjustment
    levels = transform_table(Prepared(pd.DataFrame(as_rates, counts.index, counts.columns)), settings)
    return levels, adjustment.exposure_as_covariate()


def design_of(
    counts: np.ndarray,
    adjustment: Adjustment | None,
    names: Sequence[str],
    prior: Prior,
    dtype: DTypeLike = np.float64,
    positions: np.ndarray | None = None,
) -> RankDesign:
    """The design of counts or ranks, (rows, nodes); `positions` as in `RankDesign.of`, by default those of rates."""
    if positions is None and (as_rates := rates(counts, adjustment)) is not None:
        positions = ranks_of(as_rates)
    own = around(adjustment, names)
    return RankDesign.of(dense_ranks(counts), **own, positions=positions, prior=prior, dtype=dtype, names=names)


def around(adjustment: Adjustment | None, names: Sequence[str]) -> dict[str, Any]:
    """The arguments `offset`, `beside` and `was_set` of `RankDesign.of` for nodes with these names."""
    if adjustment is None:
        return {}
    covariate_bases, interventions = bases(adjustment), adjustment.interventions
    columns = np.column_stack([*(basis.at(adjustment) for basis in covariate_bases), np.empty((adjustment.rows, 0))])
    was_set = None if interventions is None else np.column_stack([interventions.was_set(name) for name in names])
    return {
        "offset": adjustment.log_exposure,
        "beside": RowTerms(columns, kinds_of(covariate_bases)),
        "was_set": was_set,
    }


def kinds_of(bases: Sequence[Basis]) -> np.ndarray:
    """The kind of every column, numbered consecutively, (columns,): a smooth has two kinds, a category one."""
    kinds, first = [np.empty(0, dtype=int)], 0
    for basis in bases:
        kinds.append(first + basis.kinds)
        first += 1 + int(basis.kinds.max(initial=0))
    return np.concatenate(kinds)


def on_grids(
    table: pd.DataFrame, adjustment: Adjustment | None, prior: Prior
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...], RankDesign]:
    """The distinct counts of every column, its distinct numbers as a parent, and the table on them."""
    counts = table.to_numpy()
    grids = tuple(np.unique(column) for column in counts.T)
    as_rates = rates(counts, adjustment)
    parent_grids = grids if as_rates is None else tuple(np.unique(column) for column in as_rates.T)
    return grids, parent_grids, design_of(counts, adjustment, list(table.columns), prior)


def values_of(adjustment: Adjustment, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct values of the covariate at a position of `bases`, each one's first row and number of rows."""
    if index == len(adjustment.covariates):
        assert adjustment.exposure is not None  # otherwise it has no columns
        return np.unique(adjustment.exposure, return_index=True, return_counts=True)
    covariate = adjustment.covariates[index]
    distinct, first, seen = np.unique(covariate.values, return_index=True, return_counts=True)
    return np.array(covariate.levels, dtype=object)[distinct] if covariate.levels else distinct, first, seen
