"""Comparisons: one method after the other, each apart; stopped, killed, continued, and added to."""

import json
import sys

import pytest
from job_world import few_threads, kill, wait
from made_up import finished_run

from disco.errors import FitStopped, InputError
from disco.methods import METHODS
from disco.runs import Run
from disco.subjects import COMPARE, FIT
from disco.subjects.comparison import compared, comparing
from disco.subjects.comparison.compared import MethodsRequest, make_folder
from disco.work import jobs

assert few_threads  # used by every test here


def ask(run: Run, *names: str, limit: float = 600.0, **changes) -> list[compared.MethodResult]:
    """Compare here, in this process."""
    return do(run, MethodsRequest({name: changes for name in names}, limit))


def do(run: Run, asked: MethodsRequest, callback=None) -> list[compared.MethodResult]:
    lock = jobs.enqueue(run, COMPARE, asked)
    return jobs.work(run, COMPARE, lock, callback)


def states(run: Run) -> dict[str, str]:
    return {one.method: one.state for one in compared.read_all(run)}


def stamps(run: Run) -> dict[str, int]:
    return {path.parent.name: path.stat().st_mtime_ns for path in run.path.glob("compare/*/result.json")}


@pytest.mark.usefixtures("strange")
def test_one_failure_does_not_stop_the_rest_and_the_results_are_written(monkeypatch):
    run = finished_run(4)
    ask(run, "good")
    found = ask(run, "slow", "good", limit=1)
    assert {one.method: one.state for one in found} == states(run) == {"slow": "timeout", "good": "done"}
    found = ask(run, "bug", "killed", "good")
    assert {one.method: one.state for one in found} == {"bug": "failed", "killed": "failed", "good": "done"}
    status = run.status(COMPARE)
    assert status.state == "done" and status.progress == 1.0 and status.error is None
    assert "KeyError" in (run.path / "compare/bug/log.txt").read_text()
    lines = (run.path / "compare.csv").read_text().splitlines()
    assert len(lines) == 5 and lines[0].startswith('"method","state","seconds","edges"')
    assert run.status(FIT).state == "done" and not run.alive


@pytest.mark.usefixtures("strange")
def test_the_log_of_an_earlier_attempt_goes():
    run = finished_run(4)
    log = make_folder(run, "good") / "log.txt"
    log.write_text("an error that is none any more")
    ask(run, "good")
    assert not log.exists()


@pytest.mark.usefixtures("strange")
def test_what_is_done_is_not_run_again_unless_its_options_change():
    run = finished_run(4)
    ask(run, "good")
    ask(run, "slow", limit=1)
    first = stamps(run)
    with pytest.raises(InputError, match="have already run on this table"):
        ask(run, "good", "slow", limit=1)
    ask(run, "good", "undirected")
    assert {name: stamp for name, stamp in stamps(run).items() if name in first} == first
    ask(run, "slow", limit=1.5)
    assert stamps(run)["slow"] > first["slow"] and compared.read_one(run, "slow").limit == 1.5
    ask(run, "good", size=3.0)
    assert stamps(run)["good"] > first["good"] and compared.read_one(run, "good").options["size"] == 3.0
    assert set(states(run)) == {"good", "slow", "undirected"}


@pytest.mark.usefixtures("strange")
def test_a_stop_keeps_what_is_done():
    run = finished_run(4)
    asked = MethodsRequest({"good": {}, "slow": {}, "undirected": {}})
    with pytest.raises(FitStopped):
        do(run, asked, lambda event: event.done != 1 or not event.message)
    assert states(run) == {"good": "done"} and run.status(COMPARE).state == "cancelled"
    assert run.status(COMPARE).resumable and compared.asked(run) == asked
    assert comparing.left(run, asked) == ["slow", "undirected"] and (run.path / "compare.csv").exists()


@pytest.mark.usefixtures("strange")
def test_the_status_tells_the_method_at_work_and_its_share():
    run, told = finished_run(4), set()

    def hear(event):
        status = run.written_status(COMPARE)
        told.add((status.method, event.done, event.total))

    do(run, MethodsRequest({"good": {}, "undirected": {}}), hear)
    assert {("good", 0, 2), ("undirected", 1, 2)} <= told and run.status(COMPARE).method == ""


def test_a_comparison_runs_apart_is_interrupted_when_it_is_killed_and_goes_on():
    run, asked = finished_run(4), MethodsRequest({"sort-mean": {}, "sort-variance": {}})
    jobs.start(run, COMPARE, asked)
    assert run.status(COMPARE).active and run.works_on(COMPARE)
    with pytest.raises(InputError, match="queued or running"):
        jobs.start(run, COMPARE, asked)
    wait(lambda: "sort-mean" in states(run) or not run.alive)
    kill(run)
    before = stamps(run)
    if run.status(COMPARE).state != "done":  # it may have been quicker
        assert run.status(COMPARE).state == "interrupted"
        jobs.start(run, COMPARE, compared.asked(run))
        wait(lambda: not run.alive)
    assert states(run) == {"sort-mean": "done", "sort-variance": "done"} and run.status(COMPARE).state == "done"
    assert stamps(run)["sort-mean"] == before["sort-mean"]


def test_a_lost_request_is_one_sentence(monkeypatch):
    run = finished_run(4)
    lock = jobs.enqueue(run, COMPARE, MethodsRequest({"sort-mean": {}}))
    (run.path / "comparing.json").write_text(json.dumps({"methods": {"../x": {}}, "limit": 5}))
    with pytest.raises(InputError, match="start the comparison again"):
        jobs.work(run, COMPARE, lock)
    assert run.status(COMPARE).state == "failed" and "comparing.json" in run.status(COMPARE).error


def test_no_process_can_be_started(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/program")
    run = finished_run(4)
    found = ask(run, "sort-mean")
    assert found[0].state == "failed" and "No process could be started" in found[0].error


@pytest.mark.parametrize(
    ("rows", "nodes", "name", "seconds"),
    [
        # By the clock beside other programs, over the load: Portal's study, Lahman, all species near Portal.
        (2192, 8, "refined", 6.2), (2192, 8, "boss", 1.4), (2192, 8, "ods-poisson", 1.3),
        (1400, 17, "refined", 17.7), (1400, 17, "boss", 1.1),
        (5975, 22, "refined", 18.4), (5975, 22, "ods-poisson", 1.3),
    ],
)  # fmt: skip # a table
def test_methods_take_about_as_long_as_foretold(rows, nodes, name, seconds):
    assert seconds / 2 <= METHODS[name].seconds(rows, nodes) + 1 <= 2 * seconds
