"""From counts to ranks: the grids on which the score networks are trained and evaluated.

Rank transform (paper, *Rank Transform*): with v_0 < … < v_K the distinct training values of a column,
T(v_k) = k. A held-out value gets rank 0 below v_0, rank K above v_K, and rank max(k, 1) strictly between v_k and
v_{k+1}, so that rank 0 never holds a value above the observed minimum.

Quantile levels (paper, *Lahman*): each pooled column is cut at its empirical quantiles and not recoded afterwards, so a
column with many ties may have empty levels.

Folds divide the rows. With `folds_by` counts they divide the counts instead: both folds have all rows, each trains on
one half of every count and is evaluated on the other (`disco.table.thinning`). The halves of a Poisson count are
independent, whichever rows belong together. Levels, including quantile levels, come from the training half alone.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.fields import require_types
from disco.paper.settings import Settings
from disco.table.adjustment import Adjustment
from disco.table.cells import dense_ranks
from disco.table.counts import least_rows
from disco.table.prepared import Prepared, Table, prepare
from disco.table.thinning import halves
from disco.words import how_many


class RowInputs(NamedTuple):
    """Network inputs and groups of rows, in addition to their counts."""

    # covariates by name, and exposure: network inputs, (rows, inputs) float32, standardised on all rows of the table
    covariates: np.ndarray
    group: np.ndarray | None  # the number of every row's group, (rows,), or None

    @classmethod
    def of(cls, adjustment: Adjustment | None, rows: int) -> "RowInputs":
        """The inputs of all rows of a table; empty, and without groups, if there is no adjustment."""
        if adjustment is None:
            return cls(np.zeros((rows, 0), np.float32), None)
        by_name = sorted(adjustment.covariates, key=lambda covariate: covariate.name)
        return cls(replace(adjustment, covariates=tuple(by_name)).inputs(), adjustment.group)

    def take(self, rows: np.ndarray) -> "RowInputs":
        """The inputs of some rows, by number or mask."""
        return RowInputs(self.covariates[rows], None if self.group is None else self.group[rows])


@dataclass(frozen=True)
class FoldRanks:
    """The ranks of one cross-fitting fold."""

    train: np.ndarray  # ranks of the score-training split, (training rows, nodes)
    held_out: np.ndarray  # ranks of the held-out fold, (held-out rows, nodes)
    rows: np.ndarray  # the held-out rows' numbers among all rows that were divided, from 0, (held-out rows,)
    top: int  # the common grid bound K = max_j K_j; the grid is {0, …, K}
    inputs: RowInputs  # inputs and groups of the training rows
    held_out_inputs: RowInputs  # the same for the held-out rows

    def shuffled(self, number: int, holdout: int, settings: Settings) -> tuple[np.ndarray, int]:
        """The training rows of fold `number` in random order, and how many of the first are used for early stopping:
        `holdout`, or with groups as many whole groups as come closest to it.
        """
        random = np.random.default_rng([settings.seed, 2, number])
        order = random.permutation(len(self.train))
        if self.inputs.group is None:
            return order, holdout
        sizes = np.bincount(self.inputs.group)
        # A group far larger than that must not come first: it would leave hardly any rows to train on.
        late = np.where(sizes > 2 * holdout, sizes, 0)
        index = np.lexsort((random.permutation(len(sizes)), late)).argsort()[self.inputs.group]
        order = order[np.argsort(index[order], kind="stable")]
        bounds = np.flatnonzero(np.diff(index[order])) + 1
        if not len(bounds):  # one group alone cannot stay together
            return order, holdout
        return order, int(bounds[np.abs(bounds - holdout).argmin()])


@dataclass(frozen=True)
class Folds:
    """How a fit divides the rows of its table."""

    rows: np.ndarray  # the table's rows used for networks and order, ascending, (rows,)
    # the held-out fold of each of them, from 0, (rows,); None if every fold holds out half of every count
    of_row: np.ndarray | None
    ranks: list[FoldRanks]  # their ranks, fold by fold
    # the same with the rows for the parents held out; `ranks` itself if they are the same rows
    parent_ranks: list[FoldRanks]

    @classmethod
    def of(
        cls,
        counts: np.ndarray,
        settings: Settings,
        of_row: np.ndarray | None = None,
        adjustment: Adjustment | None = None,
    ) -> "Folds":
        """Divide the rows of a table; rows of a group stay together. InputError: too few rows or groups for the folds.

        Args:
            counts: whole numbers, (all rows, nodes); `adjustment` is theirs.
            of_row: the held-out folds of an earlier fit, (rows,); drawn unless given. Halves of counts are always
                drawn, the same for a seed.
        """
        surroundings = RowInputs.of(adjustment, len(counts))
        rows, parent_rows = split_rows(len(counts), settings, surroundings.group)
        used, held_out = surroundings.take(rows), surroundings.take(parent_rows)
        if settings.folds_by == "counts":
            ranks = split_ranks(counts[rows], settings, used)
            return cls(rows, None, ranks, ranks)
        if of_row is None:
            of_row = fold_of_rows(len(rows), settings.folds, settings.seed, used.group)
        ranks = parent_ranks = fold_ranks(counts[rows], of_row, settings, used)
        if settings.disjoint_rows:
            parent_ranks = other_ranks(counts[rows], of_row, counts[parent_rows], settings, used, held_out)
        return cls(rows, of_row, ranks, parent_ranks)


def sampled_rows(rows: int, settings: Settings) -> np.ndarray:
    """The rows that a fit uses, ascending: all of them, or a random sample of `max_rows`.

    Groups are not sampled as a whole; their sampled rows still stay together afterwards.
    """
    if settings.max_rows is None or rows <= settings.max_rows:
        return np.arange(rows)
    random = np.random.default_rng([settings.seed, 1])
    return np.sort(random.permutation(rows)[: settings.max_rows])


def split_rows(rows: int, settings: Settings, group: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The rows for networks and order, and the rows for the parents, ascending; InputError if these are too few.

    They are the same, or two random halves with `disjoint_rows`, nearly equal if rows of a group, numbered from 0,
    stay together.
    """
    used = sampled_rows(rows, settings)
    if not settings.disjoint_rows:
        return used, used
    random, needed = np.random.default_rng([settings.seed, 4]), least_rows(settings.folds)
    if group is not None and len(used) // 2 >= needed:
        of_row = fold_of_groups(group[used], 2, random)
        return used[of_row == 0], used[of_row == 1]
    if len(used) // 2 < needed:
        raise InputError(
            f"disjoint_rows halves the rows, and {len(used)} are too few for {settings.folds} folds: it needs at "
            f"least {2 * needed}. Add rows, use fewer folds, or use all rows for order and parents."
        )
    drawn = random.permutation(used)
    half = (len(used) + 1) // 2
    return np.sort(drawn[:half]), np.sort(drawn[half:])


def fold_of_rows(rows: int, folds: int, seed: int, group: np.ndarray | None = None) -> np.ndarray:
    """The held-out fold of each row, from 0: a random partition into folds of nearly equal size, or InputError.

    Rows of a group, numbered from 0, get the same fold. The largest groups are placed first, each into the fold with
    the fewest rows.
    """
    if rows < least_rows(folds):
        raise InputError(
            f"The table has {rows:,} rows, too few for {folds} folds: it needs at least {least_rows(folds)}. "
            "Add rows or use fewer folds."
        )
    random = np.random.default_rng([seed, 0])
    if group is not None:
        return fold_of_groups(group, folds, random)
    fold = np.empty(rows, dtype=np.int64)
    for index, members in enumerate(np.array_split(random.permutation(rows), folds)):
        fold[members] = index
    return fold


def fold_of_groups(group: np.ndarray, folds: int, random: np.random.Generator) -> np.ndarray:
    """The fold of each row, (rows,), as `fold_of_rows` with groups; InputError if there are too few groups."""
    sizes = np.bincount(group)
    if (groups := int(np.count_nonzero(sizes))) < folds:
        raise InputError(
            f"The rows form {how_many(groups, 'group')}, too few for {folds} folds, because rows of a group "
            "stay together: use fewer folds, or another column as the group."
        )
    fold, filled, drawn = np.empty(len(sizes), dtype=np.int64), np.zeros(folds), random.permutation(len(sizes))
    for number in drawn[np.argsort(-sizes[drawn], kind="stable")]:
        fold[number] = filled.argmin()
        filled[fold[number]] += sizes[number]
    return fold[group]


def fold_ranks(
    counts: np.ndarray, fold_of_row: np.ndarray, settings: Settings, inputs: RowInputs | None = None
) -> list[FoldRanks]:
    """The ranks of every fold of counts, (rows, nodes); each transform is fitted on the rows of the other folds."""
    codes = quantile_levels(counts, settings.levels) if settings.transform == "quantile" else counts
    folds = [fold_of_row == fold for fold in range(settings.folds)]
    return [_one_fold((codes, inputs), ~fold, (codes, inputs), fold, settings) for fold in folds]


def other_ranks(
    counts: np.ndarray,
    fold_of_row: np.ndarray,
    unseen: np.ndarray,
    settings: Settings,
    inputs: RowInputs | None = None,
    unseen_inputs: RowInputs | None = None,
) -> list[FoldRanks]:
    """The ranks of every fold with a share of unseen rows held out, instead of the fold's own rows.

    Args:
        counts: whole numbers, (rows, nodes).
        fold_of_row: the held-out fold of each row, (rows,).
        unseen: whole numbers of rows that no network has seen, (other rows, nodes).
    """
    training, held_out = counts, unseen
    if settings.transform == "quantile":
        training, held_out = (quantile_levels(values, settings.levels, of=counts) for values in (counts, unseen))
    group = None if unseen_inputs is None else unseen_inputs.group
    part_of_row = fold_of_rows(len(unseen), settings.folds, settings.seed, group)
    return [
        _one_fold((training, inputs), fold_of_row != fold, (held_out, unseen_inputs), part_of_row == fold, settings)
        for fold in range(settings.folds)
    ]


def split_ranks(counts: np.ndarray, settings: Settings, inputs: RowInputs | None = None) -> list[FoldRanks]:
    """The ranks of two folds of the same rows: each trains on one half of every count and holds out the other."""
    first, second = split_counts(counts, settings)
    every, folds = np.ones(len(counts), bool), []
    for train, held_out in ((first, second), (second, first)):
        if settings.transform == "quantile":
            train, held_out = [quantile_levels(half, settings.levels, of=train) for half in (train, held_out)]
        folds.append(_one_fold((train, inputs), every, (held_out, inputs), every, settings))
    return folds


def split_counts(counts: np.ndarray, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """The two halves of every count that a fit draws, (rows, nodes) each; the columns in the order of their names."""
    first, second = halves(Prepared(pd.DataFrame(counts)), [settings.seed, 5])
    return first.to_numpy(), second.to_numpy()


def check_split(table: pd.DataFrame, settings: Settings) -> None:
    """Refuse counts of a fit of which a column is constant in one half of the counts; only with `folds_by` counts."""
    if settings.folds_by != "counts":
        return
    names = sorted(table.columns)
    counts = table[names].to_numpy()[sampled_rows(len(table), settings)]
    for half in split_counts(counts, settings):
        constant = (half == half[0]).all(axis=0)
        if constant.any():
            raise InputError(
                f'"{names[constant.argmax()]}" is constant in one half of its counts, since it has so few events: '
                "leave it out, or make the folds by rows."
            )


def _one_fold(
    training: tuple[np.ndarray, RowInputs | None],
    trained: np.ndarray,
    holding: tuple[np.ndarray, RowInputs | None],
    held: np.ndarray,
    settings: Settings,
) -> FoldRanks:
    """The fold that trains on the rows `trained` of the first counts and holds out the rows `held` of the second."""
    (codes, inputs), (other_codes, other_inputs) = training, holding
    inputs = inputs or RowInputs.of(None, len(codes))
    other_inputs = other_inputs or RowInputs.of(None, len(other_codes))
    train, held_out = codes[trained], other_codes[held]
    if settings.transform == "rank":
        grids = [np.unique(column) for column in train.T]
        train, held_out = _ranked(train, grids), _ranked(held_out, grids)
        top = max(len(grid) - 1 for grid in grids)
    elif settings.transform == "quantile":
        top = settings.levels - 1
    else:
        top = int(train.max())
        held_out = np.minimum(held_out, top)
    return FoldRanks(train, held_out, np.flatnonzero(held), top, inputs.take(trained), other_inputs.take(held))


def _ranked(values: np.ndarray, grids: list[np.ndarray]) -> np.ndarray:
    return np.column_stack([rank_on_grid(column, grid) for column, grid in zip(values.T, grids, strict=True)])


def rank_on_grid(values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Ranks, (rows,), of values on a column's ascending training values v_0 < … < v_K, by the paper's held-out rule."""
    below = np.searchsorted(grid, values, side="left")
    at_or_clipped = np.minimum(below, len(grid) - 1)
    between = (grid[at_or_clipped] != values) & (below > 0) & (below < len(grid))
    return np.where(between, np.maximum(below - 1, 1), at_or_clipped)


def quantile_levels(counts: np.ndarray, levels: int, of: np.ndarray | None = None) -> np.ndarray:
    """Each column of counts, (rows, nodes), cut at its pooled quantiles: level k holds q_k < x ≤ q_{k+1}, from 0.

    Equal cuts leave levels empty. The rows `of`, (other rows, nodes), define the quantiles; by default `counts`.
    """
    shares = np.arange(1, levels) / levels
    cuts = np.quantile(counts if of is None else of, shares, axis=0)
    return np.column_stack(
        [np.searchsorted(cut, column, side="left") for cut, column in zip(cuts.T, counts.T, strict=True)]
    )


def transform_table(table: Table, settings: Settings) -> pd.DataFrame:
    """The whole table on its grid, a fold's transform fitted on all rows; InputError if it does not hold counts."""
    require_types(settings=(settings, Settings))
    counts = prepare(table, folds=None).counts
    values = counts.to_numpy()
    if settings.transform == "rank":
        codes = dense_ranks(values)
    elif settings.transform == "quantile":
        codes = quantile_levels(values, settings.levels)
    else:
        codes = values
    return pd.DataFrame(codes, columns=counts.columns, index=counts.index)
