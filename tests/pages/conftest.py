"""What tests of pages share."""

import pytest
from job_world import made_up_speed

from disco.runs import Run, Work
from disco.work import forecast, jobs
from pages.shared.work import machine, search_time


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """What a page starts, as run, work and choices, instead of starting it."""
    found: list[tuple] = []

    def start(run: Run, work: Work, *asked: object, **_: object) -> None:
        found.append((run, work, *(one for one in asked if one is not None)))  # None: no trial of the table

    monkeypatch.setattr(jobs, "start", start)
    monkeypatch.setattr(machine, "compiled", lambda: True)
    return found


@pytest.fixture(autouse=True)
def untimed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No page measures this machine in another thread, or times a search there unless a test is marked `timed`."""
    monkeypatch.setitem(forecast._measured, ("cpu", 1), made_up_speed())
    if request.node.get_closest_marker("timed") is None:
        monkeypatch.setattr(search_time, "_line", lambda *given: None)
