"""What tests of pages share."""

import pickle
from typing import Any

import pytest

from disco.hidden.all_artefacts import Artefacts, looked_for
from disco.runs import Run, Work, making
from disco.work import jobs
from pages.shared.compute import machine
from pages.shared.work import search_time

_searched: dict[bytes, Artefacts] = {}


@pytest.fixture(autouse=True)
def searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of which many tests make runs is searched for artefacts once per process."""

    def search(*arguments: Any, **options: Any) -> Artefacts:
        key = pickle.dumps((arguments, options))
        if key not in _searched:
            _searched[key] = looked_for(*arguments, **options)
        return _searched[key]

    monkeypatch.setattr(making, "looked_for", search)


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
        monkeypatch.setattr(search_time, "line", lambda *given: None)
