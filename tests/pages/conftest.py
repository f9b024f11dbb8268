"""What tests of pages share."""

import pytest

from disco.work import jobs
from pages.shared.work import machine, search_time


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """What a page starts, as run, work and choices, instead of starting it."""
    found: list[tuple] = []
    monkeypatch.setattr(jobs, "start", lambda run, work, *asked, **_: found.append((run, work, *asked)))
    monkeypatch.setattr(machine, "compiled", lambda: True)
    return found


@pytest.fixture(autouse=True)
def untimed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No page times a search in another thread during a test, unless it is marked `timed`."""
    if request.node.get_closest_marker("timed") is None:
        monkeypatch.setattr(search_time, "_line", lambda *given: None)
