"""The rodents near Portal: their table, what the experiment says, and graphs held against it."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from disco import portal
from disco.errors import InputError
from disco.found import Found
from disco.refine import Refined
from disco.table.roles import Roles


def test_a_table_has_one_column_per_choice_and_place_and_time():
    rows = portal.captures()
    control = rows[rows["plot_type"] == "Control"]
    table = portal.table(species=("kangaroo rats", "PB", "OT"))
    assert table.columns.tolist() == ["kangaroo rats", "PB", "OT", "plot_id", "year", "month"]
    assert len(table) == len(control) == 2192 and table.dtypes.eq("int64").all()
    assert table["kangaroo rats"].tolist() == (control["DM"] + control["DO"] + control["DS"]).tolist()
    assert table["PB"].sum() == 789 and set(table["plot_id"]) == {2, 4, 8, 11, 12, 14, 17, 22}
    assert len(portal.table(portal.PLOTS)) == len(rows) == 5975


def test_every_species_of_the_file_has_a_name():
    assert set(portal.captures().columns) - {"plot_type", *portal.PLACE_AND_TIME} == set(portal.SPECIES)
    assert {part for parts in portal.GROUPS.values() for part in parts} <= set(portal.SPECIES)


@pytest.mark.parametrize(
    ("plots", "species", "sentence"),
    [
        ((), ("DM", "OT"), "Choose at least one kind of plot."),
        (("Moon",), ("DM", "OT"), 'There are no plots "Moon"; there are Control, '),
        (("Control",), ("DM",), "Choose at least two species"),
        (("Control",), ("DM", "XX"), 'There is no species "XX"; there are kangaroo rats, '),
        (
            ("Control",),
            ("DM", "OT", "kangaroo rats"),
            "DM is one of the kangaroo rats: choose the species or the group",
        ),
        (("Spectab exclosure",), ("OT", "SO"), "SO does not vary on these plots: leave it out"),
    ],
)
def test_choices_that_make_no_table_are_refused(plots, species, sentence):
    with pytest.raises(InputError, match=sentence):
        portal.table(plots, species)


def test_roles_of_place_and_time():
    assert portal.adjusted() == Roles(
        {
            "plot_id": ("covariate", "categorical"),
            "year": ("covariate", "categorical"),
            "month": ("covariate", "continuous"),
        }
    )
    assert portal.adjusted(None, None, None) == portal.UNADJUSTED and portal.UNADJUSTED.needed() is None


def test_the_interval_of_a_ratio_by_hand():
    """Means 3 and 2 with squared relative errors 1/9 and 1/12."""
    ratio, low, high = portal.ratio_of_means(np.array([2.0, 4.0]), np.array([1.0, 2.0, 3.0]))
    freedom = (1 / 9 + 1 / 12) ** 2 / ((1 / 9) ** 2 / 1 + (1 / 12) ** 2 / 2)
    half = stats.t.ppf(0.975, freedom) * np.sqrt(7 / 36)
    assert (ratio, low, high) == pytest.approx((1.5, 1.5 * np.exp(-half), 1.5 * np.exp(half)))


def test_with_means_of_one_the_interval_is_welchs():
    inside, outside = np.array([0.7, 1.2, 0.9, 1.2]), np.array([0.5, 1.4, 1.1, 1.3, 0.7])
    ratio, low, high = portal.ratio_of_means(inside, outside)
    welch = stats.ttest_ind(inside, outside, equal_var=False).confidence_interval()
    assert ratio == pytest.approx(1) and (np.log(low), np.log(high)) == pytest.approx((welch.low, welch.high))


def test_a_mean_of_zero_has_no_interval():
    ratio, low, high = portal.ratio_of_means(np.zeros(3), np.array([1.0, 2.0]))
    assert ratio == 0 and np.isnan([low, high]).all()
    assert np.isnan(portal.ratio_of_means(np.array([1.0, 2.0]), np.zeros(3))).all()
    assert portal.verdict(portal.NONE, False, np.nan, low, high)[0] == portal.OPEN


@pytest.fixture
def tiny(monkeypatch) -> portal.Comparison:
    """Two controls and two exclosures; the third session misses a control, the last is of another year."""
    control, closed = "Control", "Long-term Krat Exclosure"
    lines = [
        (1, control, 1990, 1, 4, 1), (2, control, 1990, 1, 2, 0), (3, closed, 1990, 1, 0, 3),
        (4, closed, 1990, 1, 1, 1),
        (1, control, 1990, 2, 6, 0), (2, control, 1990, 2, 4, 1), (3, closed, 1990, 2, 0, 5),
        (1, control, 1990, 3, 9, 9), (3, closed, 1990, 3, 9, 9), (4, closed, 1990, 3, 9, 9),
        (1, control, 1991, 1, 9, 9), (2, control, 1991, 1, 9, 9), (3, closed, 1991, 1, 9, 9),
        (5, "Rodent Exclosure", 1990, 1, 9, 9),
    ]  # fmt: skip # a table
    rows = pd.DataFrame(lines, columns=["plot_id", "plot_type", "year", "month", "DM", "PB"])
    monkeypatch.setattr(portal, "captures", lambda: rows)
    return portal.Comparison("tiny", (closed,), 1990, 1990)


def test_means_by_plot_by_hand(tiny):
    """Two sessions have both controls; plot 4 has no row in the second, so no captures."""
    found = portal.plot_means(["DM", "PB"], tiny)
    assert found["plot_id"].tolist() == [1, 2, 3, 4] and set(found["sessions"]) == {2}
    assert found["is_control"].tolist() == [True, True, False, False]
    assert found["DM"].tolist() == [5.0, 3.0, 0.0, 0.5] and found["PB"].tolist() == [0.5, 0.5, 4.0, 0.5]


def test_the_experiment_by_hand(tiny):
    row = portal.experiment(["PB"], tiny).iloc[0]
    assert (row["control"], row["exclosure"], row["ratio"]) == pytest.approx((0.5, 2.25, 4.5))
    assert (row["low"], row["high"]) == pytest.approx(
        portal.ratio_of_means(np.array([4, 0.5]), np.array([0.5, 0.5]))[1:]
    )


def test_kangaroo_rats_are_kept_out_and_suppress_pocket_mice():
    found = portal.experiment(portal.USUAL).set_index("species")
    assert found.loc["kangaroo rats", "high"] < 0.2
    assert found.loc[["pocket mice", "PM", "RM"], "low"].gt(1.3).all()
    assert found.loc[["NL", "OL", "OT", "PE"], "low"].lt(1).all() and found.loc[["NL", "OT"], "high"].gt(1).all()
    long = portal.experiment(["pocket mice"], portal.COMPARISONS["long"]).iloc[0]
    assert (long["control"], long["exclosure"]) == pytest.approx((1.07, 2.30), abs=0.005) and long["low"] > 1.3


def test_before_1988_the_short_term_plots_were_open():
    before = portal.experiment(["kangaroo rats", "pocket mice"], portal.COMPARISONS["before"]).set_index("species")
    assert before.loc["kangaroo rats", "ratio"] > 0.8 and before.loc["pocket mice", "low"] < 1


@pytest.mark.parametrize(
    ("arrow", "decided", "without", "low", "high", "expected"),
    [
        ("→", True, 2.0, 1.1, 3.0, portal.SUPPORTED),
        ("→", True, 0.5, 0.2, 0.9, portal.SUPPORTED),
        ("→", True, 0.5, 1.1, 3.0, portal.CONTRADICTED),
        ("→", True, 2.0, 0.2, 0.9, portal.CONTRADICTED),
        ("→", False, 2.0, 1.1, 3.0, portal.OPEN),
        ("←", True, np.nan, 1.1, 3.0, portal.CONTRADICTED),
        ("←", False, np.nan, 1.1, 3.0, portal.OPEN),
        ("through others", False, np.nan, 1.1, 3.0, portal.OPEN),
        ("no way", False, np.nan, 1.1, 3.0, portal.CONTRADICTED),
        ("no way", False, np.nan, 0.9, 3.0, portal.OPEN),
        ("→", True, 2.0, 0.9, 3.0, portal.OPEN),
    ],
)
def test_verdicts(arrow, decided, without, low, high, expected):
    assert portal.verdict(arrow, decided, without, low, high)[0] == expected


def graph_of(order: list[str], *edges: tuple[str, str, bool]) -> Refined:
    """A refinement with these edges (parent, child, decided)."""
    frame = pd.DataFrame(edges, columns=["parent", "child", "decided"]).assign(gain_nats=1.0)
    return Refined(Found(order, frame), pd.DataFrame(), "sorted", 0.0, 1, 1)


def test_what_a_graph_says_of_a_pair():
    """Forwards with the curve's effect; no way; through an undecided arrow that may point either way."""
    table = portal.table(species=("kangaroo rats", "pocket mice", "RM", "PM"))
    found = portal.experiment(("pocket mice", "RM", "PM"))
    order = ["kangaroo rats", "RM", "pocket mice", "PM"]
    refined = graph_of(order, ("kangaroo rats", "pocket mice", True), ("RM", "pocket mice", False))
    pairs = portal.verdicts(refined, table, portal.UNADJUSTED, found).set_index("species")
    assert pairs["arrow"].to_dict() == {"pocket mice": "→", "RM": "through others", "PM": "no way"}
    assert pairs["verdict"].to_dict() == {"pocket mice": "supported", "RM": "cannot say", "PM": "contradicted"}
    assert pairs.loc["pocket mice", "without"] > 1.5 and pairs["without"].isna().sum() == 2
    decided = graph_of(order, ("kangaroo rats", "pocket mice", True), ("RM", "pocket mice", True))
    again = portal.verdicts(decided, table, portal.UNADJUSTED, found).set_index("species")
    assert again.loc["RM", "verdict"] == "contradicted"
    assert portal.verdicts(refined, table[["RM", "PM"]], None, found).empty


def test_one_kangaroo_rat_of_several_is_not_contradicted_alone():
    table = portal.table(species=("DM", "DS", "PB"))
    found = portal.experiment(("PB",))
    pairs = portal.verdicts(graph_of(["DS", "PB", "DM"], ("DS", "PB", False)), table, portal.UNADJUSTED, found)
    assert pairs["verdict"].tolist() == ["cannot say"] * 2 and "Another of the" in pairs["why"][0]
    pairs = portal.verdicts(graph_of(["DS", "PB", "DM"], ("PB", "DM", True)), table, portal.UNADJUSTED, found)
    assert pairs["verdict"].tolist() == ["contradicted"] * 2


def test_without_a_covariate_one_search_serves_for_both():
    table = portal.table(species=("kangaroo rats", "pocket mice"))
    stages = []
    first, second = portal.searched(table, portal.UNADJUSTED, callback=lambda event: stages.append(event.stage))
    assert first is second and set(stages) == {"without roles"}


@pytest.mark.parametrize(
    "species", [portal.USUAL, ("DM", "DO", "DS", "PB", "PF", "PP", "NL", "OL", "OT", "PE", "PM", "RM")]
)
def test_adjusted_no_decided_direction_is_against_the_experiment(species):
    table, roles = portal.table(species=species), portal.adjusted()
    found = portal.experiment(species)
    alone, adjusted = portal.searched(table, roles)
    assert len(adjusted.edges) < len(alone.edges) / 2  # most were effects of place and time
    pairs = portal.verdicts(adjusted, table, roles, found)
    assert not (pairs["decided"] & (pairs["verdict"] == portal.CONTRADICTED)).any()
    if "kangaroo rats" in species:
        before = portal.verdicts(alone, table, portal.UNADJUSTED, found).set_index("species")
        after = pairs.set_index("species")
        assert before.loc["pocket mice", "without"] > 2 and 0.9 < after.loc["pocket mice", "without"] < 1.2
