"""A fit behind a refinement of the same run, both by one process."""

import pytest
from job_world import ENDLESS, TINY, few_threads, new, wait

from disco.errors import InputError
from disco.paper.settings import Settings
from disco.refine import Choice
from disco.subjects import FIT, REFINE
from disco.subjects.fit.events import read_events
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement.refined import read_refined
from disco.work import jobs

assert few_threads  # used by every test here

QUICK = Choice(starts=2, restarts=0, bootstrap=0, folds=0)
LONG = Choice(starts=2, restarts=0, bootstrap=5000, folds=0)


def test_the_fit_waits_for_the_refinement_and_follows_it(small_table):
    run = new(small_table, Settings.of("paper", **TINY, joint_epochs=2))
    jobs.start(run, REFINE, QUICK, then=FIT)
    assert run.status(FIT).state == "queued"
    with pytest.raises(InputError, match="queued or running"):
        jobs.start(run, FIT)
    wait(lambda: run.status(FIT).state == "done" or not run.alive)
    assert run.status(FIT).state == run.status(REFINE).state == "done"
    assert sorted(read_refined(run).order) == sorted(StoredFit(run).order) == sorted(small_table.columns)
    assert run.status(REFINE).finished_at <= run.status(FIT).finished_at
    wait(lambda: not run.alive)


def test_a_refinement_that_fails_does_not_keep_the_fit_from_starting(small_table):
    run = new(small_table, ENDLESS)
    (run.path / "refining.json").mkdir()  # so that its memory cannot be written
    jobs.start(run, REFINE, QUICK, then=FIT)
    wait(lambda: len(read_events(run)) > 0 or not run.alive)
    assert run.status(REFINE).state == "failed" and run.status(REFINE).error and run.status(FIT).state == "running"
    jobs.cancel(run, FIT)
    assert run.status(FIT).state == "cancelled" and run.status(REFINE).state == "failed"


def test_a_cancel_stops_both(small_table):
    run = new(small_table, ENDLESS)
    jobs.start(run, REFINE, LONG, then=FIT)
    wait(lambda: run.status(REFINE).state == "running")
    jobs.cancel(run, FIT)
    assert not run.alive and [run.status(kind).state for kind in (FIT, REFINE)] == ["cancelled", "cancelled"]
    assert not len(read_events(run))
