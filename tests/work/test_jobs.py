"""Fits in separate processes, really started, cancelled, killed, resumed and queued."""

import os
import signal
import subprocess
import sys

import pandas as pd
import psutil
import pytest
from job_world import ENDLESS, PATIENCE, TINY, few_threads, kill, new, place, wait, wait_for  # noqa: F401 - a fixture

from disco.errors import InputError
from disco.hidden.all_artefacts import begun
from disco.paper.settings import Settings
from disco.refine import QUICK
from disco.runs import Run, artefacts, create_run
from disco.runs.locks import note
from disco.subjects import COMPARE, FIT, REFINE
from disco.subjects.comparison.compared import MethodsRequest
from disco.subjects.fit import CHECKPOINT, results
from disco.subjects.fit.events import EVENTS, read_events
from disco.subjects.fit.execution import execute
from disco.subjects.fit.results import StoredFit
from disco.work import jobs, turns

SHORT = Settings.of("paper", **TINY, joint_epochs=120)
LONGER = SHORT.replace(joint_epochs=300, validation_start=10_000)


def assert_no_line_twice(run: Run) -> None:
    events = read_events(run)
    assert not events.duplicated(["stage", "epoch", "fold"]).any()
    for (_, fold), epochs in events.groupby(["stage", "fold"])["epoch"]:
        assert epochs.tolist() == list(range(1, len(epochs) + 1)), fold


def test_cancel_kill_and_resume_lose_nothing(small_table):
    """The worker is killed before any checkpoint, stops when asked, is killed, and ends like an uninterrupted fit."""
    run = new(small_table, LONGER)
    jobs.start(run, FIT)
    assert run.status(FIT).state in ("queued", "running")  # no gap before its process holds the lock
    with pytest.raises(InputError, match="already queued or running"):
        jobs.start(run, FIT)
    wait(lambda: len(read_events(run)) > 30)
    assert note(run.lock_path)["pid"] != os.getpid()
    kill(run)
    (run.path / CHECKPOINT).unlink(missing_ok=True)  # on a busy machine there may be one already
    jobs.start(run, FIT)  # anew
    wait(lambda: read_events(run)["epoch"].max() > 50)
    jobs.cancel(run, FIT)
    status = run.status(FIT)
    assert status.state == "cancelled" and status.resumable and (run.path / CHECKPOINT).exists()
    reached = read_events(run)["epoch"].max()
    jobs.start(run, FIT)
    wait(lambda: read_events(run)["epoch"].max() > reached + 40)
    kill(run)  # after epochs that no checkpoint holds
    assert run.status(FIT).state == "interrupted"
    with open((run.path / EVENTS), "a") as file:
        file.write('{"epoch": 9')  # as if killed within a line
    jobs.start(run, FIT)
    wait_for(run, "done", "failed", "interrupted")
    with pytest.raises(InputError, match="is done"):
        jobs.start(run, FIT)
    jobs.cancel(run, FIT)  # too late: nothing changes
    assert run.status(FIT).state == "done" and run.status(FIT).error is None
    whole = create_run(small_table, LONGER, name="whole", spoilt=begun(small_table))
    assert artefacts.of(whole).due
    execute(whole)
    assert whole.status(FIT).state == "done" and not artefacts.of(whole).due
    assert_no_line_twice(run)
    pd.testing.assert_frame_equal(read_events(run), read_events(whole), rtol=1e-6)
    assert StoredFit(run).order == StoredFit(whole).order
    pd.testing.assert_frame_equal(StoredFit(run).ocs, StoredFit(whole).ocs, rtol=1e-6)


def test_fits_queue_one_at_a_time_first_come_first_served(small_table):
    first, second, third = (new(small_table, ENDLESS, name) for name in ("first", "second", "third"))
    for run in (first, second, third):
        jobs.start(run, FIT)
    wait(lambda: len(read_events(first)) > 0)
    assert [place(run, FIT) for run in (first, second, third)] == [None, 1, 2]
    reached = len(read_events(first))
    wait(lambda: len(read_events(first)) > reached + 100)  # without a queue, the others would have had time to start
    assert [run.status(FIT).state for run in (first, second, third)] == ["running", "queued", "queued"]
    jobs.cancel(second, FIT)  # gives up its place
    assert place(third, FIT) == 1 and second.status(FIT).state == "cancelled"
    jobs.start(second, FIT)
    assert place(second, FIT) == 2
    kill(second)  # a dead fit that waited holds up nobody
    assert place(third, FIT) == 1 and second.status(FIT).state == "interrupted"
    kill(first)  # a dead fit frees its device
    wait(lambda: len(read_events(third)) > 0)
    jobs.start(second, FIT)
    assert place(second, FIT) == 1
    jobs.cancel(third, FIT)
    wait(lambda: len(read_events(second)) > 0)
    jobs.cancel(second, FIT)
    assert [run.status(FIT).state for run in (first, second, third)] == ["interrupted", "cancelled", "cancelled"]
    assert turns.waiting("cpu") == []


def test_only_a_fit_queues_for_the_device_of_its_run(small_table, monkeypatch):
    """A refinement or comparison would wait behind fits on a GPU that it does not use."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda: (1 << 30, 1 << 30))
    run = create_run(small_table, ENDLESS, name="with a GPU", device="auto")
    for work, asked in ((FIT, ()), (REFINE, (QUICK,)), (COMPARE, (MethodsRequest({"sort-mean": {}}),))):
        lock = jobs.enqueue(run, work, *asked)
        device = run.status(work).device
        assert device == ("cuda" if work is FIT else "cpu")
        assert turns.waiting(device)[-1].work == work.name
        lock.release()


def test_a_fit_outlives_the_program_that_started_it_and_is_killed_if_it_does_not_answer(small_table, monkeypatch):
    run = new(small_table, ENDLESS)
    code = "from disco import runs; from disco.subjects import FIT; from disco.work import jobs; "
    code += f"jobs.start(runs.open_run({run.id!r}), FIT)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=os.getcwd(), timeout=PATIENCE)
    wait(lambda: len(read_events(run)) > 0)
    assert run.status(FIT).state == "running"
    os.kill(note(run.lock_path)["pid"], signal.SIGSTOP)  # hears no SIGTERM
    monkeypatch.setattr(jobs, "_GRACE_SECONDS", 0.1)
    jobs.cancel(run, FIT)
    assert run.status(FIT).state == "cancelled" and not run.alive


def test_a_fit_can_be_cancelled_while_its_process_starts(small_table):
    """Other tests cancel while it fits."""
    run = new(small_table, ENDLESS)
    jobs.start(run, FIT)
    jobs.cancel(run, FIT)
    assert run.status(FIT).state == "cancelled" and not run.alive


def test_more_scores_than_a_run_can_keep_are_refused_before_training(small_table, monkeypatch):
    run = new(small_table, SHORT)
    monkeypatch.setattr(results, "_MOST_SCORES", 45)
    results.check_size(5, 3)
    monkeypatch.setattr(results, "_MOST_SCORES", 44)
    with pytest.raises(InputError, match="has 45 scores; a run keeps at most 44. Use at most 4 columns, or find the"):
        execute(run)
    assert not len(read_events(run))


def test_a_failure_in_a_worker_is_told(small_table):
    run = new(small_table, SHORT)
    (run.path / "table.parquet").write_bytes(b"not parquet")
    jobs.start(run, FIT)
    wait_for(run, "failed", "interrupted")
    assert run.status(FIT).state == "failed" and "table.parquet is damaged" in run.status(FIT).error
    wait(lambda: not run.alive)
    wait(lambda: (run.path / "worker.log").read_text())  # written after the lock is let go
    assert "Traceback" not in (run.path / "worker.log").read_text()


def test_a_fit_inside_another_program_is_not_killed(small_table):
    run = new(small_table, SHORT)
    lock = run.take({"host": "elsewhere", "pid": 1, "signals": True})
    with pytest.raises(InputError, match="on the machine elsewhere"):
        jobs.cancel(run, FIT)
    lock.write({"host": note(run.lock_path)["host"] and os.uname().nodename, "pid": os.getpid(), "signals": False})
    with pytest.raises(InputError, match="stop it there"):
        jobs.cancel(run, FIT)
    lock.release()


@pytest.mark.parametrize(
    ("load", "chosen", "policy"), [(0.1, None, {}), (2.0, None, {"OMP_WAIT_POLICY": "PASSIVE"}), (2.0, "ACTIVE", {})]
)
def test_threads_give_way_beside_other_programs_unless_the_user_chose(monkeypatch, load, chosen, policy):
    monkeypatch.setattr(psutil, "getloadavg", lambda: (load, load, load))
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if chosen:
        monkeypatch.setenv("OMP_WAIT_POLICY", chosen)
    assert jobs.waiting() == policy
