"""Train: settings, estimate, start; the monitor in every state of a run."""

import dataclasses
import json
from dataclasses import replace

import pandas as pd
import pytest
from app_world import booted, box, button, draft_of, drafted, poisson, press, texts, unfold, written_run
from made_up import finished_run

from disco import cluster, runs
from disco.errors import InputError
from disco.knowledge import Knowledge
from disco.paper.plan import Plan
from disco.paper.settings import Settings
from disco.subjects import FIT
from disco.subjects.fit import CHECKPOINT, order_so_far
from disco.subjects.fit.events import EVENTS
from disco.work import where
from pages.shared.widgets.names import plain
from pages.shared.work import fit_options

KINDS = ("tiers", "required", "forbidden")
pytestmark = pytest.mark.usefixtures("single_threaded")


def on_train(table=None):
    at = unfold(drafted("train", poisson() if table is None else table), "more_settings", "expert")
    for _ in range(50):  # the engine is loaded in the background
        if at.metric:
            break
        at.run()
    assert not at.exception
    return at


def test_a_preset_changes_its_numbers_and_keeps_own_choices():
    at = on_train()
    at.number_input(key="set_pi_min").set_value(3.0).run()  # refused
    assert any("pi" in found.value for found in at.error) and draft_of(at).settings.pi_min == 1.0
    assert at.number_input(key="set_pi_min").value == 1.0
    at.number_input(key="set_seed").set_value(7).run()
    at.button_group(key="set_boundary").set_value("admissible").run()
    assert draft_of(at).settings.preset == "tuned" and "are our reading" not in texts(at)
    at.button_group(key="set_preset").set_value("paper").run()
    assert (draft_of(at).settings.seed, draft_of(at).settings.boundary) == (7, "admissible")
    assert draft_of(at).settings.joint_epochs == 800 and "are our reading" in texts(at)
    at.button_group(key="set_joint_schedule").set_value("epochs").run()  # the paper at its letter
    assert draft_of(at).settings == Settings.of("paper", seed=7, boundary="admissible", joint_schedule="epochs")
    button(at, "Back to the preset").click().run()
    assert draft_of(at).settings.joint_schedule == Settings.of("paper").joint_schedule
    at.button_group(key="set_preset").set_value("tuned").run()
    assert draft_of(at).settings == Settings.of("tuned", seed=7, boundary="admissible")


def test_every_number_of_the_method_can_be_set_in_the_order_of_its_rows():
    at = on_train()
    assert [found.label for found in at.metric] == ["Time, about", "Memory, about"]
    shown = [found.key for found in at.number_input]
    expected = ["set_joint_epochs", "set_joint_steps", "set_joint_decay", "set_joint_learning_rate"]
    assert sorted(expected, key=shown.index) == expected  # as a phone shows them
    assert "set_projection_epochs" not in shown  # without that network
    at.button_group(key="set_projection").set_value("network").run()
    named = {found.key.removeprefix("set_") for found in [*at.number_input, *at.button_group, *at.toggle] if found.key}
    left_to_preprocess = {"transform", "levels", "min_level_rows"}
    assert set(draft_of(at).settings.to_dict()) - left_to_preprocess <= named
    plan = Plan.of(len(poisson()), draft_of(at).settings)
    assert plan.projection.epochs > 40
    assert f"40 requested; {plan.projection.epochs:,} will run here, to reach 1,000 steps." in texts(at)
    assert f"30 requested; at most {plan.joint.epochs:,} will run here, to reach 500 steps." in texts(at)
    at.number_input(key="set_projection_steps").set_value(0).run()
    assert "reach 1,000 steps" not in texts(at) and "reach 500 steps" in texts(at)


def test_closed_boxes_draw_no_widget_and_what_was_chosen_or_typed_stays():
    def name():
        return next(box for box in at.text_input if box.label == "Name of the run")

    at = drafted("train", poisson())
    assert not any((found.key or "") in ("set_width", "set_tau_z") for found in at.number_input)
    name().set_value("mine").run()
    at = unfold(at, "expert")
    at.number_input(key="set_width").set_value(64).run()
    assert not any(found.key == "set_tau_z" for found in at.number_input)
    at.session_state["expert"] = False
    assert draft_of(at.run()).settings.width == 64 and "1 setting differs" in texts(at)
    at.switch_page("pages/preprocess/page.py").run()
    at.switch_page("pages/train/page.py").run()
    assert not at.exception and name().value == "mine" and draft_of(at).settings.width == 64


def test_folds_by_counts_are_two():
    at = on_train()
    at.button_group(key="set_folds_by").set_value("counts").run()
    assert draft_of(at).settings.folds_by == "counts" and draft_of(at).settings.folds == 2
    assert at.number_input(key="set_folds").disabled and not at.exception
    at.toggle(key="set_disjoint_rows").set_value(True).run()
    assert not draft_of(at).settings.disjoint_rows and any("choose one" in found.value for found in at.error)
    at.button_group(key="set_preset").set_value("paper").run()
    assert draft_of(at).settings.folds_by == "counts"
    at.button_group(key="set_folds_by").set_value("rows").run()
    assert draft_of(at).settings.folds_by == "rows" and not at.number_input(key="set_folds").disabled


def test_start_makes_a_run_and_opens_it(started):
    at = press(on_train(), "Start the fit")
    (run,) = runs.list_runs()
    assert started == [(run, FIT)] and at.query_params["run"] == run.id
    assert run.name == "t.csv" and run.settings == Settings.of("tuned")


def test_a_run_of_a_table_for_teaching_is_for_teaching(started):
    at = on_train()
    truth = pd.DataFrame({"parent": ["a"], "child": ["b"]})
    at.session_state["shared_draft"] = replace(draft_of(at), truth=truth, teaching=True)
    press(at.run(), "Start the fit")
    (run,) = runs.list_runs()
    assert run.teaching and len(run.truth()) == 1 and draft_of(booted("train", run=run.id)).teaching


def test_done_run_shows_its_account_and_leads_on():
    run = written_run(poisson(), rows_used=90, seconds_off=1.1, estimate={"seconds": 75, "low": 60, "high": 150})
    at = booted("train", run=run.id)
    said = texts(at)
    assert "1 min 23 s" in said and "90 rows used" in said and "estimated 1 to 2.5 min" in said
    assert "No sign of overfitting" in said and button(at, "See the causal order")
    at.slider(key="smoothing").set_value(0.6).run()
    at.button_group(key="losses_shown").set_value("each").run()
    assert not at.exception and not any(found.key == "start_fit" for found in at.button)
    assert button(unfold(at, "another_fit"), "Start the fit")


def test_the_problems_of_another_table_stay_folded_below_a_finished_run():
    at = booted("train", run=written_run(poisson()).id)
    half = replace(draft_of(at), run=None, is_of_run=False, key="half", table=poisson() + 0.5)
    at.session_state["shared_draft"] = half
    assert "Fix this first" not in texts(at.run()) and "Fix this first" in texts(unfold(at, "another_fit"))


def test_a_dead_worker_is_seen_and_can_be_resumed(started):
    run = written_run(poisson(), state="running", stage="joint", progress=0.25)
    (run.path / CHECKPOINT).write_bytes(b"kept")
    at = booted("graph", run=run.id)
    assert texts(at).count("interrupted") == 1 and "Its process ended early" in texts(at) and button(at, "Resume")
    at = booted("train", run=run.id)
    assert "was interrupted at 25% and can be resumed from its last checkpoint" in texts(at)
    assert "Its process ended early" in texts(at)
    press(at, "Resume")
    assert started == [(run, FIT)]


@pytest.mark.parametrize("state", ["cancelled", "failed"])
def test_ended_runs_say_why_and_can_be_started_again(state):
    failed = state == "failed"
    run = written_run(poisson(), state=state, progress=0.0, error="Column <b> is odd." if failed else None)
    at = booted("train", run=run.id)
    again = button(at, "Try the same fit again" if failed else "Start again")
    assert state in texts(at) and ("primary" in str(again.proto.type)) is not failed
    assert any(found.key == "start_fit" for found in at.button) is failed  # other settings, at once
    assert any("Column \\<b\\> is odd" in found.value for found in at.error) is failed


def test_a_fit_that_begins_has_a_sentence_instead_of_empty_figures():
    run = written_run(poisson(), state="running", stage="joint", done=12, total=40, eta=40.0, progress=0.3)
    (run.path / EVENTS).unlink()
    lock = run.take()
    try:
        at = booted("train", run=run.id)
        assert "appear here once the first epochs are trained" in texts(at) and not at.get("plotly_chart")
        bars = [bar.proto.text for bar in at.get("progress")]
        assert any("epoch 12 of 40" in words and "at most 60 s left" in words for words in bars)  # it may stop early
        line = {"epoch": 1, "stage": "joint", "fold": 1, "train": 1.0, "validation": 2.0}
        (run.path / EVENTS).write_text(json.dumps(line) + "\n")
        at.run()
        assert "Order so far" not in texts(at)
        order_so_far.tell(run, 20, sorted(run.nodes))
        assert "Order so far" in texts(at.run()) and "From the networks at epoch 20" in texts(at)
        assert "appear when its training begins" in texts(at) and len(at.get("plotly_chart")) == 1
    finally:
        lock.release()


def test_a_run_says_its_settings_in_the_words_of_the_page():
    changes = {"joint_epochs": 3, "skip_connection": False, "parent_rule": "iqr", "max_rows": None}
    run = finished_run(4, settings=Settings.of("tuned", **changes, width=8, projection_epochs=2))
    (said,) = [one.value for one in booted("train", run=run.id).caption if "Preset" in one.value]
    assert "joint network: epochs at most 3" in said and "skip connection off" in said
    assert "rule of parent selection Median and IQR" in said and "_" not in said
    named = [name for name in dataclasses.asdict(Settings()) if fit_options.label(name) == name]
    assert named == []


def test_the_sidebar_sends_work_to_a_cluster(monkeypatch):
    """An address that cannot be used is a sentence, and changes nothing."""
    monkeypatch.setattr(cluster, "workers", lambda address: 2)
    at = booted()
    at.sidebar.text_input(key="cluster_address").set_value("tcp://host:8786")
    press(at, "Work there")
    assert where.address() == "tcp://host:8786" and "tcp://host:8786" in texts(at)

    def refused(address):
        raise InputError("No Dask scheduler answers at [here](http://x).")

    monkeypatch.setattr(cluster, "workers", refused)
    at.sidebar.text_input(key="cluster_address").set_value("tcp://other:8786")
    press(at, "Work there")
    assert "No Dask scheduler answers" in at.sidebar.error[0].value and where.address() == "tcp://host:8786"
    at.sidebar.button(key="cluster_leave").click().run()
    assert where.address() == ""


def test_the_sidebar_opens_runs_and_tells_one_that_waits_from_one_that_is_fitted():
    first, second, third = (written_run(poisson(), name) for name in ("first", "second", "third"))
    second.update(FIT, state="queued")
    third.update(FIT, state="running", stage="joint")
    locks = [second.take(), third.take()]
    at = booted("train")
    picker = box(at, "run_picker")
    assert {"Queued · second · paper, seed 0", "Fitting · third · paper, seed 0"} <= set(picker.options)
    picker.set_value(first.id).run()
    assert at.query_params["run"] == first.id
    for lock in locks:
        lock.release()


def test_knowledge_from_a_file_goes_into_the_run(started):
    at, names = on_train(), list(poisson().columns)
    at.file_uploader(key="knowledge_file_0").set_value(("k.json", b'{"tiers": [["<b>"]]}', "application/json")).run()
    (error,) = at.error
    assert error.value == plain('The knowledge names "<b>", which is not a column of the table: correct or remove it.')
    text = f"/knowledge\naddtemporal\n1 {names[0]}\n2 {names[1]}\n"
    at.file_uploader(key="knowledge_file_0").set_value(("k.txt", text.encode(), "text/plain")).run()
    assert not at.error and draft_of(at).knowledge == Knowledge([[names[0]], [names[1]]])
    assert "Knowledge: 2 tiers" in [found.label for found in at.expander]
    button(at, "Start the fit").click().run()
    (run,) = runs.list_runs()
    assert run.knowledge() == Knowledge([[names[0]], [names[1]]])


def test_another_fit_of_a_run_keeps_its_knowledge_unless_it_is_removed():
    knowledge, table = Knowledge(forbidden=[("*", "*")]), poisson()
    run = runs.create_run(table, Settings(), name="r", knowledge=knowledge)
    at = booted("train", run=run.id)
    assert draft_of(at).knowledge == knowledge
    at.switch_page("pages/data/page.py").run()
    follow = "Search and fit follow the knowledge given on Train: 1 forbidden rule."
    assert follow in [found.value for found in at.caption]
    unfold(at.switch_page("pages/train/page.py").run(), "another_fit")
    at.button(key="knowledge_remove").click().run()
    assert draft_of(at).knowledge is None and run.knowledge() == knowledge


def typed(at, tiers="", required="", forbidden=""):
    """Type knowledge into the boxes, and apply it."""
    for kind, text in zip(KINDS, (tiers, required, forbidden), strict=True):
        at.text_area(key=f"knowledge_{kind}").set_value(text)
    at.run()
    return at.button(key="knowledge_apply").click().run()


def test_typed_knowledge_is_applied_shown_again_removed_and_restored():
    at = on_train()
    at.text_area(key="knowledge_tiers").set_value("a,\n\nb, c").run()
    assert at.multiselect(key="knowledge_closed").options == ["Tier 1", "Tier 2"]
    at.multiselect(key="knowledge_closed").set_value([2]).run()
    typed(at, "a,\n\nb, c", "a->b", "a -> c")
    rules = Knowledge([["a"], ["b", "c"]], ["a → b"], ["a → c"], [2])
    assert not at.exception and not at.error and draft_of(at).knowledge == rules
    texts = [at.text_area(key=f"knowledge_{kind}").value for kind in KINDS]
    assert texts == ["a\nb, c", "a → b", "a → c"] and at.multiselect(key="knowledge_closed").value == [2]
    at.switch_page("pages/data/page.py").run()
    at.switch_page("pages/train/page.py").run()
    assert at.text_area(key="knowledge_tiers").value == "a\nb, c"
    at.button(key="knowledge_remove").click().run()
    assert draft_of(at).knowledge is None and at.text_area(key="knowledge_tiers").value == ""
    typed(at, forbidden="b -> c")
    assert "knowledge_restore" not in [found.key for found in at.button]  # before these there were none
    typed(at, forbidden="c -> b")
    at.button(key="knowledge_restore").click().run()
    assert draft_of(at).knowledge == Knowledge(forbidden=["b → c"])
    assert at.text_area(key="knowledge_forbidden").value == "b → c"


def test_typed_knowledge_that_is_wrong_is_said_and_stays_typed():
    at = on_train()
    for lines, words in (
        (("", "a -> z", ""), '"z", which is not a column of the table'),
        (("", "a -> b\nb -> a", ""), "which closes the cycle a → b → a"),
    ):
        typed(at, *lines)
        (error,) = at.error
        assert not at.exception and draft_of(at).knowledge is None and plain(words) in error.value
        assert lines == tuple(at.text_area(key=f"knowledge_{kind}").value for kind in KINDS)


def test_knowledge_is_saved_as_files_if_their_form_can_hold_it():
    at = typed(on_train(), "a\nb")
    assert {"knowledge_json", "knowledge_tetrad"} <= {found.key for found in at.get("download_button")}
    at = typed(on_train(poisson(names=("a", "b, c"))), forbidden='a -> "b, c"')
    assert draft_of(at).knowledge == Knowledge(forbidden=[("a", "b, c")])
    assert "knowledge_tetrad" not in {found.key for found in at.get("download_button")}
    assert any(plain('cannot hold "b, c", because it has a space') in found.value for found in at.caption)
