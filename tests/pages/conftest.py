"""What tests of pages share."""

import pytest

from disco.runs import Run, Work
from disco.work import jobs
from pages.shared.compute import background, machine
from pages.shared.work import fit_start


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
    """No page times a search in another thread unless a test is marked `timed`."""
    if request.node.get_closest_marker("timed") is None:
        monkeypatch.setattr(fit_start, "search_line", lambda *given: None)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page computes is there when the page is drawn."""
    monkeypatch.setattr(background, "PATIENCE", 60.0)
