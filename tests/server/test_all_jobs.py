"""After a stop of the server every user's work goes on as it was asked for, in its order; an admin sees all of it."""

import pytest
from job_world import TINY, new

from disco.files import write_json
from disco.paper.settings import Settings
from disco.refine import Choice
from disco.runs import Run
from disco.server import all_jobs, users
from disco.subjects import COMPARE, FIT, REFINE
from disco.subjects.comparison.compared import ASKED, MethodsRequest
from disco.work import jobs, turns

SETTINGS = Settings.of("paper", **TINY)


@pytest.fixture
def begun(lab, small_table, monkeypatch):
    """Makes a run of a user with work in a state; `begun.calls` has what was started: who, run, work, choices, then."""

    def make(name: str, work=FIT, at: float = 0.0, state: str = "running", run: Run | None = None, **more) -> Run:
        with lab.asked_by(name):
            run = run or new(small_table, SETTINGS, f"{name} {at}")
            run.update(work, state=state, device="cpu", queued_at=at, **more)
            return run

    def start(run, work, *asked, then=None, accepted=False):
        assert accepted  # more may have been interrupted than a user may begin
        make.calls.append((users.current().id, run, work, asked, then))

    make.calls = []
    monkeypatch.setattr(jobs, "start", start)
    return make


def test_what_was_interrupted_goes_on_for_its_user_in_its_order(lab, begun):
    choice = Choice(starts=2, bootstrap=3)
    late = begun("ada", FIT, 5.0, "queued")
    early = begun("bob", REFINE, 1.0, "running", choice={"starts": 2, "bootstrap": 3})
    both = begun("ada", REFINE, 2.0, "running")
    begun("ada", FIT, 2.0, "queued", run=both)
    compared = begun("eve", COMPARE, 3.0, "queued")
    write_json(compared.path / ASKED, {"methods": {"boss": {}}, "limit": 60.0})
    for state in ("done", "cancelled", "failed"):
        begun("bob", FIT, 4.0, state)
    found = all_jobs.restart()
    assert [(job.run, job.work) for job in found] == [(early, REFINE), (both, REFINE), (compared, COMPARE), (late, FIT)]
    ada, bob, eve = (lab.ids[name] for name in ("ada", "bob", "eve"))
    assert begun.calls == [
        (bob, early, REFINE, (choice,), None),
        (ada, both, REFINE, (Choice(),), FIT),
        (eve, compared, COMPARE, (MethodsRequest({"boss": {}}, 60.0),), None),
        (ada, late, FIT, (), None),
    ]


def test_reading_for_others_leaves_nobody_acting_for_them(lab, begun, monkeypatch):
    begun("ada", FIT, 1.0, "running")
    begun("bob", FIT, 2.0, "running")
    found = all_jobs.restart()
    assert len(found) == 2 and users._acting_for.get() is None
    monkeypatch.setattr(jobs, "wait_of", lambda run, work: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        all_jobs.restart()
    assert users._acting_for.get() is None


def test_work_that_lives_is_left_alone(lab, begun):
    run = begun("ada", FIT, 1.0, "running")
    with lab.asked_by("ada"):
        lock = run.take({"work": "fit"})
    assert all_jobs.restart() == [] and begun.calls == []
    lock.release()
    assert [job.run for job in all_jobs.restart()] == [run]


def test_an_admin_sees_what_runs_and_what_waits_for_what(lab, begun):
    locks, runs = [], []
    for number, name in enumerate(["ada", "ada", "bob"]):
        run = begun(name, FIT, float(number), "queued" if number else "running")
        with lab.asked_by(name):
            locks.append(run.take({"work": "fit"}))
        if number:
            turns.add_ticket(run, "cpu", float(number), FIT, None)
        runs.append(run)
    with lab.asked_by("root", is_admin=True):
        found = all_jobs.active()
        assert found[2].wait.position == 2 and "fit of ada" in found[2].wait.behind
    assert [(job.user.id, job.run, job.status.state) for job in found] == [
        (lab.ids["ada"], runs[0], "running"),
        (lab.ids["ada"], runs[1], "queued"),
        (lab.ids["bob"], runs[2], "queued"),
    ]
    for lock in locks:
        lock.release()
