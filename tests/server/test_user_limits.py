"""What a user may use is said before the work begins, and nothing is deleted for it."""

import io
import time

import pytest
from job_world import TINY
from made_up import finished_run

from disco import space
from disco.errors import InputError
from disco.files import folder_bytes
from disco.paper.settings import Settings
from disco.reports.packing import pack, unpack
from disco.runs import create_run, list_runs
from disco.server.many_users import ManyUsers
from disco.server.user_limits import UserLimits
from disco.space import Limits, Space, runs_root
from disco.subjects import FIT
from disco.work import jobs
from pages.shared.work import fit_start

SETTINGS = Settings.of("paper", **TINY)


@pytest.fixture
def allow(lab, monkeypatch):
    """Sets limits, for Ada."""
    with lab.asked_by("ada"):
        yield lambda **limits: monkeypatch.setattr(space, "_current", ManyUsers(UserLimits(**limits)))


def test_runs_disk_and_cells_are_counted_before_a_run_is_made(allow, small_table):
    finished_run(3)
    rows, columns = small_table.shape
    used = folder_bytes(runs_root())
    assert used == sum(path.stat().st_size for path in runs_root().rglob("*") if path.is_file())
    for given, words in (
        ({"runs": 1}, "You have 1 run, the most on this server: delete one"),
        ({"disk": (used - 1) / 1e9}, "this server gives each user"),
        ({"cells": rows * columns - 1}, f"The table has {rows:,} × {columns:,} cells"),
    ):
        allow(**given)
        with pytest.raises(InputError, match=words):
            create_run(small_table, SETTINGS, name="more")
        assert len(list_runs()) == 1
    allow(runs=2, disk=(used + 1) / 1e9, cells=rows * columns)
    create_run(small_table, SETTINGS, name="more")
    assert len(list_runs()) == 2


def test_a_table_of_a_zip_is_counted_too(allow):
    run = finished_run(3)
    packed, (rows, columns) = pack(run), run.table().shape
    allow(cells=rows * columns)
    unpack(io.BytesIO(packed))
    allow(cells=rows * columns - 1)
    with pytest.raises(InputError, match=f"The table has {rows:,} × {columns:,} cells, and this server takes"):
        unpack(io.BytesIO(packed))
    assert len(list_runs()) == 2


def test_jobs_of_one_user_are_counted_and_not_those_of_others(allow, lab, small_table):
    allow(jobs=1)
    first, second = (create_run(small_table, SETTINGS, name=name, device="cpu") for name in "ab")
    lock = jobs.enqueue(first, FIT)
    with pytest.raises(InputError, match="You have 1 job queued or running"):
        jobs.enqueue(second, FIT)
    jobs.enqueue(second, FIT, accepted=True).release()  # what went on when the server stopped
    with lab.asked_by("bob"):
        jobs.enqueue(create_run(small_table, SETTINGS, name="c", device="cpu"), FIT).release()
    lock.release()
    jobs.enqueue(second, FIT).release()


def test_a_run_whose_work_cannot_begin_does_not_stay(allow, small_table):
    allow(jobs=1)
    first, second = (create_run(small_table, SETTINGS, name=name, device="cpu") for name in "ab")
    lock = jobs.enqueue(first, FIT)
    with pytest.raises(InputError, match="You have 1 job queued or running"):
        fit_start.start(second, FIT)
    assert list_runs() == [first]
    lock.release()


def test_nobody_but_an_admin_passes_the_queue(allow, lab, small_table):
    run = create_run(small_table, SETTINGS, name="a", device="cpu")
    lock = jobs.enqueue(run, FIT)
    with pytest.raises(InputError, match="all work waits for its turn"):
        jobs.start_at_once(run, FIT)
    with lab.asked_by("root", is_admin=True):
        jobs.start_at_once(run, FIT)
    lock.release()


def test_a_job_ends_after_its_minutes_which_begin_with_its_turn(allow, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    allow(minutes=2)
    reason = space.current().limits().watch(lambda words: None)
    for seconds, stage in ((0, "queue"), (900, "queue"), (1000, "joint"), (1119, "joint")):
        now[0] = seconds
        assert reason(stage) == ""
    now[0] = 1121
    assert "stopped after 2 minutes" in reason("joint") and reason("queue") == reason("joint")


def test_a_job_that_takes_too_much_memory_ends_with_a_sentence(allow, small_table):
    """It is another process; a limit of the system would leave it in BLAS, which asks for memory without end."""
    allow(memory=0.05)
    run = create_run(small_table, SETTINGS, name="a", device="cpu")
    jobs.start(run, FIT)
    while run.alive:
        time.sleep(0.05)
    status = run.status(FIT)
    assert status.state == "failed" and "It takes more than 50 MB of memory" in status.error


def test_there_are_no_limits_without_a_server_nor_for_an_admin(lab, monkeypatch):
    with lab.asked_by("root", is_admin=True):
        assert type(space.current().limits()) is Limits
    with lab.asked_by("ada"):
        assert space.current().limits() == UserLimits()
    monkeypatch.setattr(space, "_current", Space())
    limits = space.current().limits()
    assert type(limits) is Limits and limits.watch(print)("joint") == "" and limits.may_skip_queue
