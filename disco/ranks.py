"""From counts to ranks: the grids on which the score networks live.

Rank transform (paper, *Rank Transform*): with v_0 < … < v_K the distinct training values of a column,
T(v_k) = k. A held-out value below v_0 gets rank 0, above v_K rank K, and strictly between v_k and v_{k+1}
rank max(k, 1), so that the observed minimum stays a state of its own.

Quantile levels (paper, *Lahman*): each pooled column is cut at its empirical quantiles, with no recoding
afterwards, so a column with many ties may leave levels empty.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.settings import Settings


@dataclass(frozen=True)
class FoldRanks:
    """The ranks of one cross-fitting fold.

    Attributes:
        train: ranks of the score-training split, (training rows, nodes).
        held_out: ranks of the held-out fold, (held-out rows, nodes).
        rows: the table's row numbers of the held-out fold, from 0, (held-out rows,).
        top: the common grid bound K = max_j K_j; the grid is {0, …, K}.
    """

    train: np.ndarray
    held_out: np.ndarray
    rows: np.ndarray
    top: int


def sampled_rows(rows: int, settings: Settings) -> np.ndarray:
    """The rows a fit uses, ascending: all of them, or a seeded sample of `max_rows`."""
    if settings.max_rows is None or rows <= settings.max_rows:
        return np.arange(rows)
    random = np.random.default_rng([settings.seed, 1])
    return np.sort(random.permutation(rows)[: settings.max_rows])


def split_rows(rows: int, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """The rows that give networks and order, and those that give the parents, ascending: the same, or seeded halves.

    Raises:
        InputError: the halves are too small for the folds.
    """
    used = sampled_rows(rows, settings)
    if not settings.disjoint_rows:
        return used, used
    if len(used) // 2 < 4 * settings.folds:
        raise InputError(
            f"disjoint_rows halves the rows, and {len(used)} are too few for {settings.folds} folds: it needs at "
            f"least {8 * settings.folds}. Add rows, use fewer folds, or use all rows for order and parents."
        )
    drawn = np.random.default_rng([settings.seed, 4]).permutation(used)
    half = (len(used) + 1) // 2
    return np.sort(drawn[:half]), np.sort(drawn[half:])


def fold_of_rows(rows: int, folds: int, seed: int) -> np.ndarray:
    """The held-out fold of each row, from 0: a seeded random partition into folds of nearly equal size.

    Raises:
        InputError: there are too few rows for that many folds.
    """
    if rows < 4 * folds:
        raise InputError(
            f"The table has {rows} rows, too few for {folds} folds: it needs at least {4 * folds}. "
            "Add rows or use fewer folds."
        )
    fold = np.empty(rows, dtype=np.int64)
    order = np.random.default_rng([seed, 0]).permutation(rows)
    for index, part in enumerate(np.array_split(order, folds)):
        fold[part] = index
    return fold


def fold_ranks(counts: np.ndarray, fold_of_row: np.ndarray, settings: Settings) -> list[FoldRanks]:
    """The ranks of every fold, each transform fitted on the other folds' rows.

    Args:
        counts: whole numbers, (rows, nodes).
        fold_of_row: the held-out fold of each row, (rows,).
    """
    codes = quantile_levels(counts, settings.levels) if settings.transform == "quantile" else counts
    folds = [fold_of_row == fold for fold in range(settings.folds)]
    return [_one_fold(codes[~fold], codes[fold], np.flatnonzero(fold), settings) for fold in folds]


def other_ranks(counts: np.ndarray, fold_of_row: np.ndarray, others: np.ndarray, settings: Settings) -> list[FoldRanks]:
    """The ranks of every fold, with a part of other rows held out in place of the fold's own.

    Args:
        counts: whole numbers, (rows, nodes).
        fold_of_row: the held-out fold of each row, (rows,).
        others: whole numbers of rows that no network has seen, (other rows, nodes).
    """
    codes = counts, others
    if settings.transform == "quantile":
        codes = tuple(quantile_levels(part, settings.levels, of=counts) for part in codes)
    part_of_row = fold_of_rows(len(others), settings.folds, settings.seed)
    parts = [(codes[0][fold_of_row != fold], part_of_row == fold) for fold in range(settings.folds)]
    return [_one_fold(train, codes[1][part], np.flatnonzero(part), settings) for train, part in parts]


def _one_fold(train: np.ndarray, held_out: np.ndarray, rows: np.ndarray, settings: Settings) -> FoldRanks:
    if settings.transform == "rank":
        grids = [np.unique(column) for column in train.T]
        train, held_out = _ranked(train, grids), _ranked(held_out, grids)
        top = max(len(grid) - 1 for grid in grids)
    elif settings.transform == "quantile":
        top = settings.levels - 1
    else:
        top = int(train.max())
        held_out = np.minimum(held_out, top)
    return FoldRanks(train, held_out, rows, top)


def _ranked(values: np.ndarray, grids: list[np.ndarray]) -> np.ndarray:
    return np.column_stack([rank_on_grid(column, grid) for column, grid in zip(values.T, grids, strict=True)])


def rank_on_grid(values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Ranks of values on a column's ascending distinct training values, by the paper's held-out rule.

    Args:
        values: (rows,).
        grid: v_0 < … < v_K, (K + 1,).

    Returns:
        Ranks in {0, …, K}, (rows,).
    """
    below = np.searchsorted(grid, values, side="left")
    at_or_clipped = np.minimum(below, len(grid) - 1)
    between = (grid[at_or_clipped] != values) & (below > 0) & (below < len(grid))
    return np.where(between, np.maximum(below - 1, 1), at_or_clipped)


def quantile_levels(counts: np.ndarray, levels: int, of: np.ndarray | None = None) -> np.ndarray:
    """Each column cut at its pooled empirical quantiles: level k holds q_k < x ≤ q_{k+1}.

    Args:
        counts: (rows, nodes).
        levels: the number of levels; equal cuts leave levels empty.
        of: the rows whose quantiles they are, (other rows, nodes); those of `counts` unless given.

    Returns:
        Levels in {0, …, levels − 1}, (rows, nodes).
    """
    shares = np.arange(1, levels) / levels
    cuts = np.quantile(counts if of is None else of, shares, axis=0)
    return np.column_stack(
        [np.searchsorted(cut, column, side="left") for cut, column in zip(cuts.T, counts.T, strict=True)]
    )


def transform_table(table: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The whole table on its grid, as a fold's transform fitted on all rows would give it, for showing."""
    counts = table.to_numpy()
    if settings.transform == "rank":
        codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in counts.T])
    elif settings.transform == "quantile":
        codes = quantile_levels(counts, settings.levels)
    else:
        codes = counts
    return pd.DataFrame(codes, columns=table.columns, index=table.index)
