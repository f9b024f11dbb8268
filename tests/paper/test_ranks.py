import numpy as np
import pandas as pd
import pytest

from disco import InputError, Settings
from disco.paper.ranks import (
    Folds,
    check_split,
    fold_of_rows,
    fold_ranks,
    quantile_levels,
    rank_on_grid,
    sampled_rows,
    split_counts,
    split_ranks,
    transform_table,
)


def test_held_out_rule():
    grid = np.array([2, 5, 9, 10])
    #            below, at min, first gap, at, second gap, at, at max, above
    values = np.array([0, 2, 3, 5, 7, 9, 10, 99])
    assert rank_on_grid(values, grid).tolist() == [0, 0, 1, 1, 1, 2, 3, 3]


def test_training_ranks_are_dense_and_the_bound_is_common():
    random = np.random.default_rng(0)
    counts = np.column_stack([random.poisson(2, 90) * 10, random.poisson(20, 90)])
    for fold in fold_ranks(counts, fold_of_rows(90, 3, 0), Settings()):
        for column in fold.train.T:
            assert sorted(set(column)) == list(range(column.max() + 1))
        assert fold.top == fold.train.max() and fold.held_out.max() <= fold.top
        assert len(fold.train) + len(fold.held_out) == 90


def test_transform_is_fitted_on_the_training_rows_alone():
    counts = np.column_stack([np.arange(12), np.arange(12)])
    fold_of_row = np.array([0] * 11 + [1])
    held_out = fold_ranks(counts, fold_of_row, Settings(folds=2))[1]
    assert held_out.top == 10 and held_out.held_out.tolist() == [[10, 10]]


def test_quantile_levels_leave_empty_levels():
    column = np.array([0] * 6 + [1, 2])
    assert quantile_levels(column[:, None], 4)[:, 0].tolist() == [0, 0, 0, 0, 0, 0, 3, 3]


def test_quantile_levels_are_pooled_before_the_folds():
    counts = np.arange(16)[:, None].repeat(2, axis=1)
    folds = fold_ranks(counts, fold_of_rows(16, 2, 0), Settings(transform="quantile", levels=4, folds=2))
    pooled = np.empty((16, 2), int)
    for fold in folds:
        pooled[fold.rows] = fold.held_out
    assert pooled[:, 0].tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4 and {fold.top for fold in folds} == {3}


def test_without_a_transform_held_out_counts_are_clipped():
    counts = np.array([[0, 1], [5, 2], [7, 3], [90, 1]])
    fold = fold_ranks(counts, np.array([0, 0, 0, 1]), Settings(transform="none", folds=2))[1]
    assert fold.top == 7 and fold.held_out.tolist() == [[7, 1]] and fold.train[:, 0].tolist() == [0, 5, 7]


def test_ranks_do_not_change_under_increasing_maps():
    counts = np.random.default_rng(1).poisson(3, (60, 2))
    mapped = np.column_stack([counts[:, 0] ** 2 + counts[:, 0], counts[:, 1] * 7 + 3])
    folds = fold_of_rows(60, 3, 0)
    for one, other in zip(fold_ranks(counts, folds, Settings()), fold_ranks(mapped, folds, Settings()), strict=True):
        assert np.array_equal(one.train, other.train) and np.array_equal(one.held_out, other.held_out)


def test_folds_partition_the_rows_evenly():
    fold = fold_of_rows(100, 3, 7)
    assert sorted(np.bincount(fold)) == [33, 33, 34] and not np.array_equal(fold, fold_of_rows(100, 3, 8))


def test_too_few_rows_for_the_folds():
    with pytest.raises(InputError, match="The table has 11 rows, too few for 3 folds: it needs at least 12."):
        fold_of_rows(11, 3, 0)


def test_row_cap_is_a_seeded_sample():
    settings = Settings(max_rows=10, seed=1)
    rows = sampled_rows(100, settings)
    assert len(set(rows)) == 10 and np.array_equal(rows, np.sort(rows))
    assert not np.array_equal(rows, sampled_rows(100, Settings(max_rows=10, seed=2)))
    assert len(sampled_rows(5, settings)) == 5


def test_table_codes():
    table = pd.DataFrame({"a": [5, 5, 9], "b": [1, 0, 2]})
    codes = transform_table(table, Settings())
    assert codes["a"].tolist() == [0, 0, 1] and codes["b"].tolist() == [1, 0, 2]


def splitting(**changes):
    return Settings(folds=2, folds_by="counts", **changes)


def test_folds_by_counts_hold_the_two_halves_of_all_rows():
    counts = np.random.default_rng(2).poisson(9, (80, 3))
    folds = Folds.of(counts, splitting(transform="none"))
    first, second = folds.ranks
    assert folds.of_row is None and folds.parent_ranks is folds.ranks and folds.rows.tolist() == list(range(80))
    for fold, other in ((first, second), (second, first)):
        assert fold.rows.tolist() == list(range(80)) and fold.train.shape == fold.held_out.shape == (80, 3)
        assert fold.top == fold.train.max()
        clipped = np.minimum(counts - fold.train, fold.top)  # the other half, on the grid of this one
        assert np.array_equal(fold.held_out, clipped) and np.array_equal(fold.train, counts - other.train)
    again, drawn_anew = Folds.of(counts, splitting(transform="none")), Folds.of(counts, splitting(seed=1))
    assert np.array_equal(first.train, again.ranks[0].train)
    assert not np.array_equal(Folds.of(counts, splitting()).ranks[0].train, drawn_anew.ranks[0].train)


def test_the_levels_of_halves_come_from_the_training_half():
    counts = np.random.default_rng(3).poisson(40, (90, 2))
    halves = split_counts(counts, splitting())
    for place, fold in enumerate(split_ranks(counts, splitting())):
        own, other = halves[place], halves[1 - place]
        for column in range(2):
            grid = np.unique(own[:, column])
            assert np.array_equal(fold.train[:, column], np.searchsorted(grid, own[:, column]))
            assert np.array_equal(fold.held_out[:, column], rank_on_grid(other[:, column], grid))
    quantile = splitting(transform="quantile", levels=4)
    for place, fold in enumerate(split_ranks(counts, quantile)):
        own, other = halves[place], halves[1 - place]
        assert fold.top == 3 and np.array_equal(fold.train, quantile_levels(own, 4))
        assert np.array_equal(fold.held_out, quantile_levels(other, 4, of=own))


def test_the_halves_of_a_sample_are_those_that_the_check_looks_at():
    rows = 60
    table = pd.DataFrame({"b": np.arange(rows), "rare": np.zeros(rows, int), "a": np.arange(rows) % 7})
    table.loc[5, "rare"] = 1  # one half has the event, the other none
    with pytest.raises(InputError, match='^"rare" is constant in one half of its counts, since it has so few events:'):
        check_split(table, splitting())
    check_split(table, Settings())
    check_split(table.drop(columns="rare"), splitting())
    table["rare"] = 50 * (np.arange(rows) != sampled_rows(rows, splitting(max_rows=30))[0])
    check_split(table, splitting(max_rows=30))
    rest = ~np.isin(np.arange(rows), sampled_rows(rows, splitting(max_rows=30)))
    with pytest.raises(InputError, match='^"rare" is constant'):
        check_split(table.assign(rare=50 * rest), splitting(max_rows=30))
