"""What tests of pages share."""

import pytest

from disco.work import jobs
from pages.shared.work import machine


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """What a page starts, as run, work and choices, instead of starting it."""
    found: list[tuple] = []
    monkeypatch.setattr(jobs, "start", lambda run, work, *asked, **_: found.append((run, work, *asked)))
    monkeypatch.setattr(machine, "compiled", lambda: True)
    return found
