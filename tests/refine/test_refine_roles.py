"""Refinement and models of tables with covariates, an exposure or groups."""

import numpy as np
import pandas as pd
import pytest

from disco.knowledge import Knowledge
from disco.likelihood.batch import Problems
from disco.likelihood.covariates import around, bases, ranks_of, rates
from disco.likelihood.model import Model
from disco.likelihood.model_check import check
from disco.likelihood.newton import fit
from disco.likelihood.rank_design import RankDesign
from disco.metrics.consensus import Comparison
from disco.paper.settings import Settings
from disco.refine import Choice, again, refine
from disco.refine.stability import draw
from disco.refine.task import Task
from disco.selectors import evidence
from disco.table.adjustment import Adjustment, Covariate
from disco.table.cells import dense_ranks
from disco.table.prepared import prepare

ALONE = Choice(folds=0, bootstrap=0)


def pairs(result) -> set[tuple[str, str]]:
    return set(zip(result.edges["parent"], result.edges["child"], strict=True))


def joined(result) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in pairs(result)}


def batches(rows: int = 3000, seed: int = 0) -> pd.DataFrame:
    """Two nodes that a batch shifts, and a child of the first."""
    random = np.random.default_rng(seed)
    batch = random.integers(0, 3, rows)
    shift = np.array([-0.7, 0.0, 0.7])[batch]
    a, b = random.poisson(np.exp(1.2 + shift)), random.poisson(np.exp(1.4 - shift))
    return pd.DataFrame({"a": a, "b": b, "c": random.poisson(1 + a), "batch": np.array(["x", "y", "z"])[batch]})


def test_a_batch_joins_two_nodes_only_if_it_is_not_told():
    table = batches()
    told = refine(table, ALONE, roles={"batch": "covariate"})
    untold = refine(table, ALONE, roles={"batch": "ignore"})
    assert joined(told) == {frozenset("ac")} and frozenset("ab") in joined(untold)
    order = ["a", "b", "c"]
    counts, batch = table[order], Covariate("batch", "categorical", table["batch"].map(dict(x=0, y=1, z=2)).to_numpy())
    adjustment = Adjustment(len(table), (Covariate("batch", "categorical", batch.values, tuple("xyz")),))
    for given, edge in ((adjustment, False), (None, True)):
        found = evidence.edges(counts, order, adjustment=given).set_index(["parent", "child"])
        assert found.loc[("a", "b"), "selected"] == edge and found.loc[("a", "c"), "selected"]


def test_an_exposure_joins_everything_unless_it_is_told():
    """Rates cause rates: the child of `a` depends on a / depth, and every count grows with the depth."""
    random = np.random.default_rng(1)
    depth = random.lognormal(0, 0.5, 4000)
    a, b = random.poisson(5 * depth), random.poisson(4 * depth)
    c = random.poisson(depth * (1 + a / depth))
    table = pd.DataFrame({"a": a, "b": b, "c": c, "depth": depth})
    assert joined(refine(table, ALONE, roles={"depth": "exposure"})) == {frozenset("ac")}
    assert len(joined(refine(table, ALONE, roles={"depth": "ignore"}))) == 3


def test_covariate_curves_follow_smooth_and_level_effects():
    covered = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        age, sex = random.uniform(20, 80, 4000), random.integers(0, 2, 4000)
        means = np.exp(1.5 + 0.5 * np.sin(age / 12) + 0.4 * sex)
        table = pd.DataFrame({"y": random.poisson(means), "x": random.poisson(2, 4000)})
        known = Covariate("age", "continuous", age), Covariate("sex", "categorical", sex, ("f", "m"))
        model = Model.of(table, {"y": ["x"]}, adjustment=Adjustment(4000, known))
        curve, levels = model.covariate_curve("age", "y"), model.covariate_curve("sex", "y")
        truth = 0.5 * np.sin(curve["value"] / 12)
        truth -= (truth * curve["rows"]).sum() / 4000
        assert np.abs(curve["effect"] - truth).max() < 0.12
        covered.append(((curve["low"] < truth) & (truth < curve["high"])).mean())
        assert np.diff(levels["effect"])[0] == pytest.approx(0.4, abs=0.06)
        assert levels["value"].tolist() == ["f", "m"] and (levels["effect"] * levels["rows"]).sum() == pytest.approx(0)
    assert 0.9 < np.mean(covered) < 0.99


def test_a_model_with_surroundings_predicts_and_draws_other_rows():
    table = batches().assign(depth=np.random.default_rng(4).lognormal(0, 0.3, 3000))
    counts = table[["a", "b", "c"]]
    codes = table["batch"].map(dict(x=0, y=1, z=2)).to_numpy()
    covariate = Covariate("batch", "categorical", codes, tuple("xyz"))
    adjustment = Adjustment(3000, (covariate,), table["depth"].to_numpy())
    model = Model.of(counts, {"c": ["a"]}, adjustment=adjustment)
    pd.testing.assert_series_equal(model.held_out(counts, adjustment), model.log_likelihood, atol=1e-4)
    half = np.arange(3000) % 2 == 0
    part, other = (Model.of(counts[half], {"c": ["a"]}, adjustment=adjustment.take(half)), adjustment.take(~half))
    plain = Model.of(counts[half], {"c": ["a"]}).held_out(counts[~half])
    assert (part.held_out(counts[~half], other) - plain)[["a", "b"]].min() > 100
    drawn = model.sample(3000, 1, adjustment)
    for level in range(3):
        np.testing.assert_allclose(drawn[codes == level].mean(), counts[codes == level].mean(), rtol=0.08)


def test_covariates_that_mean_nothing_change_next_to_nothing():
    table = batches()
    noise = np.random.default_rng(5).normal(size=(3000, 2))
    roles = {"batch": "covariate", "n0": "covariate", "n1": "covariate"}
    more = refine(table.assign(n0=noise[:, 0], n1=noise[:, 1]), ALONE, roles=roles)
    assert pairs(more) == pairs(refine(table, ALONE, roles={"batch": "covariate"}))


def test_rates_are_the_counts_where_all_exposures_are_equal():
    counts = batches()[["a", "b", "c"]].to_numpy()
    equal = Adjustment(len(counts), exposure=np.full(len(counts), 7.0))
    found = ranks_of(rates(counts, equal))
    np.testing.assert_array_equal(found, dense_ranks(counts))


def test_columns_of_the_rows_are_orthonormal_within_each_covariate():
    random = np.random.default_rng(6)
    sorts = (
        Covariate("age", "continuous", random.gamma(2, 10, 500)),
        Covariate("month", "ordinal", random.integers(0, 12, 500), tuple("jfmamjjasond")),
        Covariate("site", "categorical", random.integers(0, 4, 500), tuple("abcd")),
        Covariate("two", "continuous", random.integers(0, 2, 500)),
    )
    adjustment = Adjustment(500, sorts, random.lognormal(0, 1, 500))
    for basis in bases(adjustment):
        columns = basis.at(adjustment)
        np.testing.assert_allclose(columns.T @ columns / 500, np.eye(columns.shape[1]), atol=1e-8)
        np.testing.assert_allclose(columns.mean(0), 0, atol=1e-10)
        np.testing.assert_allclose(basis.at(adjustment.take(np.arange(7))), columns[:7])
    assert [len(basis.kinds) for basis in bases(adjustment)] == [6, 6, 3, 1, 6]
    smooth = lambda first: [first, *[first + 1] * 5]  # noqa: E731
    assert around(adjustment, "ab")["beside"].kinds.tolist() == [*smooth(0), *smooth(2), 4, 4, 4, 5, *smooth(6)]


def test_the_prior_of_a_covariate_is_fitted_to_the_nodes(known):
    """Strong effects of a batch on most nodes leave it free; none at all hold it near zero."""
    from disco.refine.prior import BEFORE, fitted

    random = np.random.default_rng(7)
    batch, none = random.integers(0, 4, 2000), random.normal(size=2000)
    shifts = random.normal(0, 0.6, (4, 8))
    ranks = dense_ranks(random.poisson(np.exp(1.5 + shifts[batch])))
    sorts = Covariate("batch", "categorical", batch, tuple("abcd")), Covariate("none", "continuous", none)
    prior = fitted(RankDesign.of(ranks, **around(Adjustment(2000, sorts), "abcdefgh"), prior=BEFORE), [()] * 8)
    assert len(prior.beside) == 3 and prior.beside[0] < 3 and min(prior.beside[1:]) > 100


def test_an_effect_of_the_rows_is_outside_the_link():
    """A batch that halves a node with additive causes halves it wherever its causes stand."""
    random = np.random.default_rng(8)
    batch, a = random.integers(0, 2, 6000), random.poisson(4, 6000)
    b = random.poisson(np.where(batch, 0.5, 1.0) * (1 + 1.5 * a))
    adjustment = Adjustment(6000, (Covariate("batch", "categorical", batch, ("x", "y")),))
    design = RankDesign.of(dense_ranks(np.column_stack([a, b])), **around(adjustment, "ab"))
    found = fit(design, Problems.of([(1, (0,))])).theta[0]
    column = np.diff(design.columns[2, 0][[int(np.argmin(batch)), int(np.argmax(batch))]])
    effect = design.value[1, 1] * column * found[design.bend + 1]
    assert effect[0] == pytest.approx(np.log(0.5), abs=0.03)


def test_bootstrap_tables_draw_whole_groups():
    group, seen = np.repeat(np.arange(40), 5), []

    def again(parts):
        for weights in parts:
            seen.extend(weights)
            yield [[]] * len(weights)

    from disco.progress import SILENT
    from disco.refine.resume import Memory

    class Nothing(Memory):
        def write(self) -> None:
            self.drawn.clear()

    choice = Choice(folds=4, bootstrap=6)
    table = pd.DataFrame({"x": np.arange(200) % 7, "y": np.arange(200) % 5, "group": group})
    task = Task.of(prepare(table, {"group": "group"}), choice, Settings())
    draw(task, SILENT, Nothing(), again)
    assert len(seen) == 10
    for weights in seen:
        assert (weights.reshape(40, 5) == weights.reshape(40, 5)[:, :1]).all()
    assert len({weights.sum() for weights in seen[4:]} | {200.0}) == 1


def test_what_each_adjustment_changes():
    """A batch that drives two nodes joins them; noise joins nothing."""
    table = batches(2000)
    noise = Covariate("noise", "continuous", np.random.default_rng(9).normal(size=2000))
    codes = table["batch"].map(dict(x=0, y=1, z=2)).to_numpy()
    adjustment = Adjustment(2000, (Covariate("batch", "categorical", codes, tuple("xyz")), noise))
    stages = []
    found = again.adjusted(table[["a", "b", "c"]], adjustment, callback=lambda event: stages.append(event.stage))
    names = ["with all", 'without "batch"', 'without "noise"', "without any"]
    assert list(found) == names == list(dict.fromkeys(stages))
    seen = Comparison.of(found).edges.set_index(["parent", "child"])[names]
    edge = next(pair for pair in seen.index if set(pair) == {"a", "b"})
    assert seen.loc[edge].tolist()[::2] == ["", ""] and all(seen.loc[edge].iloc[[1, 3]])
    assert again.adjusted_in_words(found, names[1]).startswith('Adjusting for "batch" removes ')
    assert again.adjusted_in_words(found, names[2]) == 'Adjusting for "noise" changes no edge.'
    exposed = Adjustment(2000, exposure=np.ones(2000))
    assert [name for name, _ in again.searches(exposed)] == ["with all", "without any"]


def test_quantile_levels_are_those_of_rates():
    """Levels of counts would follow the depth; levels of rates do not, and the depth is a covariate."""
    random = np.random.default_rng(3)
    depth = random.lognormal(0, 0.5, 3000)
    table = pd.DataFrame({"a": random.poisson(9 * depth), "b": random.poisson(8 * depth), "depth": depth})
    settings = Settings(transform="quantile")
    told = refine(table, ALONE, settings=settings, roles={"depth": "exposure"})
    untold = refine(table, ALONE, settings=settings, roles={"depth": "ignore"})
    assert told.edges.empty and len(untold.edges) == 1


def test_covariates_are_told_apart_by_place_not_by_name():
    """A covariate called `exposure` beside the exposure of quantile levels, or two of the same name."""
    random = np.random.default_rng(10)
    depth, noise = random.lognormal(0, 0.6, 1500), random.normal(size=1500)
    counts = pd.DataFrame(random.poisson(3 * depth[:, None], (1500, 4)), columns=list("abcd"))
    adjustment = Adjustment(1500, (Covariate("exposure", "continuous", noise),), depth)
    found = refine(counts, ALONE, settings=Settings(transform="quantile"), roles=adjustment)
    assert found.edges.empty
    names = [name for name, _ in again.searches(adjustment)]
    assert len(set(names)) == len(names) == 4
    twice = bases(Adjustment(1500, (Covariate("z", "continuous", noise), Covariate("z", "continuous", depth))))
    other = Adjustment(1500, (adjustment.covariates[0], Covariate("z", "continuous", depth)))
    assert abs(np.corrcoef(twice[1].at(other)[:, 0], depth)[0, 1]) > 0.99


def test_what_a_part_of_the_rows_lacks_changes_nothing():
    """A covariate that is constant there, a level that is not there, and far values have no effect of their own."""
    codes, far = np.arange(90) % 3, np.linspace(-1, 1, 90)
    sorts = (
        Covariate("flag", "continuous", (np.arange(90) == 89).astype(float)),
        Covariate("level", "categorical", codes, tuple("xyz")),
        Covariate("far", "continuous", np.where(np.arange(90) == 89, 1e4, far)),
    )
    whole = Adjustment(90, sorts)
    part = bases(whole.take((codes < 2) & (np.arange(90) < 89)))
    assert len(part[0].kinds) == 0 and part[0].at(whole).shape == (90, 0)
    assert not part[1].at(whole)[codes == 2].any() and part[1].at(whole)[codes < 2].all()
    assert np.abs(part[2].at(whole)).max() < 10
    random = np.random.default_rng(11)
    table = pd.DataFrame({"a": random.poisson(2, 90), "b": random.poisson(3, 90)})
    assert np.isfinite(check(table, {"empty": {}}, adjustment=whole, simulations=2, folds=3).scores["mean"]).all()


def test_rates_keep_what_deep_rows_tell():
    exposure = np.where(np.arange(100) < 80, 1.0, 60.0)
    counts = np.where(exposure > 1, np.arange(100) % 4, np.arange(100) % 7)[:, None]
    found = rates(counts, Adjustment(100, exposure=exposure))[:, 0]
    assert (np.sign(found[80:]) == np.sign(counts[80:, 0])).mean() > 0.7  # 1 of 60 may round to 0, more do not
    constant = pd.DataFrame({"a": np.arange(1, 101) * 4, "b": np.arange(100) % 3})
    model = Model.of(constant, {"b": ["a"]}, adjustment=Adjustment(100, exposure=np.arange(1, 101) * 4.0))
    assert np.isfinite(model.log_likelihood).all()


def test_rows_that_are_copies_count_once():
    """The evidence on a table whose rows come five times each, in groups, is that on the rows once."""
    random = np.random.default_rng(12)
    a = random.poisson(3, 800)
    once = pd.DataFrame({"a": a, "b": random.poisson(1 + 0.3 * a), "c": random.poisson(2, 800)})
    five = once.loc[np.repeat(np.arange(800), 5)].reset_index(drop=True)
    single = refine(once, ALONE).edges.iloc[0]
    grouped = refine(five.assign(row=np.repeat(np.arange(800), 5)), ALONE, roles={"row": "group"}).edges
    assert len(grouped) == 1
    for name in ("log_likelihood_nats", "direction_nats", "gain_nats"):
        assert grouped.iloc[0][name] == pytest.approx(single[name], rel=0.2, abs=1.5)
    untold = refine(five, ALONE).edges.iloc[0]
    assert untold["log_likelihood_nats"] > 4 * single["log_likelihood_nats"]
    for rows, error in ((2, 0.2), (40, 0.5)):  # groups whose rows have nothing in common
        alone = refine(once.assign(row=np.arange(800) // rows), ALONE, roles={"row": "group"}).edges.iloc[0]
        assert alone["log_likelihood_nats"] == pytest.approx(single["log_likelihood_nats"], rel=error)


def test_edges_that_only_alike_rows_give_are_left_out_unless_required():
    random = np.random.default_rng(17)
    group = np.repeat(np.arange(60), 40)
    shift = random.normal(0, 0.8, (60, 2))[group]
    table = pd.DataFrame(random.poisson(np.exp(1.3 + shift)), columns=["a", "b"])
    assert len(refine(table, ALONE).edges) == 1
    told = refine(table.assign(g=group), ALONE, roles={"g": "group"})
    assert told.edges.empty and "rows within groups are similar" in " ".join(told.notes)
    kept = refine(table.assign(g=group), ALONE, roles={"g": "group"}, knowledge=Knowledge(required=["a → b"]))
    assert len(kept.edges) == 1
    random = np.random.default_rng(0)  # a search that finds no edge has no evidence to divide
    independent = pd.DataFrame({"a": random.poisson(3, 600), "b": random.poisson(3, 600), "g": np.arange(600) // 5})
    assert refine(independent, ALONE, roles={"g": "group"}).edges.empty
