"""Data: the role of every column, guesses that wait, exposures, targets, artefacts and their cures."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from app_world import TINY, booted, button, csv, draft_of, drafted, poisson, press, texts, unfold, upload
from made_up import finished_run, of_an_older_version
from streamlit.testing.v1 import AppTest

from disco import runs
from disco.errors import InputError
from disco.runs import beside, origin
from disco.table.adjustment import ONLY_CAUSES
from disco.table.edits import AsBinary, applied
from disco.table.roles import Roles
from disco.table.values import two_texts
from pages.data import columns
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.work import fit_start


def grid(at):
    """The table of columns, by the name of the column."""
    return next(frame.value for frame in at.data_editor if "role" in frame.value).set_index("column")


def mixed(rows: int = 120) -> pd.DataFrame:
    """Three counts, and columns that look like something else."""
    rng = np.random.default_rng(0)
    return poisson(rows).assign(
        site=np.array(["x", "y", "z"])[rng.integers(0, 3, rows)],
        bill=rng.normal(40, 3, rows).round(2),
        year=rng.integers(1990, 2001, rows),
        plot_id=np.arange(rows) % 30 + 1,
    )


def test_guesses_wait_for_the_readers_word_and_are_taken_with_one_button():
    at = upload(booted(), "mixed.csv", csv(mixed()))
    shown = grid(at)
    assert set(shown["role"].drop("plot_id")) == {"count"}
    assert shown["guess"].drop(["a", "b", "c"]).tolist() == [
        *("covariate, categorical", "covariate, continuous", "covariate, continuous"),
        "group",
    ]
    assert "4 columns do not look like counts" in texts(at) and button(at, "Find the graph").disabled
    assert at.data_editor[0].value["accept"].all() and "3 columns would leave the graph\\: site, bill, year" in texts(
        at
    )
    press(at, "Accept all guesses")
    now = draft_of(at)
    assert now.columns == (0, 1, 2) and now.adjusted == (3, 4, 5, 6) and not at.error
    assert "Adjusted for site, bill, year; groups by plot\\_id." in texts(at)
    assert not button(at, "Find the graph").disabled and not any(grid(at)["guess"])
    run = fit_start.new_run(now, "with roles", "auto")
    assert run.nodes == ["a", "b", "c"] and str(run.roles) == "adjusted for site, bill, year; groups by plot_id"
    assert "Guessed roles accepted: site covariate, categorical" in run.source
    press(at, "Undo the last step")
    assert draft_of(at).roles == Roles() and draft_of(at).columns == (0, 1, 2, 3, 4, 5)
    press(at, "Redo")
    assert (draft_of(at).roles, draft_of(at).columns) == (now.roles, now.columns) and button(at, "Redo").disabled


def test_a_column_that_may_be_an_effect_is_a_covariate_only_by_the_readers_tick():
    """Of two columns of decimals and two of texts, one each follows the counts, and one text has a cause's name."""
    table, rng = poisson(300), np.random.default_rng(0)
    table = table.assign(bill=rng.normal(size=300), affairs=table["a"] + table["b"] + rng.normal(size=300))
    table = table.assign(site=np.where(table["c"] > 3, "x", "y"), held=np.where(table["c"] > 3, "Yes", "No"))
    at = upload(booted(), "effects.csv", csv(table))
    guesses = at.data_editor[0].value.set_index("column")
    assert guesses["accept"].to_dict() == {"bill": True, "affairs": False, "site": True, "held": False}
    assert guesses.index[guesses["why"].str.endswith(ONLY_CAUSES)].tolist() == ["bill", "affairs", "held"]
    assert ONLY_CAUSES in columns._HELP and "`affairs` and `held` go with the counts" in texts(at)
    press(at, "Accept 2 of 4 guesses")
    assert draft_of(at).columns == (0, 1, 2) and str(draft_of(at).roles) == "adjusted for bill, site" and not at.error
    finding = next(one.value for one in at.markdown if "An unused column varies" in one.value).replace("\\", "")
    assert ONLY_CAUSES in finding and "Adjust for 1 column" not in [one.label for one in at.button]


def test_a_number_stays_a_count_and_a_guess_is_declined_by_leaving_the_columns_out():
    at = upload(booted(), "years.csv", csv(mixed()[["a", "b", "year"]]))
    assert draft_of(at).columns == (0, 1, 2) and not button(at, "Find the graph").disabled
    run = fit_start.new_run(draft_of(at), "as counts", "auto")
    assert run.nodes == ["a", "b", "year"] and run.roles is None
    press(at, "Keep it as a count")
    assert "not look like counts" not in texts(at) and draft_of(at).columns == (0, 1, 2) and not any(grid(at)["guess"])
    upload(at, "mixed.csv", csv(mixed()[["a", "b", "c", "site", "bill"]]))
    press(at, "Leave out site and bill")
    assert "2 columns left out: site, bill." in draft_of(at).steps[-1].words
    assert draft_of(at).columns == (0, 1, 2) and not at.error and draft_of(at).roles.needed() is None


def test_a_column_of_two_texts_becomes_a_node_of_0_and_1_and_back():
    table = poisson().assign(Purchase=["Yes", "No", " Yes"] * 30)
    at = upload(booted(), "web.csv", csv(table))
    at.button(key="binary").click().run()
    now = draft_of(at)
    assert now.table["Purchase"].tolist() == [1, 0, 1] * 30 and now.columns == (0, 1, 2, 3) and not at.error
    assert '"Yes" is 1' in now.steps[-1].words and now.steps[-1].edits == (AsBinary({"Purchase": "Yes"}),)
    run = fit_start.new_run(now, "binary", "auto")
    assert run.nodes[3] == "Purchase" and origin.of(run).edits[0] == AsBinary({"Purchase": "Yes"})
    press(at, "Undo the last step")
    assert draft_of(at).table["Purchase"].iloc[0] == "Yes" and draft_of(at).roles == Roles()
    press(at, "Accept this guess")
    at.radio[0].set_value("No").run()
    at.button(key="binary").click().run()
    assert draft_of(at).table["Purchase"].tolist() == [0, 1, 0] * 30 and not draft_of(at).adjusted


@pytest.mark.parametrize("cells", [["a", "b", "c"], ["a", "a", ""], ["1", "0", "1"], [1, 0, 1]])
def test_other_columns_do_not_become_nodes_of_0_and_1(cells):
    assert two_texts(pd.Series(cells)) is None
    with pytest.raises(InputError, match="does not hold two texts"):
        applied(pd.DataFrame({"x": cells}), [AsBinary({"x": "a"})])


def page_of_one_edit() -> None:
    """A script that does what the table of columns does when a reader changes cells."""
    import streamlit as st

    from pages.data import columns
    from pages.shared import session

    if "table" in st.session_state:
        session.draft.load(st.session_state.pop("table"), "t", "")
    if "edit" in st.session_state:
        st.session_state["widget"] = {"edited_rows": st.session_state.pop("edit")}
        columns.edited("widget", st.session_state["view"])
    st.caption(str(st.session_state.get("columns_version", 0)))


def edits(table: pd.DataFrame, view: list[int], *steps: dict[int, str]) -> AppTest:
    """The session after some edits of the table of columns, each with those before it, as the widget keeps them."""
    at = AppTest.from_function(page_of_one_edit)
    at.session_state["table"], at.session_state["view"] = table, view
    at.run()
    for step in steps:
        at.session_state["edit"] = {row: {"role": role} for row, role in step.items()}
        at.run()
        assert not at.exception, at.exception
    return at


def roles_in(at: AppTest) -> list[str]:
    return columns.roles_of(draft_of(at))


def test_roles_chosen_in_the_table_of_columns():
    view = [1, 3, 4, 5, 6]  # the last is an identifier, left out from the start
    at = edits(mixed(), view, {0: "ignore", 1: "covariate, categorical"}, {0: "ignore", 3: "group"})
    assert roles_in(at) == ["count", "ignore", "count", "covariate, categorical", "count", "group", "ignore"]
    at = edits(mixed(), view, {0: "ignore", 1: "covariate, categorical", 3: "covariate, ordinal"})
    assert roles_in(at)[1:4] == ["ignore", "count", "covariate, categorical"]
    assert roles_in(at)[4:] == ["count", "covariate, ordinal", "ignore"]
    assert draft_of(at).columns == (0, 2, 4) and at.caption[0].value == "0"  # the table keeps its place
    at = edits(mixed(), view, {2: "exposure"}, {2: "exposure", 3: "exposure"})
    assert roles_in(at)[4:6] == ["ignore", "exposure"]
    assert [step.words for step in draft_of(at).steps] == [f"Roles set: {name} exposure." for name in ("bill", "year")]
    assert at.caption[0].value == "1"  # shown anew, since the widget still holds the first


def test_roles_of_columns_that_share_a_name_are_refused():
    table = mixed()[["a", "b", "c", "site"]].set_axis(["a", "b", "c", "b"], axis=1)
    at = edits(table, [0, 1, 2, 3], {3: "covariate, categorical"})
    assert "2 columns are called" in at.session_state["columns_problem"] and roles_in(at)[3] == "count"
    assert roles_in(edits(table, [0, 1, 2, 3], {3: "ignore"})) == ["count", "count", "count", "ignore"]


def test_an_exposure_is_computed_or_taken_from_a_column():
    def exposure():
        return next(found for found in at.selectbox if found.label == "Exposure")

    at = upload(booted(), "counts.csv", csv((poisson() + 1).assign(hours=np.linspace(1, 3, 90))))
    press(at, "Accept this guess")
    assert exposure().value == "column" and "Exposure hours." in texts(at)
    exposure().set_value("total").run()
    assert draft_of(at).roles.exposure == "total" and columns.roles_of(draft_of(at)) == ["count"] * 3 + ["ignore"]
    assert "the total of the nodes is not a possible cause" in texts(at)
    run = fit_start.new_run(draft_of(at), "total", "auto")
    np.testing.assert_array_equal(run.adjustment.exposure, run.table().sum(axis=1))
    exposure().set_value("none").run()
    assert draft_of(at).roles.needed() is None and "rates cause rates" not in texts(at)


def test_every_group_may_have_its_effect():
    at = press(upload(booted(), "plots.csv", csv(mixed()[["a", "b", "plot_id"]])), "Accept this guess")
    assert "Groups by plot\\_id." in texts(at)
    at.toggle[0].set_value(True).run()
    assert draft_of(at).roles.group_effects and "each with its effect" in texts(at) and not at.error
    assert len(fit_start.new_run(draft_of(at), "r", "auto").adjustment.covariates) == 1


def test_missing_cells_of_a_covariate_are_counted_and_left_out():
    table = mixed()[["a", "b", "c", "site", "bill"]]
    table.loc[[3, 4, 70], "bill"], table.loc[9, "site"] = np.nan, None
    at = press(upload(booted(), "blanks.csv", csv(table)), "Accept all guesses")
    said = at.error[0].value.replace("\\", "")
    assert (
        '"site" cannot play its role in 1 row, first in row 10: the cell is blank' in said
        and button(at, "Find the graph").disabled
    )
    assert '"bill" cannot play its role in 3 rows, first in row 4:' in said and "4–5, 10, 71." in texts(at)
    press(at, "Leave out these 4 rows")
    now = draft_of(at)
    assert not at.error and len(now.table) == 116 and now.rows_left_out == ((4, 5), (10, 10), (71, 71))
    assert fit_start.new_run(now, "r", "auto").adjustment.rows == 116
    press(at, "Undo the last step")
    assert len(draft_of(at).table) == 120 and draft_of(at).adjusted == (3, 4)


@pytest.mark.parametrize(
    ("role", "cell", "why"),
    [
        ("covariate, continuous", "low", '"low" is not a number'),
        ("exposure", 0, '"0" is not a number above 0'),
        ("covariate, categorical", "rare", 'no other row has "rare"'),
    ],
)
def test_a_cell_that_cannot_play_its_role_is_named_with_the_reason(role, cell, why):
    table = mixed()[["a", "b", "c", "year"]].astype({"year": object})
    table.loc[6, "year"] = cell
    (problem,) = draft_facts.problems(draft_of(edits(table, [3], {0: role})))
    assert problem.message.endswith(f"in 1 row, first in row 7: {why}.")


def test_a_column_that_can_hardly_play_its_role_says_why():
    draft = draft_of(edits(mixed()[["a", "b", "c", "site"]], [3], {0: "covariate, continuous"}))
    (problem,) = draft_facts.problems(draft)
    assert "make it categorical" in problem.message
    assert not draft_facts.unusable(draft) and draft_facts.chosen_counts(draft) is None


def test_roles_that_the_table_cannot_bear_block_with_a_sentence():
    table = mixed()[["a", "b", "site"]].assign(d=lambda table: table["site"].map({"x": 4, "y": 2, "z": 9}))
    at = press(upload(booted(), "d.csv", csv(table)), "Accept this guess")
    assert 'covariate "site" determines "d"' in at.error[0].value.replace("\\", "")
    assert button(at, "Find the graph").disabled
    at.switch_page("pages/train/page.py").run()
    assert "determines" in texts(at) and not [found for found in at.button if found.key == "start_fit"]


def test_roles_survive_a_changed_table_as_far_as_their_columns_do():
    table = mixed()[["a", "b", "c", "site"]]
    table.insert(0, "sample", [f"s{row}" for row in range(len(table))])
    at = press(upload(booted(), "named.csv", csv(table)), "No, it is a column like the others")
    press(at, "Accept all guesses")
    assert columns.roles_of(draft_of(at)) == ["ignore", "count", "count", "count", "covariate, categorical"]
    press(at, "The first column holds row names")
    assert columns.roles_of(draft_of(at)) == ["count", "count", "count", "covariate, categorical"] and not at.error
    press(at, "Undo the last step")
    assert columns.roles_of(draft_of(at)) == ["ignore", "count", "count", "count", "covariate, categorical"]


def test_a_run_shows_its_roles_and_a_second_fit_has_them_too():
    given = Roles({"site": "covariate", "plot_id": "group"})
    run = runs.create_run(mixed()[["a", "b", "c", "site", "plot_id"]], TINY, name="r", roles=given)
    at = unfold(booted("train", run=run.id), "another_fit")
    assert texts(at).count("Adjusted for site; groups by plot\\_id.") == 1
    assert fit_start.new_run(draft_of(at), "again", "auto").adjustment.equals(run.adjustment)
    assert draft_of(at).columns == (0, 1, 2)
    assert grid(booted(run=run.id))["role"].tolist() == ["count"] * 3 + ["covariate, categorical", "group"]


def test_no_result_is_shown_without_its_adjustment():
    run = of_an_older_version(finished_run(4, truth=None))
    rows = len(run.table())
    table = pd.DataFrame({"<b>site": ["x", "y"] * (rows // 2), "hours": np.linspace(1, 2, rows)})
    beside.write(run.path, table, Roles({"<b>site": "covariate", "hours": "exposure"}))
    for page in ("ordering", "parents", "graph"):
        assert texts(booted(page, run=run.id)).count("Adjusted for \\<b\\>site; exposure hours.") == 1


def serial_table(rng: np.random.Generator) -> pd.DataFrame:
    """Independent series with a trend of their own each."""
    trend = np.linspace(-1, 1, 300)[:, None] * rng.normal(0, 0.6, 6)
    return pd.DataFrame(rng.poisson(np.exp(1.2 + trend))).add_prefix("x")


def test_rows_that_depend_on_their_neighbours_are_cured_by_the_row_number_or_blocks_and_taken_back():
    def order():
        return next(one for one in at.selectbox if one.label == "Order of the rows")

    at = drafted("data", serial_table(np.random.default_rng(0)))
    at.button(key="artefact_cure_serial").click().run()
    assert draft_of(at).roles == Roles(row_number=True) and "Adjusted for the row number." in texts(at)
    assert "artefact_cure_serial" not in {one.key for one in at.button}
    press(at, "Undo the last step")
    assert draft_of(at).roles == Roles() and "artefact_cure_serial" in {one.key for one in at.button}
    order().set_value("blocks").run()
    assert draft_of(at).roles == Roles(blocks=60, group_effects=True)
    assert "Adjust for every group" in {one.label for one in at.toggle}
    order().set_value("none").run()
    assert draft_of(at).roles == Roles() and not at.exception


def deep() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    values = rng.poisson(rng.lognormal(0, 0.8, 150)[:, None] * rng.uniform(4, 12, 14)) + 1
    return pd.DataFrame(values).add_prefix("g")


def coded() -> pd.DataFrame:
    table = pd.DataFrame(np.random.default_rng(0).poisson(5, (200, 6))).add_prefix("x")
    table.loc[[3, 50, 51], "x2"] = 99
    return table


def repeated() -> pd.DataFrame:
    return pd.DataFrame(np.repeat(np.random.default_rng(0).poisson(5, (60, 6)), 3, axis=0)).add_prefix("x")


@pytest.mark.parametrize(
    ("made", "words", "cure", "rows"),
    [
        (deep, "Totals explain", "Adjust for the row totals", 150),
        (coded, '"x2" is 99 in 3 rows', "Leave out 3 rows", 197),
        (repeated, "rows have an exact copy", "Keep each row once", 60),
    ],
)
def test_an_artefact_is_cured_with_one_click(made, words, cure, rows):
    at = drafted("data", made())
    assert words in texts(at).replace("\\", "")
    table = draft_of(press(at, cure)).table
    assert words not in texts(at).replace("\\", "") and len(table) == rows
    assert (draft_of(at).roles.exposure == "total") == (made is deep)
    assert made is deep or (not table.duplicated().any() if made is repeated else table.to_numpy().max() < 99)


def test_a_sum_of_all_others_becomes_the_exposure_or_is_ignored():
    at = drafted("data", deep().assign(total=deep().sum(axis=1)))
    press(at, "Take total as the exposure")
    assert str(draft_of(at).roles) == "exposure total" and not at.error and "Totals explain" not in texts(at)
    press(at, "Undo the last step")
    next(one for one in at.selectbox if one.label == "Exposure").set_value("total").run()
    assert "ignore it, or" in at.error[0].value and button(at, "Find the graph").disabled
    press(at, "Ignore total")
    assert not at.error and not button(at, "Find the graph").disabled and len(draft_of(at).columns) == 14


def test_an_artefact_without_a_cure_can_only_be_dismissed():
    """Rows of 24 hours that return; rows kept by their total."""
    rng = np.random.default_rng(0)
    hours = pd.DataFrame(rng.poisson(np.exp(1 + rng.normal(0, 0.5, (24, 5))[np.arange(600) % 24]))).add_prefix("h")
    counts = pd.DataFrame(np.random.default_rng(0).poisson(0.5, (2000, 8))).add_prefix("x")
    filtered = counts[counts.sum(axis=1) >= 3].reset_index(drop=True)
    for table, words in ((hours, "Rows depend on their neighbours"), (filtered, "No row has a total below 3")):
        at = drafted("data", table)
        assert words in texts(at)
        assert not {"artefact_cure_serial", "artefact_cure_filter"} & {one.key for one in at.button}


def screen(labels: list[str], rows: int = 60) -> pd.DataFrame:
    return poisson(rows * len(labels)).assign(guide=np.repeat(labels, rows))


def arms(at) -> pd.DataFrame:
    """The table of labels."""
    return next(one.value for one in at.data_editor if "sets" in one.value).set_index("label")


def page_of_one_arm() -> None:
    """A script that does what the table of arms does when a reader changes cells."""
    import streamlit as st

    from pages.data import arms
    from pages.shared import session

    if "table" in st.session_state:
        session.draft.load(st.session_state.pop("table"), "t", "", roles=st.session_state.pop("roles"))
    if "edit" in st.session_state:
        st.session_state["widget"] = {"edited_rows": st.session_state.pop("edit")}
        arms._edited("widget", st.session_state["labels"])


def test_labels_that_are_not_columns_are_asked_about_and_taken_at_their_word():
    at = upload(booted(), "screen.csv", csv(screen(["NT", "sga", "b-KO_2", "a+C", "odd"])))
    assert not any("sets" in frame.value for frame in at.data_editor)  # no arms without an intervention
    press(at, "Accept this guess")
    assert at.error and button(at, "Find the graph").disabled
    assert arms(at)["rows"].tolist() == [60] * 5 and not arms(at)["sets"].map(len).any()
    press(at, "Take what 4 labels say")
    assert draft_of(at).roles.targets == {"NT": (), "sga": ("a",), "b-KO_2": ("b",), "a+C": ("a", "c")}
    sets = arms(at)["sets"].map(list).to_dict()
    assert sets == {"NT": ["(control)"], "sga": ["a"], "b-KO_2": ["b"], "a+C": ["a", "c"], "odd": []}
    assert "several at once" in arms(at).loc["a+C", "note"] and "odd" in at.error[0].value
    assert not any("Take what" in one.label for one in at.button)


def test_targets_are_chosen_and_taken_back_in_the_table():
    at = AppTest.from_function(page_of_one_arm)
    at.session_state["table"] = screen(["", "a", "odd"])
    at.session_state["roles"] = Roles({"guide": "intervention"}, targets={"odd": ("a",)})
    at.session_state["labels"] = ["", "a", "odd"]
    at.session_state["edit"] = {"1": {"sets": ["(control)"]}, "2": {"sets": ["b", "c"]}}
    assert not at.run().exception and draft_of(at).roles.targets == {"a": (), "odd": ("b", "c")}
    at.session_state["edit"] = {"1": {"sets": []}, "2": {"sets": None}}
    assert not at.run().exception and draft_of(at).roles.targets == {}
    assert draft_of(at).roles.named("intervention") == ["guide"]


@pytest.mark.parametrize(("label", "value"), [("Exposure", "total"), ("Order of the rows", "number")])
def test_an_answer_of_a_box_as_it_was_undoes_nothing(label, value):
    """The browser may send what a box showed before its value was set elsewhere."""
    at = drafted("data", poisson())
    next(box for box in at.selectbox if box.label == label).set_value(value).run()
    earlier = at._tree.get_widget_states()
    button(at, "Undo the last step").click().run()
    assert draft_of(at).roles == Roles()
    at._run(earlier)
    assert draft_of(at).roles == draft_of(at.run()).roles == Roles()
    assert next(box for box in at.selectbox if box.label == label).value == "none"


def test_edits_of_a_grid_that_was_replaced_are_ignored(monkeypatch):
    draft, seen = draft_of(drafted("data", poisson())), []
    monkeypatch.setattr(columns.st, "session_state", {})
    monkeypatch.setattr(columns.session.draft, "current", lambda: draft)
    monkeypatch.setattr(columns, "edited", lambda key, view: seen.append(view))
    key = columns.grid_key(draft, "columns", [0, 1])
    columns._heard(key, [0, 1])
    columns.taken_anew()
    columns._heard(key, [0, 1])
    assert seen == [[0, 1]]


def weekly() -> pd.DataFrame:
    """Six series of 20 weeks, of which one lacks a week, in a shuffled file."""
    both = pd.concat([poisson(20).assign(unit=unit, week=range(20)) for unit in "uvwxyz"], ignore_index=True)
    return both.drop(index=90).sample(frac=1, random_state=0).reset_index(drop=True)


def test_a_time_keeps_all_rows_in_the_run():
    table, roles = weekly(), Roles({"unit": "group", "week": "time"}, lags=2)
    draft = Draft(table, "weekly", "", columns=(0, 1, 2), roles=roles, key="weekly")
    assert (draft_facts.past(draft).alone, draft_facts.past(draft).gaps) == (14, 1)
    assert draft_facts.usable_table(draft)["a"].tolist() == table["a"].tolist()
    assert len(draft_facts.coded(draft)[0]) == 105
    run = fit_start.new_run(draft, "in time", "auto")
    assert (len(run.counts()), len(run.table()), run.roles) == (119, 105, roles)
    (problem,) = draft_facts.problems(replace(draft, roles=Roles({"week": "time"})))
    assert problem.blocking and problem.columns == ("week",)


def test_a_column_becomes_the_time_and_the_rows_before_are_a_number():
    assert roles_in(edits(weekly(), [0, 1, 2, 3, 4], {4: "time"}))[4] == "time"
    table = poisson(120)
    table.insert(0, "date", pd.date_range("2020-01-06", periods=120, freq="7D").astype(str))
    at = press(upload(booted(), "weeks.csv", csv(table)), "Accept this guess")
    order = next(box for box in at.selectbox if box.label == "Order of the rows")
    assert order.disabled and "One row per week" in texts(at) and "All rows are one series" in texts(at)
    next(box for box in at.number_input if box.label == "Rows before").set_value(3).run()
    assert draft_of(at).roles.steps_back == 3 and "3 rows without 3 rows before" in texts(at) and not at.error
    press(at, "Undo the last step")
    assert draft_of(at).roles == Roles({"date": "time"})
    press(at, "Undo the last step")
    assert draft_of(at).roles.needed() is None and not at.exception
