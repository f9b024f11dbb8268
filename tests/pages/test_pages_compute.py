"""What pages compute: in the background, how it ends and is stopped; and cached for all sessions, bounded in bytes."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from app_world import forget_results
from streamlit.testing.v1 import AppTest

from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.progress import Event
from pages.shared.compute import background
from pages.shared.compute.background import Computation, Slow
from pages.shared.compute.cache import Cache, bytes_of

MB = 1_000_000


@pytest.fixture(autouse=True)
def none_begun(monkeypatch):
    """No page waits for what a test holds up."""
    monkeypatch.setattr(background, "PATIENCE", 0.0)
    forget_results()


@pytest.mark.parametrize(
    ("outcome", "state", "error"),
    [
        ("result", "done", ""),
        (FitStopped("stopped"), "stopped", ""),
        (InputError("The column is empty."), "failed", "The column is empty."),
        (ScoreUnavailable("No row is admissible."), "failed", "No row is admissible."),
        (ZeroDivisionError("division by zero"), "failed", "It could not be done: division by zero"),
    ],
)
def test_a_computation_records_its_progress_and_how_it_ended(outcome, state, error):
    job, may_go_on = Computation(), []

    def work(hear):
        may_go_on.append(hear(Event("first", 1, 4, 0.25)))
        if state == "stopped":
            job.cancel()
        may_go_on.append(hear(Event("second", 2, 4, 0.5)))
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    job.do(work, "It could not be done")
    assert (job.state, job.error, job.result) == (state, error, "result" if state == "done" else None)
    assert (job.progress, job.stage, job.is_running) == (0.5, "second", False)
    assert may_go_on == [True, state != "stopped"]


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


def test_what_several_sessions_ask_at_once_is_made_once_and_what_failed_is_tried_again():
    cache, may_end, made = Cache(MB), threading.Event(), []

    def make():
        made.append(1)
        may_end.wait(60)
        if len(made) == 1:
            raise ValueError("once")

    with pytest.raises(ValueError, match="once"), ThreadPoolExecutor(1) as threads:
        may_end.set()
        threads.submit(cache.get, "key", make).result()
    may_end.clear()
    with ThreadPoolExecutor(5) as threads:
        results = [threads.submit(cache.get, "key", make) for _ in range(5)]
        may_end.set()
    assert [result.result() for result in results] == [None] * 5 and len(made) == 2  # None is a result too


def test_the_least_recently_used_goes_first_and_the_last_one_stays():
    cache = Cache(3 * MB + 1000)
    for key in "abc":
        cache.put(key, np.zeros(MB, np.uint8))
    assert cache.find("a") is not None
    cache.put("d", np.zeros(MB // 2, np.uint8))
    assert cache.find("b") is None and cache.find("c") is not None and cache.bytes < 3 * MB
    cache.put("large", np.zeros(9 * MB, np.uint8))
    assert cache.find("large") is not None and cache.find("a") is None
    assert cache.bytes == pytest.approx(9 * MB, rel=0.01)
    cache.drop("large")
    assert cache.bytes == 0 and cache.find("large", "gone") == "gone"


def test_what_nobody_uses_for_long_goes_unless_it_is_the_last_one(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    cache = Cache(MB, idle=lambda: 10.0)
    for key in "abc":
        cache.put(key, "text")
    now[0] = 8.0
    assert cache.find("a") is not None
    now[0] = 11.0
    cache.put("d", "text")
    assert [cache.find(key) for key in "abcd"] == ["text", None, None, "text"]
    now[0] = 99.0
    cache.put("e", "text")
    assert [cache.find(key) for key in "ade"] == [None, None, "text"]
    assert cache.bytes == bytes_of("text")


@dataclass
class Growing:
    """A result that computes more of itself when it is shown."""

    parts: list[np.ndarray] = field(default_factory=list)


def test_a_result_that_grew_is_measured_again():
    cache, one = Cache(3 * MB, remeasure_after=0.0), Growing()
    cache.put("old", "text")
    cache.put("growing", one)
    one.parts.append(np.zeros(4 * MB, np.uint8))
    assert cache.find("growing") is one
    cache.put("new", "text")
    assert cache.find("old") is None and cache.find("growing") is None and cache.find("new") == "text"


def test_bytes_are_those_of_the_data():
    table = pd.DataFrame(np.zeros((1000, 100), np.int64), columns=[f"gene {number}" for number in range(100)])
    assert bytes_of(table) == pytest.approx(800_000, rel=0.05)
    assert bytes_of(Growing([np.zeros(MB, np.uint8), np.zeros(MB, np.uint8)])) == pytest.approx(2 * MB, rel=0.01)
    shared = np.zeros(MB, np.uint8)
    assert bytes_of({"one": shared, "same": shared}) == pytest.approx(MB, rel=0.01)
    assert bytes_of([shared[: MB // 2]]) == pytest.approx(MB / 2, rel=0.01)
    assert bytes_of(torch.zeros(MB // 4)) == pytest.approx(MB, rel=0.01)
    assert bytes_of("a" * MB) == pytest.approx(MB, rel=0.01)
    around: list = [np.zeros(MB, np.uint8)]
    around.append(around)
    assert bytes_of(around) == pytest.approx(MB, rel=0.01)
    assert bytes_of(nx.DiGraph([(number, number + 1) for number in range(1000)])) > 100_000
    assert bytes_of((lambda: None, Cache, threading)) < 1000
