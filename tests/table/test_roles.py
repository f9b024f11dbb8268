"""Roles of columns: what they make of a table, what they refuse, and counts freed of what is declared."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.paper.ranks import fold_of_rows
from disco.table.adjustment import CATEGORICAL, CONTINUOUS, Adjustment, Covariate, declared, freed
from disco.table.prepared import prepare
from disco.table.roles import Roles, computed


def table() -> pd.DataFrame:
    """Twelve rows of two counts, and columns for every role."""
    counts = pd.DataFrame({"a": [0, 1, 2, 3] * 3, "b": [5, 1, 0, 2] * 3, "site": ["s10", "s2", "s1"] * 4})
    ids = [f"r{row}" for row in range(12)]
    return counts.assign(age=np.linspace(20, 42, 12), depth=np.arange(1, 13) * 100, id=ids)


def test_each_role_goes_where_it_belongs():
    roles = Roles({"site": "covariate", "age": ("covariate", "continuous"), "depth": "exposure", "id": "ignore"})
    given = prepare(table(), roles)
    counts, adjustment = given.counts, given.adjustment
    assert list(counts) == ["a", "b"] and adjustment.group is None
    site, age = adjustment.covariates
    assert site.kind == "categorical" and site.levels == ("s1", "s2", "s10")  # 2 before 10
    assert site.values[:3].tolist() == [2, 1, 0] and age.values[-1] == 42
    np.testing.assert_array_equal(adjustment.exposure, np.arange(1, 13) * 100)
    assert adjustment.log_exposure.mean() == pytest.approx(0)


def test_inputs_of_networks_are_standard_numbers_with_waves_and_one_column_per_level():
    roles = {"site": "covariate", "age": "covariate", "depth": "exposure", "id": "ignore"}
    adjustment = prepare(table(), roles).adjustment
    inputs = adjustment.inputs()
    assert inputs.shape == (12, 3 + 5 + 5)
    np.testing.assert_array_equal(inputs[:, :3].sum(1), 1)
    np.testing.assert_allclose(inputs[:, 3:].std(0), 1, rtol=1e-5)
    age = table()["age"].to_numpy()
    np.testing.assert_allclose(inputs[:, 3], (age - age.mean()) / age.std(), rtol=1e-5)
    bent = (age - age.mean()) ** 2
    basis = np.column_stack([np.ones(12), inputs[:, 3:8]])
    left = bent - basis @ np.linalg.lstsq(basis, bent)[0]
    assert left.var() < 0.02 * bent.var()
    assert adjustment.take(np.array([0, 1])).inputs().shape == (2, 3 + 1 + 1)  # two values have no waves


def test_rows_taken_keep_the_numbers_of_levels():
    pairs = table().assign(pair=np.arange(12) // 2)
    adjustment = prepare(pairs, {"site": "covariate", "pair": "group", "id": "ignore"}).adjustment
    part = adjustment.take(np.arange(12) % 3 != 0)
    assert part.rows == 8 and part.covariates[0].values.tolist() == [1, 0] * 4
    assert part.covariates[0].levels == ("s1", "s2", "s10") and len(part.group) == 8


def test_total_and_size_factors():
    counts = table()[["a", "b"]] + 1
    np.testing.assert_array_equal(computed(counts, "total"), counts.sum(axis=1))
    values = np.random.default_rng(0).poisson(50, (40, 20)) + 1
    deep = pd.DataFrame(values * np.where(np.arange(40) < 20, 1, 7)[:, None])
    factor = computed(deep, "median of ratios")
    assert np.median(factor[20:]) / np.median(factor[:20]) == pytest.approx(7, rel=0.05)


def test_roles_come_back_from_their_file():
    roles = Roles({"age": ("covariate", "ordinal"), "site": "group"}, exposure="total", group_effects=True)
    assert Roles.from_dict(roles.to_dict()) == roles
    in_order = Roles({"age": "covariate"}, row_number=True, blocks=6)
    assert Roles.from_dict(in_order.to_dict()) == in_order and in_order.needed() == in_order
    assert str(in_order) == "adjusted for age, the row number; groups by 6 blocks of rows"


def test_the_row_number_and_blocks_of_rows_need_no_column():
    ignored = {"site": "ignore", "age": "ignore", "depth": "ignore", "id": "ignore"}
    adjustment = prepare(table(), Roles(ignored, row_number=True, blocks=5)).adjustment
    (number,) = adjustment.covariates
    assert (number.name, number.kind) == ("row number", "continuous") and number.values.tolist() == [*range(1, 13)]
    assert adjustment.group.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4]
    effects = prepare(table(), Roles(ignored, blocks=5, group_effects=True)).adjustment
    assert effects.covariates[0].levels[0] == "block 1" and (effects.covariates[0].values == effects.group).all()


def test_what_is_computed_takes_the_place_of_a_column():
    roles = Roles({"site": "group", "depth": "exposure"}, group_effects=True)
    in_order = roles.declaring(Roles(blocks=5, group_effects=True))
    assert in_order == Roles({"site": "ignore", "depth": "exposure"}, blocks=5, group_effects=True)
    assert in_order.in_order(False, None) == Roles({"site": "ignore", "depth": "exposure"})
    assert in_order.with_roles({"site": "group"}).blocks is None
    assert roles.declaring(Roles(exposure="total")).columns == {"site": "group", "depth": "ignore"}
    assert roles.declaring(Roles(row_number=True)) == Roles(roles.columns, group_effects=True, row_number=True)
    for wrong, words in (
        ({"columns": {"site": "group"}, "blocks": 3}, 'The group is "site" and 3 blocks of rows: choose one'),
        ({"blocks": 1}, "blocks must be a number of blocks"),
        ({"row_number": 1}, "row_number must be true or false"),
    ):
        with pytest.raises(InputError, match=words):
            Roles(**wrong)
    with pytest.raises(InputError, match="12 rows do not make 7 blocks"):
        Roles(blocks=7).split(table())
    with pytest.raises(InputError, match='A column is called "row number"'):
        Roles(row_number=True).split(table().assign(**{"row number": 1}))


def test_rows_of_a_group_share_a_fold():
    group = np.repeat(np.arange(30), np.arange(30) % 7 + 1)
    fold = fold_of_rows(len(group), 3, 1, group)
    assert all(len(set(fold[group == one])) == 1 for one in range(30)) and np.ptp(np.bincount(fold)) <= 7
    assert not np.array_equal(fold, fold_of_rows(len(group), 3, 2, group))
    with pytest.raises(InputError, match="2 groups, too few for 3 folds"):
        fold_of_rows(60, 3, 0, np.arange(60) % 2)


REFUSED = {
    "not a column": ({"heigth": "covariate"}, "not a column"),
    "unknown role": ({"age": "node"}, "must be one of"),
    "unknown kind": ({"age": ("covariate", "cyclic")}, "A covariate is"),
    "two exposures": ({"age": "exposure", "depth": "exposure"}, "Only one column"),
    "text as a number": ({"site": ("covariate", "continuous")}, "not a number"),
    "text as exposure": ({"site": "exposure"}, "above zero"),
    "one row a level": ({"id": "covariate"}, "only one row"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_roles_refuse(case):
    columns, words = REFUSED[case]
    with pytest.raises(InputError, match=words):
        prepare(table(), columns)


def test_an_exposure_of_zero_and_missing_cells_are_refused_with_their_number():
    frame = table().astype({"depth": float})
    frame.loc[[3, 5], "depth"] = 0
    with pytest.raises(InputError, match=r"in row 4.*2 rows"):
        prepare(frame, {"depth": "exposure"})
    frame.loc[[2, 7], "age"] = np.nan
    with pytest.raises(InputError, match=r"2 missing cells.*row 3"):
        prepare(frame, {"age": "covariate"})
    with pytest.raises(InputError, match="Row 1 has no count above zero"):
        prepare(frame.assign(a=0, b=0).drop(columns=["site", "age", "id", "depth"]), Roles(exposure="total"))


@pytest.fixture
def world(rng):
    level, age, exposure = rng.integers(0, 3, 2000), rng.normal(size=2000), rng.lognormal(0, 0.5, 2000)
    levels = np.array([[1.0, 2, 4], [3, 1, 1]]).T[level]
    return level, age, exposure, rng.poisson(5 * exposure[:, None] * levels * np.exp(0.5 * age[:, None]))


def test_the_basis_is_orthonormal_and_without_the_constant(world):
    level, age, exposure, _ = world
    covariates = (Covariate("l", CATEGORICAL, level, tuple("abc")), Covariate("a", CONTINUOUS, age))
    basis = declared(Adjustment(2000, covariates, exposure), 2000)
    assert basis.T @ basis == pytest.approx(np.eye(2 + 5 + 5), abs=1e-6)
    assert basis.sum(axis=0) == pytest.approx(0, abs=1e-6)
    assert declared(None, 7).shape == (7, 0) and declared(Adjustment(7), 7).shape == (7, 0)


def test_freed_counts_are_rates_with_equal_means(world):
    level, age, exposure, values = world
    assert freed(values, None) is values
    rates = freed(values, Adjustment(2000, exposure=exposure))
    assert np.corrcoef(np.log1p(rates[:, 0]), np.log(exposure))[0, 1] == pytest.approx(0, abs=0.15)
    covariates = (Covariate("l", CATEGORICAL, level, tuple("abc")), Covariate("a", CONTINUOUS, age))
    free = freed(values, Adjustment(2000, covariates[:1]))
    means = np.array([free[level == one].mean(axis=0) for one in range(3)])
    assert means == pytest.approx(np.tile(values.mean(axis=0), (3, 1)))
    free = freed(values, Adjustment(2000, covariates, exposure))
    for low, high in ((-3, -0.7), (-0.7, 0.7), (0.7, 3)):
        assert free[(age > low) & (age < high)].mean() == pytest.approx(free.mean(), rel=0.12)
