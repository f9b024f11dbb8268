"""The status of a run's work: one record for every kind, each in a file of its own, those of older versions too."""

import json
import math
import os
from dataclasses import replace

import pytest

from disco.errors import FitStopped, InputError
from disco.paper.settings import Settings
from disco.progress import Event
from disco.runs import Run, Status, Work, create_run
from disco.runs.locks import note
from disco.subjects import FIT, REFINE
from disco.subjects.fit import execution
from disco.subjects.refinement import refining
from disco.work import jobs
from disco.work.recording import Recorder

OLDER_FIT = {
    "state": "done", "stage": "parents", "done": 5, "total": 5, "progress": 1.0, "eta": 0.0, "message": "",
    "error": None, "seconds": 83.5, "device": "cpu", "host": "here", "versions": {"disco": "0.9"}, "estimate": None,
    "seconds_off": 1.1, "bytes_off": None, "peak_bytes": 7, "best_epochs": {"joint": [3, 4]}, "rows_used": 300,
    "queued_at": 1.5, "finished_at": 90.0,
}  # fmt: skip # a table
OLDER_REFINEMENT = {
    "state": "cancelled", "stage": "search", "done": 1, "total": 12, "progress": 0.3, "start": "by mean", "sweep": 2,
    "score": -119.0, "message": "search", "error": None, "seconds": 75.0, "eta": None, "device": "cpu", "host": "here",
    "choice": {"starts": 4, "redone": False}, "queued_at": 1.5, "finished_at": 90.0,
}  # fmt: skip # a table
COUNT = Work("count", "counting", "counting_status.json", ("count",), Status, "")


@pytest.fixture
def run(small_table) -> Run:
    return create_run(small_table, Settings(), name="some", device="cpu")


@pytest.mark.parametrize(("work", "older"), [(FIT, OLDER_FIT), (REFINE, OLDER_REFINEMENT)])
def test_the_files_of_older_versions_are_read_whole(run, work, older):
    (run.path / work.file).write_text(json.dumps(older))
    assert run.status(work) == work.status(work=work.name, **older)
    assert run.update(work, message="still") == replace(run.status(work), message="still")
    written = json.loads((run.path / work.file).read_text())
    kept = {name: value for name, value in older.items() if value is not None or name in ("eta", "error")}
    assert written == {**kept, "work": work.name, "message": "still"}  # no field that only other work has


def test_a_refinement_without_a_status_is_done_where_there_is_a_result(run):
    assert run.status(REFINE).state == "none" and not run.status(REFINE).resumable
    (run.path / REFINE.result).write_text("{}")
    assert run.status(REFINE).state == "done"


@pytest.mark.parametrize("wrong", [{"work": "fit"}, {"state": "unfitted"}, {"stage": "joint"}, {"choice": {"a": "b"}}])
def test_the_status_of_other_work_is_refused(run, wrong):
    (run.path / REFINE.file).write_text(json.dumps({**OLDER_REFINEMENT, **wrong}))
    status = run.status(REFINE)
    assert status.state == "failed" and REFINE.file in status.error and next(iter(wrong)) in status.error


class Silent:
    """A part of a recorder that records nothing."""

    def hear(self, event: Event, now: float, is_late: bool) -> bool:
        return True

    def standing(self, now: float) -> dict[str, float]:
        return {"eta": 2.0}


def test_another_kind_of_work_is_one_registration(run, monkeypatch):
    """Queued, done, stopped and resumed by the same functions, with nothing of its own but how it counts."""
    seen = []

    def count(run: Run, lock: object, callback: object) -> int:
        recorder = Recorder(run, COUNT, Silent(), callback)
        with recorder.watch():
            for done in range(1, 4):
                if recorder(Event("count", done, 3, done / 3)) is False:
                    raise FitStopped("stopped")
                seen.append((done, run.status(COUNT).state, run.status(COUNT).done, run.status(COUNT).eta))
        recorder.finished()
        return 3

    doing = jobs.Doing(lambda run, most: run.written_status(COUNT), count)
    monkeypatch.setattr(jobs, "doing", lambda work: doing)
    lock = jobs.enqueue(run, COUNT, 3, pid=os.getpid())
    assert run.status(COUNT).state == "queued" and jobs.wait_of(run, COUNT).position == 1
    assert note(run.lock_path)["work"] == "count" and not run.status(FIT).active
    with pytest.raises(InputError, match="already queued or running"):
        jobs.enqueue(run, FIT)
    with pytest.raises(FitStopped):
        jobs.work(run, COUNT, lock, lambda event: event.stage == "queue" or event.done < 2)
    assert run.status(COUNT).state == "cancelled" and run.status(COUNT).resumable and not run.alive
    with pytest.raises(FitStopped, match="waiting for the device"):
        jobs.work(run, COUNT, jobs.enqueue(run, COUNT, 3), lambda event: False)
    assert run.status(COUNT).state == "cancelled" and jobs.wait_of(run, COUNT) is None
    assert jobs.work(run, COUNT, jobs.enqueue(run, COUNT, 3)) == 3
    assert seen == [(1, "running", 1, 2.0), *((done, "running", done, 2.0) for done in (1, 2, 3))]
    assert run.status(COUNT).state == "done" and run.status(COUNT).progress == 1.0
    assert not (run.path / FIT.file).exists()


def test_a_fit_tells_its_last_measured_loss(run):
    part = execution._Losses(run, run.status(FIT))
    told = []
    for stage, losses in (("joint", (2.0, 4.0)), ("joint", (math.nan,) * 2), ("projection", (math.nan,) * 2)):
        part.hear(Event(stage, 1, 2, 0.1, train=(1.0, 1.0), validation=losses), 0.0, False)
        told.append(part.standing(0.0)["loss"])
    assert told == [3.0, 3.0, None]


def test_a_refinement_tells_its_best_score(run):
    part = refining._SearchRecord(run, set())
    best = []
    for stage, score in (("prior", math.nan), ("prior", -8.0), ("search", -10.0), ("search", -5.0), ("search", -7.0)):
        part.hear(Event(stage, 1, 2, 0.1, start="by mean", sweep=1, score=score), 0.0, False)
        best.append(part.standing(0.0)["best"])
    assert best == [None, -8.0, -8.0, -5.0, -5.0]
    standing = part.standing(0.0)
    assert (standing["score"], standing["best"]) == (-7.0, -5.0)
    run.update(REFINE, state="running", **standing)
    assert run.written_status(REFINE).best == -5.0
