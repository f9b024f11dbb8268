"""The rodents near Portal: their table, what the experiment says, and graphs held against it."""

import pandas as pd
import pytest

from disco import experiments
from disco.errors import InputError
from disco.experiments.rules import CONTRADICTED
from disco.refine import QUICK, refine
from disco.subjects.studies import portal
from disco.table.prepared import prepare
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
        (("Control",), ("DM", "kangaroo rats"), "DM is one of the kangaroo rats: choose the species or the group"),
        (("Spectab exclosure",), ("OT", "SO"), "SO does not vary on these plots: leave it out"),
    ],
)
def test_choices_that_make_no_table_are_refused(plots, species, sentence):
    with pytest.raises(InputError, match=sentence):
        portal.table(plots, species)


def test_roles_of_place_and_time():
    kinds = {"plot_id": "categorical", "year": "categorical", "month": "continuous"}
    assert portal.adjusted() == Roles({name: ("covariate", kind) for name, kind in kinds.items()})
    assert portal.adjusted(None, None, None) == portal.UNADJUSTED and portal.UNADJUSTED.needed() is None


@pytest.fixture
def tiny(monkeypatch) -> str:
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
    monkeypatch.setitem(portal.COMPARISONS, "tiny", ((closed,), 1990, 1990))
    return "tiny"


def test_a_trial_has_every_plot_in_every_session_that_was_trapped(tiny):
    """Two sessions have both controls; plot 4 has no row in the second, so no captures."""
    table, roles = portal.trial(tiny, ["DM", "PB"])
    assert table["plot_id"].tolist() == [1, 2, 3, 4] * 2 and table["month"].tolist() == [1] * 4 + [2] * 4
    assert table["DM"].tolist() == [4, 2, 0, 1, 6, 4, 0, 0] and table["PB"].tolist() == [1, 0, 3, 1, 0, 1, 5, 0]
    assert table["plots"].tolist() == ["control", "control", "kangaroo rats kept out", "kangaroo rats kept out"] * 2
    assert roles.targets == {"kangaroo rats kept out": ("DM",)} and roles.named("group") == ["plot_id"]
    said = portal.compared(table)
    assert "2 plots against 2 controls, in the 2 sessions 1990–1990" in said and "0.25, on controls 4.00" in said


def test_kangaroo_rats_are_added_to_a_trial_without_any():
    table, roles = portal.trial(species=["PB"])
    assert table.columns[:2].tolist() == ["kangaroo rats", "PB"]
    assert [*roles.targets.values()] == [("kangaroo rats",)]


def test_a_species_never_caught_on_these_plots_is_left_out():
    table, _ = portal.trial(portal.OPEN, ["kangaroo rats", "PB", "OT"])
    assert table.columns[:3].tolist() == ["kangaroo rats", "OT", "plots"]


def effects(comparison: str = portal.ALL, species=portal.USUAL) -> pd.DataFrame:
    return experiments.contrasts(prepare(*portal.trial(comparison, species))).set_index("node")


def test_kangaroo_rats_are_kept_out_and_suppress_pocket_mice():
    table, _ = portal.trial()
    assert len(table) == 148 * 16 and "148 sessions 1988–2002" in portal.compared(table)
    assert "0.29, on controls 4.40" in portal.compared(table)
    found = effects()
    assert found.index[found["changed"]].tolist() == ["pocket mice", "PM", "RM"] and found["moved"].all()
    mice = found.loc["pocket mice"]
    assert mice[["ratio", "low", "high"]].tolist() == pytest.approx([1.896, 1.420, 2.532], abs=0.001)
    assert mice["treated"] / mice["control"] == pytest.approx(mice["ratio"])  # every session has every plot
    assert 1 < mice["expected"] < 1.2
    long = effects("long-term exclosures").loc["pocket mice"]
    assert (long["control"], long["treated"]) == pytest.approx((1.07, 2.30), abs=0.005) and long["low"] > 1.3


def test_before_1988_the_short_term_plots_were_open():
    before = effects(portal.OPEN)
    assert not before["changed"].any() and (before["targets"].map(len) == 0).all()
    assert 0.8 < before.loc["kangaroo rats", "ratio"] < 1 and before.loc["pocket mice", "low"] < 1


def test_species_that_are_removed_together_are_one_arm():
    found = effects(species=("DM", "DS", "PB"))
    assert found["targets"].tolist() == [("DM", "DS")]


def test_adjusted_no_decided_direction_is_against_the_experiment():
    table, said = portal.table(), {}
    found = experiments.contrasts(prepare(*portal.trial()))
    for label, one in portal.group(table, [portal.CONTROL], portal.adjusted()).items():
        edges = refine(one["table"], QUICK, settings=one["settings"], roles=one["roles"]).edges
        said[label] = edges, experiments.arrows(edges, found)
    (before, alone), (after, adjusted) = said["alone"], said["adjusted"]
    assert len(after) < len(before) / 2  # most were effects of place and time
    assert len(alone) and len(adjusted) and not {*alone["verdict"], *adjusted["verdict"]} & {CONTRADICTED}


def test_with_the_exclosures_the_suppression_is_found():
    one = portal.example()
    edges = refine(one["table"], QUICK, settings=one["settings"], roles=one["roles"]).edges
    edges = edges.set_index(["parent", "child"])
    assert edges.loc[("kangaroo rats", "pocket mice"), ["decided", "source"]].tolist() == [True, "experiment"]
