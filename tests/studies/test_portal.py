"""The rodents near Portal: their table, what the experiment says, and graphs held against it."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.refine import refine
from disco.studies import portal
from disco.studies.experiment import CONTRADICTED, ratio_of_means, verdicts
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


def test_means_by_plot_by_hand(tiny):
    """Two sessions have both controls; plot 4 has no row in the second, so no captures."""
    found, note = portal.compared(["DM", "PB"], tiny)
    assert found["unit"].tolist() == [1, 2, 3, 4] and "2 plots against 2 controls, in the 2 sessions 1990–1990" in note
    assert found["is_control"].tolist() == [True, True, False, False]
    assert found["DM"].tolist() == [5.0, 3.0, 0.0, 0.5] and found["PB"].tolist() == [0.5, 0.5, 4.0, 0.5]


def test_the_experiment_by_hand(tiny):
    row = portal.EXPERIMENT.effects(["PB"], tiny).iloc[0]
    assert (row["control"], row["treated"], row["ratio"]) == pytest.approx((0.5, 2.25, 4.5))
    assert (row["low"], row["high"]) == pytest.approx(ratio_of_means(np.array([4, 0.5]), np.array([0.5, 0.5]))[1:])


def test_kangaroo_rats_are_kept_out_and_suppress_pocket_mice():
    found = portal.EXPERIMENT.effects(portal.USUAL).set_index("node")
    assert found.loc["kangaroo rats", "high"] < 0.2 and found.loc[["pocket mice", "PM", "RM"], "low"].gt(1.3).all()
    assert found.loc[["NL", "OL", "OT", "PE"], "low"].lt(1).all() and found.loc[["NL", "OT"], "high"].gt(1).all()
    long = portal.EXPERIMENT.effects(["pocket mice"], "long-term exclosures").iloc[0]
    assert (long["control"], long["treated"]) == pytest.approx((1.07, 2.30), abs=0.005) and long["low"] > 1.3


def test_before_1988_the_short_term_plots_were_open():
    before = portal.EXPERIMENT.effects(["kangaroo rats", "pocket mice"], list(portal.COMPARISONS)[-1]).set_index("node")
    assert before.loc["kangaroo rats", "ratio"] > 0.8 and before.loc["pocket mice", "low"] < 1


@pytest.mark.parametrize(
    "species", [portal.USUAL, ("DM", "DO", "DS", "PB", "PF", "PP", "NL", "OL", "OT", "PE", "PM", "RM")]
)
def test_adjusted_no_decided_direction_is_against_the_experiment(species):
    table, said = portal.table(species=species), {}
    measured, causes = portal.EXPERIMENT.effects(species), portal.EXPERIMENT.causes
    for one in portal.group(table, [portal.CONTROL], portal.adjusted()):
        refined = refine(one.table, one.choice, settings=one.settings, roles=one.roles)
        said[one.label] = refined.edges, verdicts(refined, table, one.roles, measured, causes).set_index("node")
    (before, alone), (after, adjusted) = said["alone"], said["adjusted"]
    assert len(after) < len(before) / 2  # most were effects of place and time
    assert not (adjusted["decided"] & (adjusted["verdict"] == CONTRADICTED)).any()
    if "kangaroo rats" in species:
        assert alone.loc["pocket mice", "without"] > 2 and 0.9 < adjusted.loc["pocket mice", "without"] < 1.2
