"""Contrasts of interventions: by hand, by simulation, what they refuse, and what they say of the arrows of a graph."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from disco.errors import InputError
from disco.experiments import arrows, contrasts, learnt, remarks
from disco.experiments.contrasts import CHANGED, KINDS, REFUTED, SAME, SEEMS, UNSURE, kinds
from disco.experiments.rules import CANNOT_SAY, CONTRADICTED, OPEN, SUPPORTED, is_change, is_left_alone
from disco.knowledge import Knowledge
from disco.table.prepared import prepare
from disco.table.roles import Roles, unusable_rows

GUIDE = {"guide": "intervention"}


def compared(table, roles=GUIDE, **more):
    return contrasts(prepare(table, roles), **more).set_index(["arm", "node"])


def trial(rng, rows=400, treated=100, effect=1.0, **more):
    """A table of three columns in which setting a multiplies the mean of b."""
    arm = np.arange(rows) < treated
    table = pd.DataFrame({"a": rng.poisson(np.where(arm, 12, 4)), "b": rng.poisson(np.where(arm, 5 * effect, 5))})
    return table.assign(c=rng.poisson(6, rows), guide=np.where(arm, "a", ""), **more)


def test_a_table_by_hand(rng):
    table = pd.DataFrame({"a": [0] * 10 + [3, 5] * 10, "b": [4, 8] * 5 + [2, 4] * 10})
    table["guide"] = ["a"] * 10 + [None] * 20
    row = compared(table).loc["a", "b"]
    assert (row["control"], row["treated"], row["ratio"]) == (3, 6, 2)
    error = np.sqrt(30 / 29 * (10 * 4 / 60**2 + 20 * 1 / 60**2))  # of the sum's parts: 10 · 2² and 20 · 1²
    assert [row["high"], 4 / row["low"]] == pytest.approx([2 * np.exp(2.0484071418 * error)] * 2)
    assert row["p_value"] < 1e-3 and row["targets"] == ("a",) and ("a", "a") not in compared(table).index


def test_strata_undo_what_an_uneven_assignment_makes(rng):
    """Season b has twice the counts and most of the treated rows; within seasons nothing changes."""
    season = np.repeat(["dry", "wet"], 500)
    arm = rng.random(1000) < np.where(season == "wet", 0.6, 0.1)
    level = np.where(season == "wet", 10, 5)
    table = pd.DataFrame({"a": rng.poisson(3, 1000), "b": rng.poisson(level), "season": season})
    table = table.assign(guide=np.where(arm, "a", "none"))
    raw = compared(table, {**GUIDE, "season": "ignore"}).loc["a", "b"]
    within = compared(table, {**GUIDE, "season": "covariate"}).loc["a", "b"]
    assert raw["ratio"] > 1.3 and raw["p_value"] < 1e-6
    assert within["low"] < 1 < within["high"] and within["p_value"] > 0.01
    assert within["ratio"] == pytest.approx(1, abs=0.1)


def test_groups_in_one_arm_are_the_units(rng):
    """Twelve plots whose levels differ by chance: as rows they would be sure, as plots they are not."""
    plot = np.repeat(np.arange(12), 50)
    level = rng.gamma(4, 2, 12)[plot]
    table = pd.DataFrame({"a": rng.poisson(3, 600), "b": rng.poisson(level), "plot": plot.astype(str)})
    table["guide"] = np.where(plot < 6, "a", "control")
    alone, grouped = (compared(table, {**GUIDE, "plot": role}).loc["a", "b"] for role in ("ignore", "group"))
    assert grouped["units"] == 6 and alone["units"] == 300
    assert np.log(grouped["high"] / grouped["low"]) > 4 * np.log(alone["high"] / alone["low"])
    assert grouped["p_value"] > 0.02 > alone["p_value"]


def test_a_plot_seen_in_many_years_is_one_unit(rng):
    """Years are strata and plots are units: what lasts in a plot does not count once per year."""
    plot, year = np.repeat(np.arange(14), 60), np.tile(np.repeat(np.arange(6), 10), 14)
    level = rng.gamma(4, 2, 14)[plot] * np.linspace(1, 2, 6)[year]
    table = pd.DataFrame({"a": rng.poisson(3, 840), "b": rng.poisson(level), "plot": plot.astype(str)})
    table = table.assign(year=year.astype(str), guide=np.where(plot < 7, "a", "control"))
    by_year, once = (compared(table, {**GUIDE, "plot": "group", "year": role}) for role in ("covariate", "ignore"))
    both = [found.loc["a", "b"] for found in (by_year, once)]
    assert [row["units"] for row in both] == [7, 7] and [row["rows"] for row in both] == [420, 420]
    assert both[0]["p_value"] == pytest.approx(both[1]["p_value"], abs=0.03)
    widths = [np.log(row["high"] / row["low"]) for row in both]
    assert widths[0] == pytest.approx(widths[1], rel=0.1)


def test_permutations_agree_with_all_of_them(rng):
    table = pd.DataFrame({"a": rng.poisson(3, 21), "b": rng.poisson(np.where(np.arange(21) < 10, 9, 5))})
    row = compared(table.assign(guide=np.where(np.arange(21) < 10, "a", ""))).loc["a", "b"]
    values, sums = table["b"].to_numpy(), []
    for chosen in itertools.combinations(range(21), 10):
        sums.append(values[list(chosen)].sum())
    apart = np.abs(np.array(sums) - 10 * values.mean())
    exact = (apart >= abs(values[:10].sum() - 10 * values.mean()) - 1e-9).mean()
    assert row["p_value"] == pytest.approx(exact, abs=4 * np.sqrt(exact / 9999) + 1e-3)


def test_without_an_effect_p_values_are_even_and_intervals_hold():
    found = []
    for seed in range(70):
        rng = np.random.default_rng(seed)
        found.append(compared(trial(rng, treated=rng.choice([30, 120]))).loc[[("a", "b"), ("a", "c")]])
    all_of_them = pd.concat(found)
    assert (all_of_them["p_value"] < 0.05).mean() == pytest.approx(0.05, abs=0.04)
    assert ((all_of_them["low"] < 1) & (all_of_them["high"] > 1)).mean() > 0.9
    assert all_of_them["changed"].mean() < 0.06


def test_the_margin_says_what_counts_as_unchanged(rng):
    table = trial(rng, rows=40_000, treated=20_000)
    assert compared(table).loc["a", "c"]["unchanged"] and not compared(table, margin=1e-4).loc["a", "c"]["unchanged"]
    assert not compared(trial(rng)).loc["a", "c"]["unchanged"]  # too few rows to say so


def test_what_the_controls_lead_to_expect_by_hand(rng):
    """b = 2 + a among the controls, and a is raised by 3: an effect raises b by 3, a hidden cause by 0."""
    a = np.tile([2, 4], 200)
    table = pd.DataFrame({"a": a, "b": 2 + a, "c": rng.poisson(6, 400), "guide": ["a"] * 100 + [""] * 300})
    table.loc[:99, "a"] = 6
    for rise in (0, 3):
        table.loc[:99, "b"] = np.tile([4, 6], 50) + rise
        row = compared(table).loc["a", "b"]
        error = np.log(row["high"] / row["low"]) / (2 * student.ppf(0.975, 398))
        assert row["ratio"] == pytest.approx(1 + rise / 5)
        expected = (np.log(1 + rise / 5) * np.log(1.6) - np.log(1.6) ** 2 / 2) / error**2
        assert row["acts_nats"] == pytest.approx(expected)
        assert is_change(row) == (rise == 3) and is_left_alone(row) == (rise == 0)


def test_an_arm_that_does_not_move_its_target_excludes_nothing(rng):
    """As with labels at random: b is the same in both, but so is a."""
    table = trial(rng, rows=40_000, treated=20_000).assign(a=rng.poisson(5, 40_000))
    found = contrasts(prepare(table, GUIDE))
    told = learnt(found, ["a", "b", "c"])
    assert found["unchanged"].all() and not found["moved"].any() and not told.rules.forbidden.any()
    assert 'The arm "a" leaves "a" itself as it is' in told.notes[0]


def test_what_goes_along_with_the_target_is_a_family_of_its_own(rng):
    """One effect of p near .004 among 300 others: it counts where the node goes along with the target."""
    table = pd.DataFrame(rng.poisson(5, (3000, 300))).add_prefix("n")
    table["a"], arm = rng.poisson(5, 3000), np.arange(3000) < 300
    table["b"] = rng.poisson(1 + table["a"])
    table["guide"] = np.where(arm, "a", "control")
    table.loc[arm, "a"] = 0
    same = np.quantile(table.loc[~arm, "b"], (np.arange(300) + 0.5) / 300, method="nearest")
    table.loc[arm, "b"] = same + (np.arange(300) < 165)  # the mean rises by 2.7 of its standard errors
    row = compared(table).loc["a", "b"]
    assert 1e-3 < row["p_value"] < 0.02 and row["changed"] and row["q_value"] < 0.05
    assert compared(table)["changed"].sum() == 1


def test_an_exposure_makes_rates(rng):
    table = trial(rng, rows=2000, treated=500)
    depth = np.where(table["guide"] == "a", 3.0, 1.0)
    table = table.assign(b=rng.poisson(5 * depth), depth=depth)
    assert compared(table, {**GUIDE, "depth": "exposure"}).loc["a", "b"]["ratio"] == pytest.approx(1, abs=0.05)
    assert compared(table, {**GUIDE, "depth": "ignore"}).loc["a", "b"]["ratio"] == pytest.approx(3, abs=0.15)


def test_several_targets_and_mapped_labels(rng):
    table = trial(rng).assign(guide=["x1"] * 50 + ["a; b"] * 50 + ["nt"] * 300)
    roles = Roles(GUIDE, targets={"x1": ["a"], "nt": []})
    found = compared(table, roles)
    assert set(found.index.get_level_values("arm")) == {"x1", "a; b"}
    assert found.loc["a; b"]["targets"].iloc[0] == ("a", "b") and list(found.loc["a; b"].index) == ["c"]
    assert Roles.from_dict(roles.to_dict()) == roles


def test_an_arm_that_cannot_be_compared_is_said(rng):
    table = trial(rng).assign(site=["s", "t"] * 50 + ["u", "v"] * 150)
    with pytest.raises(InputError, match='No level of the covariate "site" has both controls and rows of the arm "a"'):
        prepare(table, {**GUIDE, "site": "covariate"})
    table = table.assign(
        site=["s", "t"] * 200, year=np.where(table["guide"] == "a", table.index % 2, 1 - table.index % 2)
    )
    found = contrasts(prepare(table.astype({"year": str}), {**GUIDE, "site": "covariate", "year": "covariate"}))
    assert found["ratio"].isna().all() and not found["changed"].any() and (found["rows"] == 0).all()
    assert 'No row of the arm "a" has a control with like values' in learnt(found, ["a", "b", "c"]).notes[0]


def test_no_row_is_unusable_for_its_labels(rng):
    assert not unusable_rows(trial(rng), Roles(GUIDE))


@pytest.mark.parametrize(
    ("guide", "targets", "said"),
    [
        (["q"] * 50 + [""] * 350, {}, '"q" in the intervention "guide" is not a count column'),
        (["q"] * 50 + [""] * 350, {"q": ["z"]}, 'The label "q" of "guide" sets "z", which is not a count column'),
        (["site"] * 50 + [""] * 350, {}, 'The intervention "guide" sets "site", whose role is covariate: make'),
        (["a"] * 9 + [""] * 391, {}, 'The arm "a" of "guide" has 9 rows, and at least 10'),
        (["a"] * 400, {}, 'No row of "guide" is a control'),
        (["none"] * 400, {}, 'Every row of "guide" is a control'),
        (["a"] * 50 + [""] * 350, {"a": "b"}, 'The targets of "a" must be a list'),
    ],
)
def test_bad_labels_are_said(rng, guide, targets, said):
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        prepare(
            trial(rng).assign(guide=guide, site=["s", "t"] * 200), Roles(GUIDE | {"site": "covariate"}, targets=targets)
        )


def test_rules_from_contrasts_and_which_are_left_out(rng):
    names = ["a", "b", "c"]
    both = pd.concat([trial(rng, effect=3.0), trial(rng, treated=0)], ignore_index=True)
    both.loc[500:699, "guide"] = "b"
    both.loc[500:699, "b"] = 0
    both.loc[500:699, "a"] = rng.poisson(6, 200)  # b acts on a too, less strongly
    found = contrasts(prepare(both, GUIDE))
    told = learnt(found, names)
    assert told.before[0, 1] and not told.before[1, 0] and len(told.notes) == 1
    assert 'Setting "b" changes "a"' in told.notes[0] and '"a" before "b" (experiment)' in told.notes[0]
    known = Knowledge(tiers=[["b"], ["a"]]).resolve(names)
    told = learnt(found, names, known)
    assert not told.before.any() and told.rules.before[1, 0] and '"b" before "a" (knowledge)' in told.notes[0]
    required = Knowledge(required=["a → c"]).resolve(names)
    level = rng.gamma(8, 1 / 8, 40_000)  # a hidden cause of a and c
    shared = trial(rng, rows=40_000, treated=20_000).assign(c=rng.poisson(6 * level))
    shared.loc[20_000:, "a"] = rng.poisson(4 * level[20_000:])
    even = contrasts(prepare(shared, GUIDE))
    told, kept = learnt(even, names), learnt(even, names, required)
    assert told.rules.forbidden[0, 2] and not told.before.any() and not told.notes
    assert kept.rules.required[0, 2] and not kept.rules.forbidden[0, 2] and "The knowledge was kept" in kept.notes[0]
    assert learnt(contrasts(prepare(both.drop(columns="guide"))), names).rules is None


def test_means_of_controls_are_those_of_the_arms_strata(rng):
    """Three quarters of the arm are at the rich site, a quarter of the controls: a acts on b, and nothing on c."""
    rich = np.concatenate([np.arange(4000) % 4 == 0, np.arange(4000) % 4 > 0])
    treated = np.arange(8000) >= 4000
    a = rng.poisson(np.where(treated, 2.0, 4.0) * np.where(rich, 2, 1))
    table = pd.DataFrame({"a": a, "b": rng.poisson(1 + a), "c": rng.poisson(np.where(rich, 9.0, 3.0))})
    table = table.assign(guide=np.where(treated, "a", ""), site=np.where(rich, "rich", "poor"))
    found = contrasts(prepare(table, {**GUIDE, "site": "covariate"})).set_index("node")
    assert found.loc["c", "control"] == pytest.approx(0.75 * 9 + 0.25 * 3, rel=0.03)
    assert found.loc["c", "treated"] == pytest.approx(found.loc["c", "control"], rel=0.03)
    assert found.loc["b", "control"] == pytest.approx(1 + 4 * 1.75, rel=0.03)
    assert found.loc["b", "expected"] == pytest.approx(found.loc["b", "ratio"], rel=0.1)
    assert found.loc["b", "ratio"] == pytest.approx((1 + 2 * 1.75) / (1 + 4 * 1.75), rel=0.05)


@pytest.fixture(scope="module")
def chain() -> pd.DataFrame:
    """a → b → c, and d apart; b is set in 300 rows and c in 300."""
    rng, rows = np.random.default_rng(3), 3600
    arm = np.array([""] * 3000 + ["b"] * 300 + ["c"] * 300)
    a = rng.poisson(4, rows)
    b = np.where(arm == "b", 1, rng.poisson(1 + 1.2 * a))
    c = np.where(arm == "c", 20, rng.poisson(1 + 0.8 * b))
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": rng.poisson(4, rows), "arm": arm})


def verdicts_of(table: pd.DataFrame, *pairs: tuple[str, str]) -> dict[tuple[str, str], tuple[str, str]]:
    found = arrows(pd.DataFrame(pairs, columns=["parent", "child"]), contrasts(prepare(table, {"arm": "intervention"})))
    return {(row.parent, row.child): (row.verdict, row.why) for row in found.itertuples()}


def test_arrows_are_supported_contradicted_or_neither(chain):
    found = verdicts_of(chain, ("b", "c"), ("c", "b"), ("b", "a"), ("a", "b"), ("a", "d"), ("b", "d"))
    assert found["b", "c"][0] == SUPPORTED and 'Setting "b" changes "c"' in found["b", "c"][1]
    assert found["c", "b"][0] == CONTRADICTED and "its supposed cause" in found["c", "b"][1]
    assert found["b", "a"] == (CONTRADICTED, found["b", "a"][1]) and 'leaves "a" as it was' in found["b", "a"][1]
    assert found["a", "b"][0] == CANNOT_SAY and "a hidden cause of both would too" in found["a", "b"][1]
    assert found["b", "d"][0] == CANNOT_SAY and ("a", "d") not in found


def test_an_edge_of_open_direction_is_neither_supported_nor_contradicted(chain):
    edges = pd.DataFrame([("b", "c", True), ("c", "b", False)], columns=["parent", "child", "decided"])
    found = arrows(edges, contrasts(prepare(chain, {"arm": "intervention"})))
    assert found["verdict"].tolist() == [SUPPORTED, OPEN] and 'changes "c"' in found["why"][1]


@pytest.mark.parametrize("kind", KINDS)
def test_what_falls_short_of_a_rule_is_called_what_the_contrasts_call_it(kind):
    row = {"arm": "b", "node": "c", "targets": ("b",), "ratio": 2.0, "q_value": 0.03, "acts_nats": 0.0, "kind": kind}
    frame = pd.DataFrame([row]).assign(changed=kind == CHANGED, excluded=False, moved=True, expected=3.0)
    found = arrows(pd.DataFrame([("b", "c"), ("c", "b")], columns=["parent", "child"]), frame)
    words = {CHANGED: "changed .*A rule for arrows needs more", SEEMS: "seems to have changed", SAME: "left "}
    words[REFUTED] = "predict 3.00 times. .* gave 2.00 times, so an effect of that size is refuted"
    assert found["why"].str.contains(words.get(kind, "too uncertain")).all()
    assert found["verdict"].tolist() == [REFUTED if kind == REFUTED else CANNOT_SAY, CANNOT_SAY]


def test_an_interval_that_excludes_one_seems_a_change():
    low, high = [1.2, 1.2, 0.8, 0.95, 1.02, np.nan], [2.0, 2.0, 2.0, 1.05, 1.08, np.nan]
    frame = pd.DataFrame({"low": low, "high": high, "changed": [True, *[False] * 5], "moved": True, "acts_nats": -1.0})
    frame = frame.assign(unchanged=frame["high"] < 1.1)
    assert kinds(frame).tolist() == [CHANGED, SEEMS, UNSURE, SAME, SAME, UNSURE]
    assert kinds(frame.assign(acts_nats=-4)).tolist() == [CHANGED, SEEMS, REFUTED, SAME, SAME, REFUTED]
    assert UNSURE in kinds(frame.assign(acts_nats=-4, moved=False)).tolist()


def test_groups_as_units_and_uneven_arms_are_said():
    rng, rows = np.random.default_rng(0), 600
    plot = np.repeat(np.arange(12), 50)
    table = pd.DataFrame({"a": rng.poisson(4, rows), "b": rng.poisson(5, rows), "plot": plot.astype(str)})
    table["arm"] = np.where(plot < 4, "a", "control")
    table["age"] = rng.normal(np.where(plot < 4, 52.0, 40.0), 8)
    table["site"] = np.where(rng.random(rows) < np.where(plot < 4, 0.9, 0.3), "north", "south")
    given = prepare(table, {"arm": "intervention", "plot": "group", "age": "covariate", "site": "covariate"})
    said = remarks(given, contrasts(given))
    assert len(said) == 3 and 'groups are the units: 4 groups in "a"' in said[0] and "cannot be told" not in said[0]
    assert 'differs from the controls in "age" (mean 5' in said[1] and "of 200 of the arm" in said[1]
    assert '"north" in ' in said[2] or '"south" in ' in said[2]
    one_each = table[["a", "b", "arm"]].assign(plot=np.where(plot < 4, "p", np.where(plot < 8, "q", "r")))
    two = prepare(one_each, {"arm": "intervention", "plot": "group"})
    assert "1 group in" in (words := remarks(two, contrasts(two))[0]) and "cannot be told" in words


def test_an_even_trial_needs_no_remark():
    said = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame({"a": rng.poisson(4, 300), "b": rng.poisson(5, 300), "age": rng.normal(40, 8, 300)})
        table = table.assign(arm=np.where(np.arange(300) < 30, "a", ""), site=rng.choice(["n", "s", "w"], 300))
        given = prepare(table, {"arm": "intervention", "age": "covariate", "site": "covariate"})
        said += len(remarks(given, contrasts(given)))
    assert said <= 1


def test_levels_of_a_context_are_compared_with_the_controls(chain):
    table = chain.assign(arm=np.where(chain["arm"] == "b", "drug", np.where(chain["arm"] == "c", "sham", "control")))
    found = contrasts(prepare(table, {"arm": ("context", "randomised")})).set_index(["arm", "node"])
    assert [*found.index] == [(arm, node) for arm in ("drug", "sham") for node in "abcd"]
    assert found.loc[("drug", "c"), "changed"] and found.loc[("drug", "a"), "unchanged"]
    chosen, drawn = (prepare(table, {"arm": kind}) for kind in ("context", ("context", "randomised")))
    assert 'levels of "arm" were not assigned by chance' in remarks(chosen, contrasts(chosen))[0]
    assert not remarks(drawn, contrasts(drawn))
    assert (found["targets"].map(len) == 0).all() and found["expected"].isna().all()
