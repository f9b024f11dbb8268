"""Refinements in separate processes, really started, cancelled, killed, resumed and queued."""

import dataclasses
import json
import math
import os

import numpy as np
import pandas as pd
import pytest
from job_world import ENDLESS, at_work, few_threads, kill, new, place, wait
from made_up import finished_run

from disco.__main__ import main
from disco.errors import FitStopped, InputError
from disco.paper.settings import Settings
from disco.progress import AT_ONCE, ENOUGH, Event, Sketch
from disco.refine import Choice
from disco.runs import Run, create_run
from disco.runs.locks import note
from disco.simulate import Design, simulate
from disco.subjects import FIT, REFINE
from disco.subjects.refinement import refine_forecast, refining
from disco.subjects.refinement.refine_forecast import Trial
from disco.subjects.refinement.refined import choice_of, read_refined
from disco.subjects.refinement.refining import refine_run
from disco.work import jobs, recording, turns

assert few_threads  # used by every test here

SHORT = Choice(starts=2, restarts=1, bootstrap=3, folds=2)
LONG = Choice(starts=2, restarts=0, bootstrap=5000, folds=0)


def tabled(nodes: int = 6, rows: int = 500) -> Run:
    known = simulate(Design(nodes=nodes, rows=rows, k=1.5, family="nb-softplus", seed=2))
    return create_run(known.table, Settings(), name="refined", device="cpu")


def ended(run: Run) -> str:
    wait(lambda: not run.status(REFINE).active)
    return run.status(REFINE).state


def test_a_started_refinement_runs_apart_and_leaves_the_fit_alone():
    run = finished_run(5)
    before = (run.path / "status.json").read_bytes()
    assert run.status(REFINE).state == "none"
    jobs.start(run, REFINE, SHORT)
    assert run.status(REFINE).active and run.status(REFINE).choice["restarts"] == 1 and run.status(FIT).state == "done"
    for refused in (lambda: jobs.start(run, REFINE, SHORT), run.delete):
        with pytest.raises(InputError, match="queued or running"):
            refused()
    wait(lambda: run.status(REFINE).state == "running")
    assert note(run.lock_path)["pid"] != os.getpid()
    assert ended(run) == "done" and run.status(REFINE).error is None and run.status(REFINE).progress == 1.0
    assert (run.path / "status.json").read_bytes() == before
    result = read_refined(run)
    assert choice_of(run)["bootstrap"] == 3 and result.moves["node"].tolist() == result.order
    assert not (run.path / "refining.json").exists() and not (run.path / "refining.jsonl").exists()
    wait(lambda: not run.alive)
    run.delete()


def test_a_reader_ends_the_search_and_keeps_its_graph():
    run = tabled(nodes=10)
    jobs.start(run, REFINE, LONG)
    wait(lambda: (status := run.status(REFINE)).stage == "bootstrap" and status.done > 2)
    graph = refining.so_far(run)
    assert sorted(graph.nodes) == sorted(run.nodes) and not graph.directed
    place = {name: position for position, name in enumerate(graph.nodes)}
    assert len(graph.edges) and all(place[parent] < place[child] for parent, child in graph.likelier)
    refining.stop_here(run)
    assert ended(run) == "done"
    result = read_refined(run)
    assert any("of 5,000 bootstrap tables" in note for note in result.notes) and result.edges["bootstrap"].notna().all()
    assert refining.so_far(run) is None and {path.name for path in run.path.glob("refining*")} == {REFINE.file}


def test_a_reader_ends_the_search_and_then_its_evidence():
    run, answers = tabled(nodes=10), []

    def heard(event):
        if event.graph is not None and len(answers) < 2 and event.stage == ("search", "evidence")[len(answers)]:
            refining.stop_here(run)
            answers.append(refining.ending(run))

    result = refine_run(run, SHORT, callback=heard)
    assert answers == [ENOUGH, AT_ONCE] and result.edges["direction_nats"].isna().all() and len(result.edges)
    assert read_refined(run).notes == result.notes and len(result.notes) == 2 and result.is_early


def test_the_graph_so_far_is_the_best_by_score():
    run, choice = tabled(), SHORT
    first, second = run.nodes[:2]
    record = refining.recorder_of(run, choice, None)
    seen = []
    for stage, start, score in (("prior", "", -9), ("search", "a", -20), ("search", "b", -5), ("search", "a", -6)):
        graph = Sketch(run.nodes, [(first, second, float(-score))])
        record(Event(stage, 0, 1, 0.0, start=start, score=float(score), graph=graph))
        seen.append(float(refining.so_far(run).edges["gain_nats"].iloc[0]))
    assert seen == [9, 9, 5, 5]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"order": 1, "edges": []}', '{"order": [], "edges": []}', "edge", "back", "gain"]
)
def test_a_damaged_graph_so_far_counts_as_none(text):
    run = tabled()
    order, pair = run.nodes, [*run.nodes[:2], 1.0]
    edges = {"edge": [["x", "y", 1.0]], "back": [[pair[1], pair[0], 1.0]], "gain": [[*pair[:2], math.inf]]}.get(text)
    if edges is not None:
        text = json.dumps({"order": order, "edges": edges, "decided": []})
    (run.path / "refining_graph.json").write_text(text)
    assert refining.so_far(run) is None
    kept = {"order": order, "edges": [pair], "decided": []}
    (run.path / "refining_graph.json").write_text(json.dumps(kept))
    assert refining.so_far(run).undirected == [tuple(pair[:2])]
    for decided, is_read in ([pair[:2]], True), ([pair], False), (3, False):
        (run.path / "refining_graph.json").write_text(json.dumps({**kept, "decided": decided}))
        assert (refining.so_far(run) is not None) == is_read


def test_killed_in_the_middle_and_resumed_equals_uninterrupted():
    run, whole = tabled(), tabled()
    jobs.start(run, REFINE, SHORT)
    wait(lambda: (run.path / "refining.json").exists() or not run.alive)
    kill(run)
    assert run.status(REFINE).state == "interrupted" and run.status(REFINE).resumable
    jobs.start(run, REFINE, SHORT)
    assert ended(run) == "done"
    expected, found = refine_run(whole, SHORT), read_refined(run)
    same = ("order", "best", "score", "candidates", "fits", "notes")
    assert [getattr(found, name) for name in same] == [getattr(expected, name) for name in same]
    assert refined_files(run) == refined_files(whole)


def refined_files(run):
    """The content of every file of a refinement in its run."""
    return {path.name: path.read_bytes() for path in sorted(run.path.glob("refined*"))}


@pytest.fixture
def long_fit(small_table):
    with at_work(new(small_table, ENDLESS)):
        yield


@pytest.mark.usefixtures("long_fit")
def test_a_short_refinement_does_not_wait_for_a_long_fit():
    run = tabled()
    jobs.start(run, REFINE, SHORT)
    assert ended(run) == "done"


@pytest.mark.usefixtures("long_fit")
def test_a_long_refinement_waits_for_its_turn_and_gives_its_place_up():
    run = tabled()
    jobs.start(run, REFINE, LONG)
    assert place(run, REFINE) == 1 and run.status(REFINE).state == "queued"
    assert run.status(FIT).state == "unfitted"
    with pytest.raises(InputError, match="queued or running"):
        jobs.cancel(run, FIT)  # does not stop a refinement
    jobs.cancel(run, REFINE)
    assert run.status(REFINE).state == "cancelled" and place(run, REFINE) is None
    jobs.start(run, REFINE, LONG)
    wait(lambda: jobs.wait_of(run, REFINE).words.startswith("Queued behind the fit of job: next in the queue"))
    jobs.start_at_once(run, REFINE)
    wait(lambda: run.status(REFINE).state == "running")
    jobs.cancel(run, REFINE)


def test_the_command_line_writes_the_same_state(capsys):
    run = finished_run(4)
    states = set()
    standing = recording.Recorder.standing

    def watched(self):
        states.add((run.status(REFINE).state, run.status(FIT).state))
        return standing(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording.Recorder, "standing", watched)
        assert main(["refine", str(run.path), "--starts", "2", "--restarts", "0", "--bootstrap", "2"]) == 0
    assert states == {("running", "done")}
    status = run.status(REFINE)
    assert status.state == "done" and status.choice["starts"] == 2 and status.seconds > 0


def test_history_holds_each_sweep_once_and_forgets_torn_searches():
    run, choice = tabled(), dataclasses.replace(SHORT, starts=1)  # two searches might agree and need no restart
    with pytest.raises(FitStopped):
        refine_run(run, choice, callback=lambda step: step.start != "restart 1")
    status = run.status(REFINE)
    assert status.state == "cancelled" and status.resumable and status.seconds > 0
    seen = refining.history(run)
    assert not seen.duplicated(["start", "sweep"]).any()
    assert seen.loc[seen["start"] == "restart 1", "sweep"].tolist() == [1]
    ends = json.loads((run.path / "refining.json").read_text())["starts"]
    assert {one["start"] for one in ends} == {"by variance − mean"}
    for one in ends:
        np.testing.assert_allclose(seen.loc[seen["start"] == one["start"], "score"], one["sweeps"], atol=1e-6)
    with open(run.path / "refining.jsonl", "a") as file:
        file.write('["restart 1", 7')  # as if killed within a line
    with pytest.raises(FitStopped):
        refine_run(run, choice, callback=lambda step: step.stage != "search")
    assert run.status(REFINE).seconds > status.seconds
    assert json.loads((run.path / "refining.json").read_text())["starts"] == ends
    again = refining.history(run)
    assert again.loc[again["start"] == "restart 1", "sweep"].tolist() == [1]  # started again
    finished = again[again["start"] != "restart 1"].reset_index(drop=True)
    pd.testing.assert_frame_equal(finished, seen[seen["start"] != "restart 1"].reset_index(drop=True))


def test_another_choice_begins_anew():
    run = tabled()
    with pytest.raises(FitStopped):
        refine_run(run, SHORT, callback=lambda step: step.start != "linear models")
    lock = jobs.enqueue(run, REFINE, Choice(seed=7))
    assert refining.history(run).empty and run.written_status(REFINE).progress == 0.0
    lock.release()


def test_time_left_is_told_only_while_tables_are_drawn():
    run, told = tabled(), []
    hear = lambda step: told.append((step.stage, run.written_status(REFINE).eta))  # noqa: E731
    refine_run(run, Choice(starts=1, restarts=0, bootstrap=30, folds=0), callback=hear)
    assert {eta for stage, eta in told if stage != "bootstrap"} == {None} and run.written_status(REFINE).eta is None


def test_a_trial_begins_the_graph_and_foretells_the_time(monkeypatch):
    trial = Trial(500, 6, 4, 1, 9.0, 1.0, 1, Sketch(["x2", "x1", "x3", "x4", "x5", "x6"], [("x2", "x1", 9.0)]))
    run, known = tabled(), refine_forecast.of_run
    monkeypatch.setattr(refine_forecast, "of_run", None)  # not called where there is a trial
    lock = jobs.enqueue(run, REFINE, SHORT, trial)
    assert refining.so_far(run).nodes == trial.graph.order and refining.so_far(run).undirected == [("x2", "x1")]
    (ticket,) = turns.waiting("cpu")
    assert ticket.expected == trial.seconds(SHORT)
    result = jobs.work(run, REFINE, lock)
    assert refining.so_far(run) is None and result.fits > 0
    monkeypatch.setattr(refine_forecast, "of_run", known)
    run = tabled()
    lock = jobs.enqueue(run, REFINE, SHORT)
    assert refining.so_far(run) is None and turns.waiting("cpu")[0].expected is None
    assert refining.measured(run, None) > 0 and sorted(refining.so_far(run).nodes) == run.nodes
    better = (run.path / "refining_graph.json").read_text()
    refining.queued(run, SHORT, trial)
    assert (run.path / "refining_graph.json").read_text() == better
    lock.release()


def test_a_resumed_search_keeps_the_better_graph_that_it_has_told():
    run, stage = tabled(), iter(["search"] * 60)
    with pytest.raises(FitStopped):
        refine_run(run, SHORT, callback=lambda step: step.stage != "search" or next(stage, None) is not None)
    better = (run.path / "refining_graph.json").read_text()
    told = []

    def heard(step):
        told.append((step.stage, (run.path / "refining_graph.json").read_text() == better))
        return step.stage != "search"

    with pytest.raises(FitStopped):
        refine_run(run, SHORT, callback=heard)
    assert all(is_same for stage, is_same in told if stage in ("screen", "prior")) and len(told) > 2
