"""Runs: the list, what one, two and several ticked runs offer, a ZIP, a truth given later."""

import io
import json
import re
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from app_world import booted, button, poisson, texts, written_run, written_when_asked
from made_up import HOSTILE, finished_run, refine_by_hand
from streamlit.testing.v1 import AppTest

from disco import __version__, runs
from disco.errors import InputError
from disco.files import HOMES
from disco.paper.settings import Settings
from disco.refine import Choice
from disco.reports.bundled import example
from disco.reports.summary import Summary
from disco.runs import Status, trash
from disco.subjects import COMPARE, FIT, REFINE
from disco.subjects.fit import results
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement.refined import read_refined
from disco.work import jobs
from disco.work.turns import Ticket, Wait
from pages.runs import run_table
from pages.shared.frame import sidebar
from pages.shared.result import fit
from pages.shared.widgets.names import state_of

EXAMPLE = HOMES[0] / "datasets" / "example.zip"


@pytest.fixture
def tick(monkeypatch):
    """Tick runs on pages drawn from now on."""
    draw = run_table._ticked

    def ticked(*picked: runs.Run) -> None:
        def rows(view: list[Summary]) -> list[int]:
            draw(view)
            return [row for row, one in enumerate(view) if one.run in picked]

        monkeypatch.setattr(run_table, "_ticked", rows)

    return ticked


def listed(at: AppTest) -> pd.DataFrame:
    return next(found.value for found in at.dataframe if "preset" in found.value)


def test_a_long_description_ends_at_a_word(tick):
    run = runs.create_run(poisson(), Settings(), name="long", source="Row 325 (20.10.2024) was left out. " * 20)
    tick(run)
    (words,) = [one.value for one in booted("runs").caption if one.value.startswith("Row 325")]
    assert words.endswith(" …") and words.replace("\\", "").removesuffix(" …").split()[-1] in run.source.split()


def names(data: bytes) -> set[str]:
    """What a ZIP holds."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return set(archive.namelist())


def error(at: AppTest) -> str:
    (said,) = [found.value.replace("\\", "") for found in at.error]
    return said


# The list ------------------------------------------------------------------------------------------------------------


def test_without_runs_the_page_leads_on():
    at = booted("runs")
    assert "There are no runs yet" in texts(at)
    button(at, "See an example result").click().run()
    assert not at.exception and at.query_params["run"] == example().id


def test_every_run_is_listed_with_what_sets_it_apart():
    fitted = finished_run(5, "first", Settings.of("tuned", seed=3))
    refine_by_hand(fitted)
    written_run(poisson(), "second", state="cancelled", progress=0.5)
    at = booted("runs", run=fitted.id)
    table = listed(at).set_index("name")
    assert set(table.index) == {"▸ first", "second"}
    one, other = table.loc["▸ first"], table.loc["second"]
    assert (one["rows"], one["columns"], one["preset"], one["seed"]) == (60, 5, "tuned", 3)
    assert one["state"] == "Fitted, searched" and one["fit"] == len(StoredFit(fitted).edges())
    assert one["refined"] == len(read_refined(fitted).edges) == 4
    assert other["state"] == "Fit cancelled" and pd.isna(other["fit"]) and other["kilobytes"] >= 1


def test_names_and_states_are_whole_and_all_columns_stand_on_a_wide_page():
    name = "fair.csv, without rows 3 to 6, adjusted for occupation, occupation_husb, yrs_married and 1 more"
    run = written_run(poisson(), name, state="cancelled")
    run.update(REFINE, state="cancelled")
    grid = booted("runs").dataframe[0]
    looks = [look for look in json.loads(grid.proto.columns).values() if not look.get("hidden")]
    assert sum(look["width"] for look in looks) <= 906  # pixels beside the ticks
    assert grid.value["name"].tolist() == [name] and grid.value["state"].tolist() == ["Fit, search cancelled"]
    assert (grid.proto.row_height - 17) // 18 * looks[0]["width"] >= 6.5 * len(name)
    run.rename("fair.csv")
    assert not booted("runs").dataframe[0].proto.row_height


def test_a_search_looks_at_name_preset_seed_and_state_also_of_what_is_worked_on():
    finished_run(4, "barley", Settings.of("tuned", seed=3))
    finished_run(4, "rye", Settings.of("paper", seed=3))
    lock = written_run(poisson(), "busy", state="running").take()
    at = booted("runs")
    searches = {"BAR": {"barley"}, "seed 3 paper": {"rye"}, "fitted": {"barley", "rye"}, "fitting": {"busy"}}
    for words, names in searches.items():
        at.text_input(key="runs_search").set_value(words).run()
        assert set(listed(at)["name"]) == names, words
    assert button(at, "Refresh")
    at.text_input(key="runs_search").set_value("wheat").run()
    assert "None of 3 runs match" in texts(at) and not at.dataframe
    lock.release()


@pytest.mark.parametrize(
    ("fit", "refinement", "said"),
    [
        ("queued", "queued", "Queued"),
        ("queued", "running", "Searching"),
        ("queued", "done", "Queued"),
        ("failed", "done", "Fit failed, searched"),
        ("unfitted", "none", "Not fitted"),
    ],
)
def test_a_run_has_one_state(fit, refinement, said, monkeypatch):
    states = {FIT: fit, REFINE: refinement, COMPARE: "none"}
    statuses = {work: Status(work.name, state) for work, state in states.items()}
    assert state_of(statuses) == said
    run = written_run(poisson())
    monkeypatch.setattr(type(run), "status", lambda run, work: statuses[work])
    assert sidebar.label(run).startswith(f"{said} · ")


def test_a_queued_run_can_be_started_at_once_or_cancelled(monkeypatch, tick):
    busy, run = written_run(poisson(), "busy"), written_run(poisson(), "waits", state="queued")
    asked = []
    monkeypatch.setattr(jobs, "start_at_once", lambda run, work: asked.append(("start", run.id, work)))
    monkeypatch.setattr(jobs, "cancel", lambda run, work: asked.append(("cancel", run.id, work)))
    wait = Wait(Ticket(str(busy.path), "fit"))
    monkeypatch.setattr(jobs, "wait_of", lambda run, work: wait if run.status(work).state == "queued" else None)
    lock = run.take()
    tick(run)
    at = booted("runs")
    assert "Queued behind the fit of busy: next in the queue." in texts(at).replace("\\", "")
    for label in ("Start it now anyway", "Cancel"):
        button(at, label).click().run()
    assert asked == [("start", run.id, FIT), ("cancel", run.id, FIT)] and not at.exception
    lock.release()


# One run -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("refined", "page"), [(True, "Graph"), (False, "Train")])
def test_a_run_without_a_fit_opens_where_its_result_is(tick, refined, page):
    run = runs.create_run(poisson(), Settings(), name="made up")
    tick(refine_by_hand(run) if refined else run)
    at = booted("runs")
    button(at, "Open").click().run()
    assert not at.exception and at.query_params["run"] == run.id and at.title[0].value == page


def test_a_run_is_renamed_and_every_page_says_so(tick):
    run = finished_run(5, "first")
    booted("graph", run=run.id)  # so that its result has been read
    tick(run)
    at = booted("runs", run=run.id)
    name = at.text_input(key=f"runs_name_{run.id}_first")
    assert name.proto.form_id  # Enter renames
    name.set_value("<b>second</b> $x$")
    at.button(key=f"runs_rename_{run.id}").click().run()
    assert not at.exception and listed(at)["name"].tolist() == ["▸ <b>second</b> $x$"]
    assert "`<b>second</b> $x$`" in texts(booted("graph", run=run.id))
    at.text_input(key=f"runs_name_{run.id}_<b>second</b> $x$").set_value("")
    at.button(key=f"runs_rename_{run.id}").click().run()
    assert runs.list_runs()[0].name == "first"


def test_a_run_is_taken_as_a_zip_and_opened_again(tick, monkeypatch):
    run = example()
    (run.path / "networks.safetensors").write_bytes(b"\2\0\0\0\0\0\0\0{}")
    tick(run)
    written = written_when_asked(monkeypatch)
    at = booted("runs")
    whole = written[f"{run.id}.zip"]
    at.checkbox(key=f"runs_networks_{run.id}").uncheck().run()
    small = written[f"{run.id}.zip"]
    assert names(whole) - names(small) == {f"{run.id}/networks.safetensors"} and names(small) <= names(whole)
    at.file_uploader(key="runs_zip_file_0").set_value(("run.zip", whole, "application/zip")).run()
    (fresh,) = set(runs.list_runs()) - {run}
    assert at.query_params["run"] == fresh.id and "is open and is in the list" in texts(at)
    assert (fresh.path / "networks.safetensors").exists() and StoredFit(fresh).order == StoredFit(run).order
    assert not at.file_uploader(key="runs_zip_file_1").value


def without_rows(name: str) -> bytes:
    """The example, with a file of which only the list of columns is left."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(EXAMPLE) as old, zipfile.ZipFile(buffer, "w") as new:
        for path in old.namelist():
            data = old.read(path)
            new.writestr(path, data.partition(b"\n")[0] + b"\n" if path.endswith(f"/{name}") else data)
    return buffer.getvalue()


def test_a_zip_that_is_no_run_is_one_sentence():
    run = finished_run(4)
    for data in (b"no zip", EXAMPLE.read_bytes()[:50_000], without_rows("ccs.csv")):
        at = booted("runs", run=run.id)
        at.file_uploader(key="runs_zip_file_0").set_value(("<b>.zip", data, "application/zip")).run()
        assert not at.exception and runs.list_runs() == [run] and at.query_params["run"] == run.id
        assert error(at).startswith("<b>.zip: ")


def test_order_scores_and_edges_are_files(tick, monkeypatch):
    run = finished_run(HOSTILE)
    refine_by_hand(run)
    tick(run)
    written = written_when_asked(monkeypatch)
    booted("runs")
    tables = {name.removeprefix(f"{run.id}_"): text for name, text in written.items() if name.endswith(".csv")}
    read = {name: pd.read_csv(io.StringIO(text), comment="#") for name, text in tables.items()}
    assert read["fit_order.csv"]["node"].tolist() == StoredFit(run).order
    assert len(read["fit_edges.csv"]) == len(StoredFit(run).edges()) and len(read["fit_edge_scores.csv"]) == len(
        StoredFit(run).ocs
    )
    assert read["fit_node_scores.csv"]["score"].to_numpy() == pytest.approx(StoredFit(run).ccs["score"].to_numpy())
    assert len(read["refinement_edges.csv"]) == 5 and len(read) == 6


# A truth given later -------------------------------------------------------------------------------------------------


def give(at: AppTest, run: runs.Run, content: bytes, times: int = 0) -> AppTest:
    key = f"attach_truth_file_{run.id}_{times}"
    return at.file_uploader(key=key).set_value(("truth.csv", content, "text/csv")).run()


def test_a_truth_is_attached_replaced_and_removed_and_results_notice(tick):
    run = finished_run(5, truth=None)
    refine_by_hand(run)
    shown = fit.of(run, results.own_variant(run))
    assert shown.known is None and "Precision" not in texts(booted("graph", run=run.id))
    tick(run)
    at = booted("data", run=run.id).switch_page("pages/runs/page.py").run()  # Data holds the table, and so its truth
    give(at, run, b"parent,child\nx1,x2\n")
    assert not at.exception and not at.error and len(run.truth()) == 1
    assert len(fit.of(run, results.own_variant(run)).known.true_edges) == 1
    assert any(found.label == "SHD" for found in booted("graph", run=run.id).metric)
    give(at, run, b"parent,child\nx1,x2\nx2,x3\n", times=1)
    assert len(run.truth()) == 1  # not before the button is pressed
    button(at, "Replace the 1 true edge with these 2").click().run()
    assert len(run.truth()) == 2 and at.session_state["shared_draft"].truth.equals(run.truth())
    at.button(key=f"attach_truth_remove_{run.id}").click().run()
    assert run.truth() is None and fit.of(run, results.own_variant(run)).known is None
    assert at.session_state["shared_draft"].truth is None and not at.exception


def test_a_truth_that_does_not_fit_changes_nothing_and_a_damaged_one_can_be_replaced(tick):
    run = finished_run(5)
    before = (run.path / "truth.csv").read_bytes()
    tick(run)
    at = give(booted("runs"), run, b"parent,child\nx1,<i>z</i>\n")
    assert not at.exception and error(at).startswith("truth.csv: ") and 'names "<i>z</i>"' in error(at)
    assert (run.path / "truth.csv").read_bytes() == before
    (run.path / "truth.csv").write_text("x\n1\n")
    at = booted("runs")
    assert "truth.csv is damaged" in error(at)
    give(at, run, b"parent,child\nx1,x2\n")
    assert not at.error and len(run.truth()) == 1


def test_a_hidden_truth_cannot_be_touched(tick):
    run = finished_run(4, teaching=True)
    tick(run)
    at = booted("runs")
    assert "hidden for teaching" in texts(at) and not any("attach" in found.key for found in at.file_uploader)


# Several -------------------------------------------------------------------------------------------------------------


def test_several_runs_are_deleted_after_they_are_named(tick):
    first, second, third = (finished_run(4, name) for name in ("*a*", "b", "c"))
    tick(first, second)
    at = booted("runs", run=second.id)
    assert "- `*a*`" in texts(at) and "- `b`" in texts(at) and "- `c`" not in texts(at)
    at.button(key="runs_delete").click().run()
    assert not at.exception and runs.list_runs() == [third] and "run" not in at.query_params
    assert any("Trash: 2 deleted runs" in box.label for box in at.expander)
    next(found for found in at.button if found.key.startswith("restore_")).click().run()
    assert not at.exception and {run.id for run in runs.list_runs()} == {first.id, third.id}
    at.button(key="empty_trash").click().run()
    assert not at.exception and trash.discarded() == ([], 0) and len(runs.list_runs()) == 2


def test_a_run_that_is_worked_on_stays(tick):
    busy, free = (runs.create_run(poisson(), Settings(), name=name) for name in ("busy", "free"))
    busy.update(REFINE, state="running")
    lock = busy.take({"work": "refine"})
    tick(busy, free)
    at = booted("runs")
    assert "`busy` has work in progress and is kept: cancel that first, on Graph" in texts(at)
    at.button(key="runs_delete").click().run()
    assert runs.list_runs() == [busy]
    at.run()
    assert not any(found.key == "runs_delete" for found in at.button)
    lock.release()


def test_a_run_that_cannot_be_deleted_is_named_and_the_others_go(tick, monkeypatch):
    first, second = finished_run(4, "first"), finished_run(4, "second")
    delete = runs.Run.delete

    def refused(run: runs.Run, into: Path) -> None:
        if run == first:
            raise InputError("The run first is queued or running; cancel it first.")
        delete(run, into)

    monkeypatch.setattr(runs.Run, "delete", refused)
    tick(first, second)
    at = booted("runs")
    at.button(key="runs_delete").click().run()
    assert error(at) == "The run first is queued or running; cancel it first." and runs.list_runs() == [first]
    (table,) = [frame.value for frame in at.dataframe if "Made" in frame.value or "name" in frame.value]
    assert len(table) == 1


def test_two_runs_are_compared(tick, drawn, monkeypatch):
    def changes():
        return next(found.value for found in at.dataframe if "change" in found.value)

    first, second = finished_run(6, "first", Settings.of("paper", seed=1)), finished_run(HOSTILE + ["x1", "x2"], "2")
    third = finished_run(6, "third", Settings.of("paper", seed=2))
    refine_by_hand(third, ["x2", "x1", "x3", "x4", "x5", "x6"], choice=Choice(bootstrap=5, redone=True))
    written = written_when_asked(monkeypatch)
    tick(first, third)
    at = booted("runs")
    labels = ["In both", "Only first", "Only second", "Reversed"]
    assert not at.exception and [found.label for found in at.metric][:4] == labels
    assert set(changes()["change"]) == {"In both", "Open in one"} and len(drawn) == 2  # as the search leaves it
    assert {values["verdict"] for *_, values in drawn[0].edges(data=True)} == {"same", "open"}
    assert "methods" not in drawn[0].graph and all(values["ocs"] > 0 for *_, values in drawn[0].edges(data=True))
    (settings,) = [found.value for found in at.dataframe if "setting" in found.value]
    assert ["Seed", "1", "2"] in settings.to_numpy().tolist() and any(name.endswith("_edges.csv") for name in written)
    at.button_group(key=f"compare_Second_{third.id}").set_value("refinement").run()
    assert {"Open in one", "Only second"} <= set(changes()["change"]) and "gain_nats_second" in changes()
    refine_by_hand(first)
    (first.path / "edges.csv").unlink()
    (third.path / "edges.csv").unlink()
    (settings,) = [found.value for found in booted("runs").dataframe if "setting" in found.value]
    assert settings.to_numpy().tolist()[1:] == [
        ["Likelihood search: bootstrap tables", "50", "5"],
        ["Likelihood search: search every bootstrap table from scratch", "Off", "On"],
    ]
    tick(finished_run(6), second)
    at = booted("runs")
    assert not at.exception and "6 columns only in `2`" in texts(at) and "2 columns" in texts(at)


def test_damaged_results_and_none_cannot_be_compared(tick):
    first, second = finished_run(4), finished_run(4, "damaged")
    Path(second.path / "order.csv").write_text("x\n")
    tick(first, second)
    assert "order.csv is damaged" in error(booted("runs"))
    tick(first, runs.create_run(poisson(), Settings(), name="never fitted"))
    assert "`never fitted` has no finished DISCO fit or likelihood search" in texts(booted("runs"))


def test_about_tells_the_version_the_paper_and_every_document():
    at = booted("runs")
    root = Path(sidebar.__file__).resolve().parents[3]
    cited = (root / "CITATION.cff").read_text().partition("preferred-citation:")[2]
    facts = re.findall(r"(?:title|given-names|family-names|name|year): \"?([^\"\n]+)", cited)
    assert len(facts) == 9 and all(fact in sidebar.CITATION for fact in facts)
    at.sidebar.button(key="about").click().run()
    documents = at.selectbox(key="about_document")
    assert len(documents.options) == len([*root.glob("docs/*.md")]) and f"DISCO {__version__}" in texts(at)
    documents.set_value("Glossary")
    at.sidebar.button(key="about").click().run()  # here every run draws the whole page
    assert not at.exception and "**artefact**" in texts(at)
