"""The queue of a device: what runs beside what, whose turn comes first, and what whoever waits is told."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import SimpleNamespace

import pandas as pd
import pytest
from job_world import TINY, new

from disco.errors import FitStopped
from disco.paper.settings import Settings
from disco.progress import Event
from disco.runs import Run, Work
from disco.runs.locks import Lock
from disco.subjects import COMPARE, FIT, REFINE
from disco.work import turns
from disco.work.turns import SHORT_SECONDS

SETTINGS = Settings.of("paper", **TINY)
LONG, SHORT = 10 * SHORT_SECONDS, 0.2 * SHORT_SECONDS
Queue = Callable[..., Run]


@pytest.fixture
def queue(small_table: pd.DataFrame) -> Iterator[Queue]:
    """Puts a new run into the queue, with an injected expectation; its lock is held, as by a living process."""
    locks: dict[Run, Lock] = {}

    def enter(name: str, expected: float | None = None, work: Work = FIT) -> Run:
        run = new(small_table, SETTINGS, name)
        locks[run] = run.take({"pid": os.getpid()})
        run.update(work, state="queued", device="cpu", queued_at=float(len(locks)))
        turns.add_ticket(run, "cpu", float(len(locks)), work, expected)
        return run

    enter.locks = locks
    yield enter
    for lock in locks.values():
        lock.release()


def turn(run: Run, work: Work = FIT, callback: Callable[[Event], bool] | None = None) -> AbstractContextManager[bool]:
    return turns.turn(run, "cpu", run.written_status(work).queued_at, callback)


def waits(run: Run, work: Work = FIT) -> bool:
    """Whether the turn of a run has not come: it is told so, and gives up."""
    said: list[str] = []

    def hear(event: Event) -> bool:
        said.append(event.message)
        return not event.message

    queued_at = run.written_status(work).queued_at
    ticket = turns.ticket_of(run, "cpu", queued_at)
    content = ticket.read_bytes()
    try:
        with turn(run, work, hear):
            return False
    except FitStopped:
        return True
    finally:
        ticket.write_bytes(content)  # it keeps its place


def test_short_work_runs_beside_long_work_and_only_one_of_each(queue):
    long, later, unknown = queue("long", LONG), queue("later", LONG), queue("unknown")
    short, next_short = queue("short", SHORT, REFINE), queue("next", SHORT, COMPARE)
    with turn(long) as is_short:
        assert not is_short and waits(later) and waits(unknown)
        with turn(short, REFINE) as is_short:
            assert is_short and waits(next_short, COMPARE) and waits(later)
        with turn(next_short, COMPARE):
            pass
    with turn(later):
        assert waits(unknown)
    with turn(unknown):
        assert turns.waiting("cpu") == []


def test_long_work_begins_although_short_work_runs(queue):
    short, long = queue("short", SHORT), queue("long", LONG)
    with turn(short), turn(long):
        assert turns.waiting("cpu") == []


def test_the_place_of_a_dead_process_is_skipped(queue):
    dead, alive = queue("dead", LONG), queue("alive", LONG)
    assert turns.wait_of(alive, "cpu").position == 2 and waits(alive)
    queue.locks.pop(dead).release()
    assert turns.wait_of(alive, "cpu") == turns.Wait()
    assert turns.wait_of(dead, "cpu") is None
    with turn(alive):
        pass


def test_work_queued_again_has_one_place(queue):
    """The ticket of killed work would be alive again, since the run's lock is held again."""
    again, other = queue("again", SHORT), queue("other", SHORT)
    turns.ticket_of(other, "cpu", 2.0).rename(turns.ticket_of(again, "cpu", 2.0))  # a run of another user, by that id
    turns.add_ticket(again, "cpu", 9.0, FIT, LONG)
    tickets = [(ticket.run, ticket.expected) for ticket in turns.waiting("cpu")]
    assert tickets == [(str(other.path), SHORT), (str(again.path), LONG)]


def test_a_lane_let_go_by_a_dead_process_is_free(queue):
    dead, alive = queue("dead", SHORT), queue("alive", SHORT)
    lane = turns.ticket_of(dead, "cpu", 1.0).with_name("short")
    queue.locks.pop(dead).release()
    Lock.take(lane, {"run": str(dead.path)}).release()  # its note stays
    assert turns.wait_of(alive, "cpu").words == ""
    with turn(alive):
        pass


def test_work_started_at_once_runs_beside_all_other(queue):
    running, first, second = queue("running", LONG), queue("first", LONG), queue("second", LONG)
    with turn(running):
        turns.start_at_once(second, "cpu", second.written_status(FIT).queued_at)
        assert waits(first)
        with turn(second):
            assert waits(first)
        turns.start_at_once(second, "cpu", second.written_status(FIT).queued_at)  # too late: nothing is left behind
    assert sorted(path.name for path in turns.ticket_of(first, "cpu", 2.0).parent.iterdir()) == [
        turns.ticket_of(first, "cpu", 2.0).name,
        "lock",
    ]


def test_who_waits_is_told_for_what_its_place_and_how_long(queue):
    running, second, third = queue("big", LONG), queue("second", 240.0, REFINE), queue("third", None, COMPARE)
    assert turns.wait_of(running, "cpu").words == ""
    assert turns.wait_of(second, "cpu", REFINE).words == "Queued behind the fit of big: 2nd in the queue, about 10 min."
    with turn(running):
        running.update(FIT, state="running", eta=None, seconds=500.0)
        assert turns.wait_of(second, "cpu").behind == "behind the fit of big: next in the queue, about 1 min 40 s"
        running.update(FIT, eta=95.0)
        assert turns.wait_of(third, "cpu").words == "Queued behind the fit of big: 2nd in the queue, about 6 min."
        running.update(FIT, eta=None, seconds=LONG + 1)  # nobody knows
        assert turns.wait_of(third, "cpu").words == "Queued behind the fit of big: 2nd in the queue."
        assert turns.wait_of(second, "cpu", COMPARE) is None  # it waits to refine
    fourth = queue("fourth", LONG)
    assert turns.wait_of(fourth, "cpu").words == "Queued behind the likelihood search of second: 3rd in the queue."


def test_whoever_is_far_behind_looks_less_often(queue, monkeypatch):
    slept = []
    monkeypatch.setattr(turns, "time", SimpleNamespace(sleep=slept.append))
    first, second, *_, last = [queue(str(place), LONG) for place in range(15)]
    with turn(first):
        assert waits(second) and waits(last)
    assert slept == [turns._POLL_SECONDS, turns._LONGEST_POLL]


def test_a_deleted_run_ahead_is_named_by_its_work(queue):
    running, second = queue("big", LONG), queue("second", LONG)
    with turn(running):
        (running.path / "settings.json").unlink()
        assert turns.wait_of(second, "cpu").words.startswith("Queued behind another fit: next in the queue")


def test_one_work_of_each_user_comes_before_anybodys_second(queue, lab):
    entered = {}
    for number, name in enumerate(["ada", "ada", "ada", "bob", "ada", "eve", "bob"]):
        with lab.asked_by(name):
            entered[number] = queue(f"{name} {number}", LONG)
    with lab.asked_by("root", is_admin=True):
        order = [one.run for one in turns.waiting("cpu")]
    assert order == [str(entered[number].path) for number in (0, 3, 5, 1, 6, 2, 4)]
    with lab.asked_by("ada"), turn(entered[0]):  # her first counts while it runs
        assert [one.run for one in turns.waiting("cpu")] == [str(entered[number].path) for number in (3, 5, 1, 6, 2, 4)]


def test_nobody_learns_the_name_of_another_users_run(queue, lab):
    with lab.asked_by("ada"):
        first = queue("secret", LONG)
    with lab.asked_by("bob"):
        second = queue("mine", LONG)
        assert turns.wait_of(second, "cpu").behind.startswith("behind another user's fit: 2nd in the queue")
    with lab.asked_by("ada"), turn(first), lab.asked_by("bob"):
        assert turns.wait_of(second, "cpu").behind.startswith("behind another user's fit: next in the queue")
    with lab.asked_by("root", is_admin=True), turn(first):
        assert turns.wait_of(second, "cpu").behind.startswith("behind the fit of secret")
