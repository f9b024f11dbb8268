"""Data: samples, uploads, the choice of columns, numbers that stand for counts, sheets of samples, a known truth."""

import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from app_world import HOSTILE, booted, box, button, csv, draft_of, frame_with, poisson, press, texts, upload
from job_world import wait
from made_up import finished_run

from disco import runs
from disco.reports import bundled
from disco.runs import making
from disco.runs.origin import FromLahman, Origin
from disco.simulate import Design, simulate
from disco.subjects.studies import lahman
from disco.table.edits import AddColumns, BlankAsZero, Restore
from pages.shared.compute import background
from pages.shared.table import draft_artefacts, draft_facts
from pages.shared.widgets.names import code
from pages.shared.work import fit_start


def test_the_samples_bring_their_truth_their_settings_and_their_source():
    at = press(booted(), "Load simulated counts")
    assert draft_of(at).table.shape == (2000, 20) and draft_of(at).settings.transform == "rank"
    assert len(draft_of(at).truth) > 20 and "true edges known" in texts(at)
    made = draft_of(at).origin_for(draft_of(at).columns)
    assert simulate(Design.from_dict(made.source.design)).table.equals(draft_of(at).table) and not made.edits
    draft = draft_of(press(at, "Load baseball counts"))
    assert draft.table.shape == (1400, 17) and draft.origin == Origin(FromLahman(2012, 2018))
    assert (draft.settings.transform, draft.settings.levels) == ("quantile", 4)


def test_lahman_offers_only_the_seasons_that_are_installed(monkeypatch):
    monkeypatch.setattr(lahman, "seasons", lambda: (1871, 2024))
    assert booted().button_group(key="lahman_seasons").options == ["2012–2018", "2019–2024"]
    monkeypatch.setattr(lahman, "seasons", lambda: (1871, 2025))
    assert booted().button_group(key="lahman_seasons").options == ["2012–2018", "2019–2025"]


def test_upload_describes_each_column():
    table = pd.DataFrame({"a": [0, 1, 2, 2] * 6, "b": [0, 1] * 12})
    at = upload(booted(), "small.csv", csv(table))
    facts = frame_with(at, "levels").set_index("column")
    assert facts["type"].to_dict() == {"a": "", "b": "0/1"} and 0 < facts.loc["a", "ties"] < 1
    expected = [3, 0.25, 1.25, table["a"].var() / 1.25]
    assert facts.loc["a", ["levels", "zeros", "mean", "dispersion"]].tolist() == pytest.approx(expected)
    assert not button(at, "Find the graph").disabled
    upload(at, "t.csv", csv(poisson()))  # what columns hold is shown only where they are not all counts
    assert "type" not in frame_with(at, "levels") and set(frame_with(at, "levels")["role"]) == {"count"}


def test_bad_uploads_lose_nothing_and_the_table_before_is_one_button_away():
    at = upload(booted(), "first.csv", csv(poisson()))
    upload(at, "second.csv", csv(poisson(rows=60)))
    before = draft_of(at)
    for name, content, words in (("empty.csv", b"", "is empty"), ("book.xlsx", b"no book", "Excel")):
        upload(at, name, content)
        (error,) = at.error
        assert not at.exception and words in error.value and "is kept" in error.value and draft_of(at) is before
    for name in ("first.csv", "second.csv"):
        assert draft_of(press(at, "Back to")).name == name
    fresh = booted(draft=at.query_params["draft"])  # as after a refresh
    assert draft_of(fresh).name == "second.csv"
    np.testing.assert_array_equal(draft_of(fresh).table, draft_of(at).table)


def test_search_and_buttons_act_on_the_columns_shown_and_too_few_are_no_fault_of_the_file():
    at = upload(booted(), "t.csv", csv(poisson(names=("alpha", "beta", "gamma", "alps"))))
    press(at, "Choose none")
    assert draft_of(at).columns == () and "0 of 4 columns are chosen" in at.error[0].value
    assert "Separate" not in at.error[0].value
    at.text_input(key=f"column_search_{draft_of(at).name}").set_value("alp").run()
    press(at, "Choose all")
    assert draft_of(at).columns == (0, 3)
    at.text_input(key=f"column_search_{draft_of(at).name}").set_value("nothing").run()
    assert "No column name contains this" in texts(at)


def test_names_are_shown_not_read():
    at = upload(booted(), "<b>x</b>.csv", csv(poisson(names=HOSTILE)))
    assert not at.exception and "\\<b\\>x\\<\\/b\\>\\.csv" in at.subheader[0].value
    table = poisson(names=HOSTILE).astype(object)
    table.iloc[1, :] = "oops"
    upload(at, "faulty.csv", csv(table))
    assert f'"oops": {code(HOSTILE[0])}, ' in at.error[0].value and "and 4 more" in at.error[0].value


def test_unknown_runs_and_paths_in_the_address_are_refused():
    assert not any("run" in booted(run=wanted).query_params for wanted in ("no-such-run", "../../etc", "/etc", ".."))


def test_columns_that_others_determine_are_named_and_left_out_in_one_click():
    table = poisson(names=("a", "b", "c"))
    table = table.assign(total=table.sum(axis=1), **{"<b>copy</b>": table["a"]})
    at = upload(booted(), "sums.csv", csv(table))
    assert not at.exception
    said = next(found.value for found in at.markdown if "is the sum of" in found.value)
    assert "<b>copy</b>" not in said and "arithmetic, not cause" in said
    said = said.replace("\\", "")
    assert '"total" is the sum of "a", "b" and "c".' in said and 'is a copy of "a".' in said
    at.button(key="artefact_cure_relation").click().run()
    assert not at.exception and draft_of(at).columns == (0, 1, 2)
    assert "artefact_cure_relation" not in {found.key for found in at.button}
    press(at, "Undo the last step")
    assert draft_of(at).columns == (0, 1, 2, 3, 4)


def test_kinds_of_rows_become_a_column_to_adjust_for_and_are_taken_back():
    random = np.random.default_rng(3)
    means = random.uniform(3, 9, 8) * np.exp(random.normal(0, 0.7, (2, 8)))
    table = pd.DataFrame(random.poisson(means[random.integers(2, size=500)]), columns=list("abcdefgh"))
    at = upload(booted(), "kinds.csv", csv(table))
    assert "2 kinds of rows would explain what" in texts(at)
    at.button(key="artefact_cure_kinds").click().run()
    now = draft_of(at)
    assert not at.exception and now.columns == tuple(range(8)) and now.adjusted == (8,)
    assert str(now.roles) == "adjusted for kinds of rows" and {*now.table["kinds of rows"]} == {"A", "B"}
    assert "artefact_cure_kinds" not in {found.key for found in at.button}
    press(at, "Undo the last step")
    assert draft_of(at).table.shape == (500, 8) and not draft_of(at).roles.columns


def test_what_a_dismissal_uncovers_is_shown_with_its_cure_and_is_what_a_run_has(monkeypatch):
    random = np.random.default_rng(1)
    means = np.where(random.integers(2, size=(800, 1)) == 1, 9, 3)
    table = pd.DataFrame(random.poisson(means, (800, 6)), columns=list("abcdef"))
    table = pd.concat([table, table[:400]]).assign(**{"kinds of rows": lambda t: t.a + t.b})
    at = upload(booted(), "twins.csv", csv(table))
    assert "artefact_cure_kinds" not in {found.key for found in at.button}
    for kind in ("relation", "repeated"):
        next(found for found in at.text_input if found.form_id == f"artefact_form_{kind}").set_value("It is meant.")
        at.button(key=f"FormSubmitter:artefact_form_{kind}-Dismiss it").click().run()
    assert "2 kinds of rows would explain what 6 columns share" in texts(at).replace("\\", "")
    monkeypatch.setattr(making, "looked_for", None)  # a run does not look for them again
    run = fit_start.new_run(draft_of(at))
    assert [one.kind for one in runs.artefacts.of(run).standing] == ["kinds"]
    assert runs.artefacts.of(run).dismissed == {"relation": "It is meant.", "repeated": "It is meant."}
    at.button(key="artefact_cure_kinds").click().run()
    now = draft_of(at)
    assert not at.exception and now.roles.role("kinds of rows 2") == "covariate"


def test_find_the_graph_does_not_wait_for_the_search_for_artefacts(monkeypatch):
    begun = threading.Event()

    def search(result, prepared, reporter):
        begun.set()
        while True:
            reporter.step("common", 0, 1)

    monkeypatch.setattr(background, "PATIENCE", 0)
    monkeypatch.setattr(draft_artefacts, "finished", search)
    at = upload(booted(), "t.csv", csv(poisson()))
    assert begun.wait(10)
    computation = draft_artefacts.artefact_search(draft_of(at)).find()
    run = fit_start.new_run(draft_of(at))
    assert runs.artefacts.of(run).due
    wait(lambda: computation.state == "stopped")


def test_the_search_for_artefacts_stops_when_the_table_changes_and_begins_anew_after_undo(monkeypatch):
    def search(result, prepared, reporter):
        while True:
            reporter.step("common", 0, 1)

    monkeypatch.setattr(background, "PATIENCE", 0)
    monkeypatch.setattr(draft_artefacts, "finished", search)
    at = upload(booted(), "t.csv", csv(poisson()))
    earlier = draft_artefacts.artefact_search(draft_of(at))
    computation = earlier.find()
    at.button(key="row_names").click().run()
    wait(lambda: computation.state == "stopped" and earlier.find() is None)
    later = draft_artefacts.artefact_search(draft_of(at)).find()
    assert later.is_running
    at.button(key="history_undo").click().run()
    wait(lambda: later.state == "stopped")
    assert earlier.find().is_running
    earlier.find().cancel()


def test_a_sum_can_be_left_out_while_common_causes_are_looked_for(monkeypatch):
    may_end = threading.Event()
    monkeypatch.setattr(background, "PATIENCE", 0)
    monkeypatch.setattr(draft_artefacts, "finished", lambda result, prepared, reporter: may_end.wait(60) and result)
    table = poisson()
    at = upload(booted(), "t.csv", csv(table.assign(all=table.sum(axis=1))))
    wait(lambda: draft_artefacts.is_checked(draft_of(at)))
    at.run()
    assert draft_artefacts.artefact_search(draft_of(at)).find().is_running
    at.button(key="artefact_cure_relation").click()
    may_end.set()
    at.run()
    assert "all" not in draft_facts.usable_table(draft_of(at))


def test_find_the_graph_waits_for_the_check_of_the_table_or_not(monkeypatch):
    checked, check = threading.Event(), draft_artefacts.begun

    monkeypatch.setattr(background, "PATIENCE", 0)
    monkeypatch.setattr(draft_artefacts, "begun", lambda *arguments: checked.wait(20) and check(*arguments))
    at = upload(booted(), "t.csv", csv(poisson()))
    assert button(at, "Find the graph").disabled and not button(at, "Find it without waiting").disabled
    checked.set()
    wait(lambda: draft_artefacts.is_checked(draft_of(at)))
    at.run()
    assert not button(at, "Find the graph").disabled and "find_at_once" not in {one.key for one in at.button}


def test_the_example_opens_on_graph_with_both_results_if_it_is_installed(drawn, monkeypatch):
    at = booted()
    at.button(key="see_example").click().run()
    assert at.title[0].value == "Graph" and not at.exception
    assert drawn[-1].number_of_edges() and any("graph_view" in box.key for box in at.segmented_control)
    monkeypatch.setattr(bundled, "HOMES", ())
    at = booted()
    assert next(block for block in at.columns if block.button or block.get("file_uploader")).get("file_uploader")
    at.button(key="see_example").click().run()
    assert "not installed" in texts(at) and at.title[0].value == "What drives what?"


def test_the_figure_begins_with_a_column_of_counts():
    table = poisson(names=("a", "b", "c"))
    table.insert(0, "site", ["north", "south"] * (len(table) // 2))
    at = upload(booted(), "sites.csv", csv(table))
    assert box(at, rf"data_column_{draft_of(at).key}").value == 1 and "This column does not hold counts" not in texts(
        at
    )


def counted(rng: np.random.Generator) -> pd.DataFrame:
    means = 12 * rng.lognormal(0, 1, 20) * rng.lognormal(0, 0.4, (60, 1))
    return pd.DataFrame(rng.poisson(means), columns=[f"g{at}" for at in range(20)])


def test_normalised_values_and_blank_cells_are_made_counts_by_one_click_each(rng):
    counts = counted(rng)
    at = upload(booted(), "shares.csv", csv(counts.div(counts.sum(axis=1), axis=0)))
    assert button(at, "Find the graph").disabled and "These columns hold numbers" not in texts(at)
    press(at, "Make this change")
    assert draft_of(at).table.equals(counts) and draft_of(at).steps[0].edits == (Restore(),)
    assert not button(at, "Find the graph").disabled
    sparse = pd.DataFrame(rng.poisson(0.9, (60, 20)), columns=counts.columns)
    at = upload(at, "sparse.csv", csv(sparse.astype(float).where(sparse > 0)))
    press(at, "Make this change")
    assert (draft_of(at).table == sparse).all(axis=None) and draft_of(at).steps[0].edits == (BlankAsZero(),)
    press(at, "Undo the last step")
    assert draft_of(at).table.isna().any(axis=None)


def test_a_sheet_of_samples_is_shown_before_it_is_joined_and_can_be_undone(rng):
    names = [f"22-{at}" for at in range(60)]
    counts = counted(rng)
    counts.insert(0, "sample", [f"X22.{at}" for at in range(60)])
    at = upload(booted(), "counts.csv", csv(counts))
    press(at, "The first column holds row names")
    sheet = pd.DataFrame({"id": names[::-1], "batch": ["a", "b", "b"] * 20, "hours": rng.integers(1, 9, 60)})
    key = f"samples_{draft_of(at).key}"
    at.file_uploader(key=key).set_value(("sheet.csv", csv(sheet), "text/csv")).run()
    assert "60 of 60 rows have a line" in texts(at) and draft_of(at).table.shape == (60, 20)
    press(at, "Join these columns")
    now = draft_of(at)
    assert now.roles.columns == {"batch": ("covariate", "categorical"), "hours": "exposure"}
    assert now.table["hours"].tolist() == sheet["hours"].tolist()[::-1] and now.columns == tuple(range(20))
    assert isinstance(now.steps[-1].edits[0], AddColumns) and draft_facts.chosen_counts(now) is not None
    press(at, "Undo the last step")
    assert draft_of(at).table.shape == (60, 20) and not draft_of(at).roles.columns
    key = f"samples_{draft_of(at).key}"
    at.file_uploader(key=key).set_value(("sheet.csv", b"id,x\nn1,2\nn2,3\n", "text/csv")).run()
    assert "No row has its name" in texts(at)


def with_table():
    return upload(booted(), "t.csv", csv(poisson()))


def give_truth(at, content: bytes, name: str = "truth.csv"):
    return at.file_uploader(key="truth_upload").set_value((name, content, "text/csv")).run()


def pairs(at) -> list[tuple[str, str]] | None:
    truth = at.session_state["shared_draft"].truth
    return None if truth is None else list(truth[["parent", "child"]].itertuples(index=False, name=None))


def test_a_truth_is_attached_for_the_chosen_columns_and_forgotten():
    at = give_truth(with_table(), b"parent,child\na,b\nb,c\n")
    assert not at.exception and not at.error
    assert pairs(at) == [("a", "b"), ("b", "c")] and "2 true edges known" in texts(at)
    at.session_state["shared_draft"] = replace(at.session_state["shared_draft"], columns=(0, 1))
    assert "(1 among the chosen columns)" in texts(at.run())
    at.button(key="truth_forget").click().run()
    assert pairs(at) is None and "true edges known" not in texts(at)
    give_truth(at, b"direction;parent;child\nunknown;a;b\n;c;\nknown;b;c\n")
    assert not at.error and at.session_state["shared_draft"].truth["direction"].tolist() == ["unknown", "known"]
    upload(at, "other.csv", csv(poisson()))  # another table has no truth of the first
    assert pairs(at) is None


def test_a_truth_that_does_not_fit_is_one_sentence_and_changes_nothing():
    at = give_truth(with_table(), b"parent,child\na,c\n")
    for content, words in (
        (b"parent,child\na,b\nb,<i>z</i>\n", 'names "<i>z</i>", which is not in the table'),
        (b"parent,child,direction\na,b,known\n\nb,c,up\n", 'line 4: the direction is "up"'),
    ):
        give_truth(at, content)
        (said,) = [error.value.replace("\\", "") for error in at.error]
        assert not at.exception and pairs(at) == [("a", "c")] and words in said and said.startswith("truth.csv: ")
    give_truth(at, b"parent,child\na,b\n")
    assert not at.error and pairs(at) == [("a", "b")]


def test_the_table_of_a_run_can_be_given_a_truth_unless_it_has_a_hidden_one():
    at = give_truth(booted(run=finished_run(4, truth=None).id), b"parent,child\nx1,x3\n")
    assert pairs(at) == [("x1", "x3")] and not at.session_state["shared_draft"].is_of_run
    at = booted(run=finished_run(4, teaching=True).id)
    assert not any(found.key == "truth_upload" for found in at.file_uploader)
