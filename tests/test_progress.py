"""The protocol of progress: what events say, and how work is stopped."""

import pytest

from disco.errors import FitStopped
from disco.progress import SILENT, Reporter

WEIGHTS = {"screen": 1.0, "search": 3.0}


def test_the_share_of_a_stage_becomes_a_share_of_the_work():
    seen = []
    reporter = Reporter(seen.append, WEIGHTS, "stopped")
    reporter.step("screen", 1, 2, unit="node")
    reporter.step("search", 0, 2, 0.25, message="search from ccs", start="ccs", sweep=1, score=-3.5)
    reporter.step("search", 2, 2)
    assert [event.progress for event in seen] == [0.125, 0.4375, 1.0]
    assert [event.message for event in seen] == ["screen: node 1 of 2", "search from ccs", ""]
    assert (seen[1].start, seen[1].sweep, seen[1].score) == ("ccs", 1, -3.5)
    assert (seen[1].stage, seen[1].done, seen[1].total) == ("search", 0, 2)


def test_progress_never_falls_nor_passes_1():
    seen = []
    reporter = Reporter(seen.append, WEIGHTS, "stopped")
    reporter.step("search", 1, 2)
    reporter.step("search", 0, 2)
    reporter.step("screen", 1, 1)
    reporter.step("search", 5, 2)
    assert [event.progress for event in seen] == [0.625, 0.625, 0.625, 1.0]


def test_a_check_tells_the_last_event_again_or_what_was_done_since():
    seen = []
    reporter = Reporter(seen.append, WEIGHTS, "stopped")
    reporter.step("search", 2, 8, unit="node")
    for more in (0, 1, 3, 0):
        reporter.check(more)
    assert [event.done for event in seen] == [2, 2, 3, 5, 5]
    assert seen[0] is seen[1] and seen[3].message == "search: node 5 of 8"
    assert [event.progress for event in seen[1:]] == [0.25 + 0.75 * done / 8 for done in (2, 3, 5, 5)]


def test_an_item_is_reported_once_the_next_one_is_asked_for():
    seen = []
    reporter = Reporter(lambda event: seen.append((event.stage, event.done, event.total)), WEIGHTS, "stopped")
    for item in reporter.each("screen", "ab", "letter"):
        seen.append(item)
    assert seen == ["a", ("screen", 1, 2), "b", ("screen", 2, 2)]


def test_only_false_stops_and_the_error_says_where():
    answers = iter([None, True, 0, False])
    reporter = Reporter(lambda event: next(answers), WEIGHTS, "Stopped in {stage} after {unit} {done} of {total}.")
    reporter.step("screen", 1, 4, unit="node")
    reporter.check()
    reporter.check(1)
    with pytest.raises(FitStopped, match=r"^Stopped in screen after node 3 of 4\.$"):
        reporter.check(2)


def test_work_that_is_a_stage_of_other_work_fills_its_share_and_stops_by_itself():
    seen = []
    outer = Reporter(lambda event: seen.append(event) or len(seen) < 3, WEIGHTS, "the outer work was stopped")
    inner = Reporter(outer.part("search", "node"), {"fit": 1.0}, "the inner work was stopped")
    inner.step("fit", 1, 4)
    inner.step("fit", 2, 4)
    with pytest.raises(FitStopped, match="the inner work"):
        inner.step("fit", 3, 4)
    assert [event.progress for event in seen] == [0.4375, 0.625, 0.8125]
    assert {event.stage for event in seen} == {"search"} and seen[-1].message == "search: node 3 of 4"


def test_quiet_work_within_a_step_only_asks():
    seen = []
    reporter = Reporter(lambda event: seen.append(event) or len(seen) < 3, WEIGHTS, "stopped")
    reporter.step("search", 1, 2)
    within = reporter.quiet()
    within.step("screen", 1, 1)
    assert seen == [reporter.last, reporter.last]
    with pytest.raises(FitStopped, match="stopped"):
        within.check(5)


def test_a_long_part_reports_each_second_and_can_be_stopped(monkeypatch):
    now, seen = [0.0], []
    monkeypatch.setattr("disco.progress.time.monotonic", lambda: now[0])
    reporter = Reporter(lambda event: seen.append(event) or len(seen) < 2, WEIGHTS, "stopped")
    check = reporter.waiting("search", 1, 4, "node")
    for now[0] in (0.4, 0.9, 1.2, 1.9):
        check()
    assert [(event.stage, event.done, event.total) for event in seen] == [("search", 1, 4)]
    now[0] = 2.3
    with pytest.raises(FitStopped, match="stopped"):
        check()


def test_without_a_callback_nothing_is_noted():
    before = SILENT.last
    SILENT.step("any", 1, 2)
    SILENT.check(7)
    assert SILENT.last is before
