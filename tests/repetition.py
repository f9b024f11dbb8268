"""In CI a browser test that fails is run once more and named; a plugin of pytest that `conftest.py` registers."""

import os

import pytest


def in_ci() -> bool:
    """Whether the tests decide on a change."""
    return os.environ.get("CI", "").lower() in ("1", "true")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests that need a browser a second try."""
    for item in items:
        if in_ci() and item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that passed when they were run once more, so that nobody overlooks them."""
    reports = terminalreporter.stats
    again, failed = ({report.nodeid for report in reports.get(name, [])} for name in ("rerun", "failed"))
    for test in sorted(again - failed):
        terminalreporter.write_line(f"flaky: {test} failed, and passed when it was run once more", yellow=True)
