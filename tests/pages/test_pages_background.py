"""A computation in the background of the pages: how it ends, how it is stopped, and that it is found again."""

import threading
from types import SimpleNamespace

import pytest
from app_world import forget_results
from streamlit.testing.v1 import AppTest

from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.progress import Event
from pages.shared.compute import background
from pages.shared.compute.background import Computation, Slow


@pytest.fixture(autouse=True)
def none_begun():
    forget_results()


def ended(work) -> Computation:
    """A computation after its work, in this thread."""
    job = Computation()
    job.do(work, "It could not be done")
    return job


def test_the_result_and_the_progress_are_told():
    heard = []

    def work(hear):
        heard.append(hear(Event("first", 1, 4, 0.25)))
        return "found"

    job = ended(work)
    assert (job.state, job.result, job.error, job.progress, job.stage) == ("done", "found", "", 0.25, "first")
    assert heard == [True] and not job.is_running


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InputError("The column is empty."), "The column is empty."),
        (ScoreUnavailable("No row is admissible."), "No row is admissible."),
        (ZeroDivisionError("division by zero"), "It could not be done: division by zero"),
    ],
)
def test_what_went_wrong_is_a_sentence(error, sentence):
    def work(hear):
        raise error

    job = ended(work)
    assert (job.state, job.error, job.result) == ("failed", sentence, None)


def test_a_cancelled_computation_hears_so_and_keeps_nothing():
    job, heard = Computation(), []

    def work(hear):
        heard.append(hear(Event("first", 1, 10, 0.1)))
        job.cancel()
        heard.append(hear(Event("first", 2, 10, 0.2)))
        raise FitStopped("stopped")

    job.do(work, "It could not be done")
    assert heard == [True, False] and (job.state, job.error, job.result) == ("stopped", "", None)


def test_a_running_computation_is_found_and_one_that_ended_is_begun_anew():
    may_end, threads = threading.Event(), []

    def work(hear):
        threads.append(threading.current_thread())
        may_end.wait(60)

    before = set(threading.enumerate())
    slow, same, different = (Slow(("test", key), work, "Working", "It failed") for key in (1, 1, 2))
    first = slow.begin()
    (thread,) = set(threading.enumerate()) - before
    assert same.begin() is same.begin(anew=True) is first is slow.find()
    assert different.find() is None and first.is_running
    may_end.set()
    thread.join(60)
    assert not thread.is_alive() and first.state == "done" and threads == [thread]
    assert same.begin() is first
    again = same.begin(anew=True)
    assert again is not first and again is slow.find()


def test_what_takes_a_moment_is_done_at_once_in_the_session_and_its_error_is_not_cached():
    threads, errors = [], [InputError("The column is empty.")]

    def work(table, hear):
        threads.append(threading.current_thread())
        if errors:
            raise errors.pop()
        return len(table)

    slow = Slow(("test", "at once"), work, "Working", "It failed", lambda: ("abc",), at_once=True)
    failed = slow.begin()
    assert (failed.state, failed.error, slow.find()) == ("failed", "The column is empty.", None)
    assert slow.value() == 3 == slow.begin().result and threads == 2 * [threading.current_thread()]


def test_work_that_needs_the_result_of_another_waits_for_it_and_tries_again():
    may_end, calls = threading.Event(), []

    def work(hear):
        calls.append(hear)
        may_end.wait(60)
        if len(calls) == 1:
            raise InputError("The run is damaged.")
        return 7

    slow = Slow(("test", "value"), work, "Working", "It failed")
    slow.begin()
    may_end.set()
    while slow.find().is_running:
        pass
    assert slow.find().error == "The run is damaged." and slow.value() == 7 and len(calls) == 2


def test_what_is_running_stops_when_the_server_ends():
    at_work = threading.Event()

    def work(hear):
        at_work.set()
        while hear(Event("long", 1, 2, 0.5)):
            pass
        raise FitStopped("Stopped.")

    job = Slow(("long",), work, "Working", "It could not be done").begin()
    assert at_work.wait(60)
    background._end()
    assert job.state == "stopped" and not any(thread.is_alive() for thread in background._threads)


def test_the_end_of_the_server_waits_no_longer_for_many_than_for_one(monkeypatch):
    now = [0.0]

    class Deaf:
        def join(self, seconds: float) -> None:
            now[0] += seconds

    jobs = {Deaf(): Computation() for _ in range(30)}
    monkeypatch.setattr(background, "_threads", jobs)
    monkeypatch.setattr(background, "time", SimpleNamespace(monotonic=lambda: now[0]))
    background._end()
    assert now == [background._LAST_STEP]
    assert not any(job.hear(Event("long", 1, 2, 0.5)) for job in jobs.values())


def page():
    """A page that offers a computation, and another that it begins itself and tells in one line."""
    import streamlit as st

    from pages.shared.compute.background import Slow

    words = {"first": "The first part"}.__getitem__
    Slow(("asked", 1), lambda hear: 7, words, "It could not be done").panel(
        lambda found: st.markdown(f"found {found}"), lambda: st.button("Compute", key="compute")
    )
    Slow(("quiet", 1), lambda hear: None, "Looking", "It failed", is_quiet=True).panel(lambda found: None)


def test_a_page_offers_a_computation_tells_how_far_it_is_and_how_it_ended(monkeypatch):
    monkeypatch.setattr(Slow, "begin", lambda slow, anew=False: slow.keep(Computation()))
    slow, quiet = (Slow((name, 1), int, "", "") for name in ("asked", "quiet"))
    quiet = quiet.begin()
    app = AppTest.from_function(page).run()
    assert [line.value for line in app.caption] == ["Looking …"]
    app.button(key="compute").click().run()
    job = slow.find()
    job.hear(Event("first", 1, 2, 0.5))
    app.run()
    assert [button.key for button in app.button] == ["asked_cancel"]
    assert app.get("progress")[0].proto.text == "The first part"
    app.button(key="asked_cancel").click().run()
    assert job.hear(Event("first", 1, 2, 0.5)) is False
    job.state = quiet.state = "stopped"
    app.run()
    assert "Cancelled. Nothing was kept." in [line.value for line in app.caption] and app.button(key="compute")
    job.state, job.error = "failed", "The column `x*` is empty."
    assert app.run().error[0].value == "The column \\`x\\*\\` is empty\\." and app.button(key="compute")
    job.do(lambda hear: 7, "")
    app.run()
    assert [line.value for line in app.markdown] == ["found 7"] and not app.button


def page_that_waits():
    """A page with a button below what ends while the whole page is drawn."""
    import streamlit as st

    from pages.shared.compute import machine
    from pages.shared.compute.background import Slow

    looks = iter([False, True])
    machine.once(lambda: next(looks), "Measuring", lambda: st.markdown("measured"))
    Slow(("quiet", 1), lambda hear: None, "Looking", "It failed", is_quiet=True).panel(lambda found: None)
    if st.button("Read", key="read"):
        st.markdown("read")


def test_a_click_counts_when_work_ends_while_the_page_is_drawn(monkeypatch):
    looks = iter([True, True, True, False])
    monkeypatch.setattr(Computation, "is_running", property(lambda job: next(looks)))
    monkeypatch.setattr(Slow, "find", lambda slow: Computation())
    app = AppTest.from_function(page_that_waits).run()
    assert app.caption[0].value == ":material/hourglass_top: Measuring …"
    app.button(key="read").click().run()
    assert [line.value for line in app.markdown] == ["read"]
