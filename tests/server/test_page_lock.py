"""Pages in turns: first come, first served, and nobody waits for a page that waits."""

import os
import subprocess
import sys
import threading
import time
from contextlib import nullcontext

import psutil
import pytest

from disco import apart, system
from disco.server.page_lock import Turns


def begun(work) -> threading.Thread:
    """Some work in a thread."""
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_pages_run_one_after_the_other_in_the_order_of_their_clicks():
    given, ran, may_end = Turns(lease=60.0), [], threading.Event()

    def page(number: int) -> None:
        with given.turn():
            ran.append(number)
            if number == 0:
                may_end.wait(60)

    threads = []
    for number in range(6):
        threads.append(begun(lambda number=number: page(number)))
        while len(given._waiting) + len(ran) <= number:
            time.sleep(0.001)
    assert ran == [0] and list(given._waiting) and len(given._waiting) == 5
    may_end.set()
    for thread in threads:
        thread.join(60)
    assert ran == [0, 1, 2, 3, 4, 5] and given._holder is None


@pytest.mark.parametrize(("lease", "waits_for"), [(0.05, nullcontext), (3600.0, lambda: apart.started("json.tool"))])
def test_a_page_that_takes_long_or_waits_for_a_process_keeps_nobody_waiting(monkeypatch, lease, waits_for):
    given, may_end, ran = Turns(lease), threading.Event(), []
    monkeypatch.setattr(apart, "_leave", given.leave)

    def long() -> None:
        with given.turn(), waits_for():
            ran.append("long")
            may_end.wait(60)

    def short() -> None:
        with given.turn():
            ran.append("short")

    first = begun(long)
    while not ran:
        time.sleep(0.001)
    begun(short).join(60)
    assert ran == ["long", "short"] and first.is_alive()
    begun(short).join(60)
    may_end.set()
    first.join(60)
    assert ran == ["long", "short", "short"] and given._holder is None


def test_what_a_page_waits_for_comes_after_the_pages_and_nothing_else_does(monkeypatch):
    given, found = Turns(), {}
    monkeypatch.setattr(apart, "_leave", given.leave)

    def wait(name: str) -> None:
        with apart.started("json.tool") as process:
            found[name] = psutil.Process(process.pid).nice()

    def page() -> None:
        with given.turn():
            wait("page")

    for one in (page, lambda: wait("compiler")):
        begun(one).join(60)
    assert found["page"] > found["compiler"] == psutil.Process().nice()


@pytest.mark.skipif(not hasattr(os, "nice"), reason="no priorities here")
def test_a_process_that_has_given_way_already_gives_way_further():
    below = "import os; os.nice(10); from disco import system; system.lower_priority(0); print(os.nice(0))"
    told = subprocess.run([sys.executable, "-c", below], capture_output=True, text=True, check=True)
    assert int(told.stdout) > psutil.Process().nice() + 10


def test_a_page_that_fails_gives_its_turn_back():
    given = Turns(lease=60.0)
    with pytest.raises(ZeroDivisionError), given.turn():
        raise ZeroDivisionError
    with given.turn():
        pass


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="threads cannot choose their cores here")
def test_pages_share_a_core_and_the_processes_that_they_start_have_all():
    found = []

    def page() -> None:
        system.share_one_core()
        process = apart.start("disco", "--version")
        found.append(psutil.Process(process.pid).cpu_affinity())
        process.wait(60)
        found.append(os.sched_getaffinity(0))

    every = os.sched_getaffinity(0)
    begun(page).join(60)
    assert set(found[0]) == every and len(found[1]) == 1 and os.sched_getaffinity(0) == every
