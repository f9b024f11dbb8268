"""Columns beside the counts of a simulated table: their exact effects, their roles, and what is refused."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from scipy.stats import chi2

from disco.__main__ import main
from disco.errors import InputError
from disco.simulate import Design, Simulated, simulate
from disco.simulate.identifiable import KNOWN, NOT_PROVED, UNKNOWN, reservation
from disco.table.prepared import prepare
from disco.table.roles import read

ALL = {"batches": 3, "depth": 0.5, "age_and_sex": True, "groups": 10}
ROWS = 60_000


def sources(**options: Any) -> Simulated:
    """Nodes without parents, whose means are known."""
    return simulate(Design(k=0, **{"nodes": 12, "rows": ROWS, "seed": 3} | options))


def effects(drawn: Simulated, name: str) -> pd.DataFrame:
    """The effects of a column on each node, (levels, nodes)."""
    column = next(column for column in drawn.surroundings.columns if column.name == name)
    return pd.DataFrame(column.effects, index=column.levels, columns=drawn.table.columns)


# Effects ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["poisson-softplus", "nb-exp"])
def test_a_batch_multiplies_the_means_of_the_nodes_that_it_shifts(family):
    drawn = sources(family=family, batches=3, nodes=40, batch_effect=0.7)
    shifts, source = effects(drawn, "batch"), {"poisson-softplus": 2.0, "nb-exp": 1.5}[family]
    assert set(shifts.to_numpy().round(12).ravel()) == {-0.7, 0.0, 0.7}
    shifted = (shifts != 0).any()
    assert 0.15 < shifted.mean() < 0.55 and (shifts.loc[:, shifted] != 0).all(axis=None)
    means = drawn.table.groupby(drawn.beside["batch"]).mean()
    assert (means / (source * np.exp(shifts))).to_numpy() == pytest.approx(np.ones((3, 40)), abs=0.05)
    assert drawn.beside["batch"].value_counts(normalize=True).to_numpy() == pytest.approx(np.full(3, 1 / 3), abs=0.01)


def test_an_effect_on_a_binomial_moves_its_logit():
    drawn = sources(family="binomial-sigmoid", batches=2, batch_effect=1.2)
    shares = drawn.table.groupby(drawn.beside["batch"]).mean() / 50
    moved = logit(shares) - logit(0.1)
    assert moved.to_numpy() == pytest.approx(effects(drawn, "batch").to_numpy(), abs=0.02)


def test_an_effect_on_a_discrete_normal_moves_its_canonical_parameter():
    """p(y) is proportional to exp(η y - y²/2s²), so that log odds against another η are linear in y."""
    drawn = sources(family="discrete-normal", batches=2, nodes=6, batch_effect=0.3)
    shifts = effects(drawn, "batch")
    node = shifts.columns[(shifts.nunique() > 1).argmax()]
    counts = pd.crosstab(drawn.table[node], drawn.beside["batch"]).loc[6:11]
    slope = np.polyfit(counts.index, np.log(counts["b2"] / counts["b1"]), 1, w=np.sqrt(counts.min(axis=1)))[0]
    assert slope == pytest.approx(shifts.loc["b2", node] - shifts.loc["b1", node], abs=0.03)


def test_an_effect_stands_outside_the_response_of_the_parents():
    """Within each value of the parents the mean is multiplied by e^0.7, at any value."""
    drawn = simulate(Design(graph="chain", nodes=2, rows=200_000, batches=2, seed=2))
    shifts = effects(drawn, "batch")["x2"]
    expected = np.exp(shifts["b2"] - shifts["b1"])
    assert expected != 1
    means = drawn.table.groupby([drawn.table["x1"], drawn.beside["batch"]])["x2"].mean().unstack().loc[:4]
    assert (means["b2"] / means["b1"]).to_numpy() == pytest.approx(np.full(5, expected), rel=0.04)


def test_age_acts_in_waves_and_sex_as_a_factor_each_on_half_of_the_nodes():
    drawn = sources(nodes=40, age_and_sex=True)
    ages, sexes = effects(drawn, "age"), effects(drawn, "sex")
    assert 0.25 < (ages.abs().max() > 0).mean() < 0.75 and 0.25 < (sexes.loc["m"] != 0).mean() < 0.75
    assert set(sexes.abs().to_numpy().ravel()) == {0.0, 0.6} and (sexes.loc["f"] == 0).all()
    slopes = ages.loc[:, ages.abs().max() > 0].diff().iloc[1:]
    assert ((slopes > 0).any() & (slopes < 0).any()).all(), "no straight line fits such an effect"
    assert ages.abs().max().max() <= 0.6 and slopes.abs().max().max() < 0.01
    expected = 2 * np.exp(ages.loc[drawn.beside["age"]].to_numpy() + sexes.loc[drawn.beside["sex"]].to_numpy())
    decade = (drawn.beside["age"] // 10).astype(int)
    cells = [decade, drawn.beside["sex"]]
    seen, told = (table.groupby(cells).mean() for table in (drawn.table, pd.DataFrame(expected)))
    assert (seen.to_numpy() / told.to_numpy())[:-2] == pytest.approx(np.ones((12, 40)), abs=0.11)


def test_groups_are_equal_in_size_and_their_effects_normal_and_independent():
    drawn = sources(nodes=8, groups=400, group_effect=0.5)
    assert set(drawn.beside["group"].value_counts()) == {ROWS // 400}
    drawn_effects = effects(drawn, "group")
    low, high = chi2.ppf([1e-4, 1 - 1e-4], 400) / 400
    assert ((drawn_effects**2).mean() / 0.25).between(low, high).all()
    assert (drawn_effects.corr() - np.eye(8)).abs().max().max() < 0.2
    means = drawn.table.groupby(drawn.beside["group"]).mean().loc[drawn_effects.index]
    between = np.log(means).var() - (1 / means / 150).mean()  # less what the Poisson counts of 150 rows add
    assert between.to_numpy() == pytest.approx(drawn_effects.var().to_numpy(), rel=0.1)


def test_columns_add_up():
    drawn = sources(batches=2, groups=2, group_effect=0.8)
    means = drawn.table.groupby([drawn.beside["batch"], drawn.beside["group"]]).mean()
    for (batch, group), found in means.iterrows():
        expected = 2 * np.exp(effects(drawn, "batch").loc[batch] + effects(drawn, "group").loc[group])
        assert (found / expected).to_numpy() == pytest.approx(np.ones(12), abs=0.06)


# Depth ------------------------------------------------------------------------------------------------------------


def softplus(parent: pd.Series, weight: float) -> pd.Series:
    return 0.2 + np.logaddexp(0, 0.5 + weight * parent)


@pytest.mark.parametrize("meaning", ["rates", "counts"])
def test_a_depth_multiplies_means_given_the_parents_rates_or_counts(meaning):
    """The child's scores under both readings, by value of the parent's count and depth: only the right one fits."""
    design = Design(graph="chain", nodes=2, rows=200_000, depth=0.5, depth_causes=meaning, seed=2)
    drawn = simulate(design)
    depth, parent, child = drawn.beside["depth"], drawn.table["x1"], drawn.table["x2"]
    assert depth.mean() == pytest.approx(1, abs=0.01) and np.log(depth).std() == pytest.approx(0.5, abs=0.01)
    assert parent.sum() / depth.sum() == pytest.approx(2, rel=0.01)
    weight = _weight(design)
    for read_as, cause in (("rates", parent / depth), ("counts", parent)):
        expected = depth * softplus(cause, weight)
        standard = (child - expected) / np.sqrt(expected)
        cells = standard.groupby([parent.clip(upper=6), pd.qcut(depth, 10, labels=False)]).agg(["sum", "size"])
        worst = (cells["sum"] / np.sqrt(cells["size"])).abs().max()
        assert worst < 4.5 if read_as == meaning else worst > 8


def _weight(design: Design) -> float:
    """The coefficient of a chain's one edge: that of the same design without a depth, from its exact means."""
    plain = simulate(design.replace(depth=0, rows=400_000)).table
    means = plain.groupby("x1")["x2"].mean().loc[:5]
    errors = {weight: np.abs(means - softplus(means.index.to_series(), weight)).sum() for weight in _WEIGHTS}
    return min(errors, key=errors.get)


_WEIGHTS = np.arange(0.30, 0.4501, 0.001)


def test_equal_means_hold_beside_other_columns():
    drawn = simulate(Design(nodes=12, rows=40_000, equal_means=True, **ALL | {"groups": 0}, seed=4))
    assert drawn.table.mean().to_numpy() == pytest.approx(np.full(12, 2.0), rel=0.15)


# What stays -------------------------------------------------------------------------------------------------------


def test_a_column_changes_nothing_of_the_others():
    alone = {name: simulate(Design(rows=50, **{name: value})).beside for name, value in ALL.items()}
    both = simulate(Design(rows=50, **ALL)).beside
    assert list(both) == ["batch", "age", "sex", "depth", "group"]
    pd.testing.assert_frame_equal(pd.concat(alone.values(), axis=1)[list(both)], both)


def test_an_effect_of_zero_leaves_the_counts_as_they_are():
    plain = simulate(Design(nodes=8, rows=300, family="poisson-softplus,binomial-probit"))
    nothing = plain.design.replace(batches=3, batch_effect=0, groups=4, group_effect=0)
    pd.testing.assert_frame_equal(simulate(nothing).table, plain.table)
    assert plain.beside.empty and plain.design.roles() is None
    pd.testing.assert_frame_equal(plain.whole, plain.table)


def test_the_truth_has_the_nodes_alone():
    drawn = simulate(Design(nodes=6, rows=40, **ALL))
    assert set(drawn.truth["parent"]) | set(drawn.truth["child"]) <= set(drawn.table) and len(drawn.order) == 6
    assert list(drawn.whole) == [*drawn.table, *drawn.beside] and not {"batch", "depth"} & set(drawn.adjacency)


# Roles, and what can be known ----------------------------------------------------------------------------------------


def test_the_roles_of_a_design_divide_its_table():
    drawn = simulate(Design(nodes=6, rows=400, **ALL))
    given = prepare(drawn.whole, drawn.design.roles())
    counts, adjustment = given.counts, given.adjustment
    pd.testing.assert_frame_equal(counts, drawn.table)
    kinds = {covariate.name: covariate.kind for covariate in adjustment.covariates}
    assert kinds == {"batch": "categorical", "age": "continuous", "sex": "categorical", "group": "categorical"}
    assert (adjustment.exposure == drawn.beside["depth"]).all() and len(np.unique(adjustment.group)) == 10
    by_counts = simulate(Design(nodes=6, rows=400, depth=0.5, depth_causes="counts"))
    adjustment = prepare(by_counts.whole, by_counts.design.roles()).adjustment
    assert adjustment.exposure is None and [one.name for one in adjustment.covariates] == ["depth"]
    many = Design(rows=400, groups=100)
    assert not many.roles().group_effects and prepare(simulate(many).whole, many.roles()).adjustment.covariates == ()


@pytest.mark.parametrize(
    ("changes", "direction"),
    [
        ({"batches": 2}, KNOWN),
        ({"depth": 0.5}, KNOWN),
        ({"age_and_sex": True, "groups": 10, "depth": 0.5, "depth_causes": "counts"}, KNOWN),
        ({"groups": 200}, NOT_PROVED),
        ({"graph": "chain", "family": "poisson-log"}, UNKNOWN),
        ({"graph": "chain", "family": "poisson-log", "batches": 2}, NOT_PROVED),
        ({"graph": "chain", "family": "binomial-logit", "age_and_sex": True}, NOT_PROVED),
    ],
)
def test_what_is_known_stays_known(changes, direction):
    design = Design(**{"nodes": 5, "k": 1, "rows": 400, "seed": 1} | changes)
    assert set(simulate(design).truth["direction"]) == {direction}
    assert bool(reservation(design)) == bool(design.beside())


def test_an_affine_effect_seen_in_two_batches_has_no_reverse_in_the_class():
    """Why it is not called unknown: as a child of y, x would need a base measure of its own in each batch.

    D² log p(x | y) is that of the base measure, whatever y is, but it differs between batches.
    """
    x, y = np.arange(51), np.arange(4)
    bases = []
    for shift in (0.0, 0.7):
        chance = expit(-2.197 + 1.5 * x / 50 + shift)[:, None]
        bends = np.diff(y * logit(chance) + 50 * np.log1p(-chance), n=2, axis=0)
        assert bends == pytest.approx(np.repeat(bends[:, :1], 4, axis=1))
        bases.append(bends[:, 0])
    assert np.abs(bases[0] - bases[1]).max() > 1e-3


# What is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"depth": 0.5, "family": "binomial-probit"}, "A depth multiplies a mean, which"),
        ({"batches": 1}, "batches must be 0, or at least 2; got 1"),
        ({"groups": 1}, "groups must be 0, or from 2 to half as many as the 2,000 rows; got 1"),
        ({"graph": "own", "edges": [("age", "b")], "age_and_sex": True}, 'A node is called "age"'),
        ({"family": "gamma-gp", "batches": 2}, "The column batch stands beside counts"),
        ({"family": "ising", "graph": "complete", "nodes": 4, "groups": 4}, "the options that make a table harder"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        Design(**changes)


def test_the_command_writes_the_columns_and_their_roles(tmp_path, capsys):
    options = "--d 5 --n 80 --batches 2 --batch-effect 0.4 --depth 0.3 --age-and-sex --groups 8 --group-effect 0.2"
    assert main(["simulate", "--out", str(tmp_path / "lab"), *options.split(), "--depth-causes", "counts"]) == 0
    wanted = {"batches": 2, "batch_effect": 0.4, "depth": 0.3, "depth_causes": "counts", "age_and_sex": True}
    design = Design(nodes=5, rows=80, groups=8, group_effect=0.2, **wanted)
    assert Design.from_dict(json.loads((tmp_path / "lab" / "design.json").read_text())) == design
    table = pd.read_csv(tmp_path / "lab" / "counts.csv")
    pd.testing.assert_frame_equal(table, simulate(design).whole, check_dtype=False)
    assert read(tmp_path / "lab" / "roles.json") == design.roles()
    printed = capsys.readouterr().out
    assert "80 rows × 10 columns" in printed and "design.json, roles.json." in printed
    assert "Without the roles of" in printed
