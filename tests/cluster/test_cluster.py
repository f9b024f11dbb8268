"""Parts of work on a real cluster of two processes: the same results, stopped, resumed, after workers died."""

import contextlib
import importlib.metadata
import json
import os
import signal
import time
from types import SimpleNamespace

import cluster_world as world
import dask
import numpy as np
import pandas as pd
import pytest
import torch
from job_world import wait
from threadpoolctl import threadpool_limits

from disco import DISCO, Settings
from disco.__main__ import main
from disco.cluster import VARIABLE, check_memory, each, on, sending, worker
from disco.errors import FitStopped, InputError
from disco.likelihood.rank_design import RankDesign as TableDesign
from disco.methods import find
from disco.progress import ENOUGH, SILENT, Reporter
from disco.refine import Choice, node_scores, refine
from disco.refine.task import Task
from disco.runs import create_run
from disco.simulate import Design, simulate
from disco.subjects import COMPARE, REFINE
from disco.subjects.comparison import comparing
from disco.subjects.comparison.compared import MethodsRequest
from disco.subjects.refinement import refining
from disco.work import jobs, turns

NUMBERS = np.arange(1000)


@pytest.fixture(scope="module")
def local():
    with world.cluster_of(2) as (address, _):
        yield address


@pytest.fixture
def cluster(local):
    with on(local):
        yield local


@pytest.fixture
def mortal(local):
    """The cluster for a test that kills its workers: others have taken their place at the end."""
    with on(local):
        yield local
    wait_for_workers(local)


def reporter(callback=None) -> Reporter:
    return Reporter(callback, {"steps": 1.0})


def kill_workers(address: str) -> None:
    with contextlib.closing(sending._connected(address, address)) as client:
        for pid in client.run(world.pid).values():
            os.kill(pid, signal.SIGKILL)


def wait_for_workers(address: str) -> None:
    with contextlib.closing(sending._connected(address, address)) as client:
        wait(lambda: len(client.run(world.pid, on_error="ignore")) == 2)


def test_results_are_the_same_and_in_order(cluster):
    asked = world.total, (NUMBERS,), list(range(20))
    there = list(each(*asked, reporter()))
    with on(None):
        assert there == list(each(*asked, reporter())) != []


@pytest.mark.filterwarnings("error")
def test_a_large_table_is_sent_without_a_warning(cluster):
    assert list(each(world.total, (np.zeros(2_000_000),), [1, 2], reporter())) == [1, 2]


def test_only_what_is_asked_for_is_done_here():
    done = []
    found = each(lambda part, _: done.append(part), (), [1, 2, 3], SILENT)
    next(found)
    found.close()
    assert done == [1]


def test_a_single_part_reports_its_steps_and_several_do_not(cluster):
    seen = []
    assert list(each(world.steps, (), [5], reporter(seen.append))) == [5]
    last = seen[-1]
    assert (last.message, last.graph.edges, last.progress) == ("step 4", [("a", "b", 1.5)], 0.8)
    assert [event.progress for event in seen] == sorted(event.progress for event in seen)
    seen.clear()
    assert list(each(world.steps, (), [5, 6], reporter(seen.append))) == [5, 6]
    assert {event.message for event in seen} == {""}


def test_a_stop_reaches_the_workers(cluster, tmp_path):
    goes_on = lambda event: not all((tmp_path / name).exists() for name in "ab")  # noqa: E731
    with pytest.raises(FitStopped):
        list(each(world.noted, (tmp_path,), ["a", "b"], reporter(goes_on)))
    assert list(each(world.total, (NUMBERS,), [0, 1], reporter())) == [499500, 499501]  # they are free again
    before = [(tmp_path / name).stat().st_size for name in "ab"]
    time.sleep(0.2)
    assert [(tmp_path / name).stat().st_size for name in "ab"] == before


def test_a_wish_to_end_reaches_the_workers(cluster):
    asked = reporter(lambda event: ENOUGH if event.done >= 3 else None)
    (made,) = each(world.steps, (), [1000], asked)
    assert 3 < made < 1000 and asked.has_enough


def test_a_time_limit_counts_on_the_workers(cluster):
    limited = Reporter(None, {"steps": 1.0}, seconds=1.0)
    (made,) = each(world.steps, (), [1000], limited)
    assert 0 < made < 1000 and limited.has_enough


@pytest.mark.parametrize("parts", [[1, 2, 3], [1]])
def test_the_parts_of_a_worker_that_dies_are_made_again(mortal, tmp_path, parts):
    """No more than three: Dask gives a part up after the fourth death of a worker that had it or where it waited."""
    assert list(each(world.killed_once, (tmp_path,), parts, reporter())) == parts
    assert len(list(tmp_path.iterdir())) == len(parts)


def test_what_dies_with_all_workers_is_sent_again(mortal):
    assert list(each(world.total, (NUMBERS,), [1], reporter())) == [499501]
    kill_workers(mortal)
    assert list(each(world.total, (NUMBERS,), [1, 2], reporter())) == [499501, 499502]


def test_workers_that_go_for_good_are_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(sending, "_ALONE", 1)
    monkeypatch.setattr(sending, "_COUNT", 0)
    with world.cluster_of(1) as (address, process), on(address):
        dismiss = lambda _: print(file=process.stdin, flush=True)  # noqa: E731
        with pytest.raises(InputError, match="had no workers for 1 seconds. What is finished is kept"):
            list(each(world.noted, (tmp_path,), ["a"], reporter(dismiss)))
        monkeypatch.setattr(sending, "_SECONDS", 1)
        with pytest.raises(InputError, match="has no workers: start one"), on(address):
            pass


def test_a_part_that_kills_its_workers_ends_in_a_sentence():
    """In a cluster of its own: Dask does not restart workers that die as they start."""
    with world.cluster_of(1) as (address, _), on(address):
        with pytest.raises(InputError, match="died .* over the same part, perhaps for memory"):
            list(each(world.killing, (), [1], reporter()))


def test_a_sentence_of_a_worker_arrives(cluster):
    with pytest.raises(InputError, match="The part 1 cannot be used."):
        list(each(world.refusing, (), [1], reporter()))


def test_an_address_where_nothing_answers_is_a_sentence(monkeypatch):
    monkeypatch.setattr(sending, "_SECONDS", 1)
    with pytest.raises(InputError, match="No Dask scheduler answers at tcp://127.0.0.1:9"), on("tcp://127.0.0.1:9"):
        pass


@pytest.mark.parametrize(
    ("address", "words"),
    [
        *((name, "is no address of a Dask scheduler") for name in ("somewhere", "ftp://a:9", "inproc://a:9")),
        *((name, "is no address of a Dask scheduler") for name in ("tcp://[", "tcp://a:x", "tcp://a:99999")),
        ("tls://a:9", "needs certificates, and Dask's configuration here has none"),
        ("tcp://a:9", "tcp://a:9 is not encrypted, and Dask's configuration here asks for it"),
    ],
)
def test_an_address_that_cannot_be_used_is_a_sentence(address, words):
    required = {"distributed.comm.require-encryption": "encrypted" in words}
    with dask.config.set(required), pytest.raises(InputError, match=words), on(address):
        pass


def test_a_worker_whose_memory_is_too_small_is_a_sentence_before_the_start(cluster):
    needed = lambda nodes: 1 + (nodes - 2) * 10**15  # noqa: E731
    with pytest.raises(InputError, match="The work .* are free at a worker. Use at most 2 columns or fewer"):
        check_memory("The work", needed, 4, "cpu", "fewer rows")
    check_memory("The work", needed, 2, "cpu", "fewer rows")


@pytest.mark.parametrize(("limit", "is_free"), [(None, True), (10**15, True), (1000, False)])
def test_a_worker_has_no_more_memory_than_its_limit(limit, is_free):
    one = SimpleNamespace(memory_manager=SimpleNamespace(memory_limit=limit))
    assert (worker.free_bytes("cpu", one) > 0) == is_free


@pytest.mark.parametrize(
    ("package", "words"),
    [("numpy", r"has numpy \S+, here it is 0.1: install"), ("not-there", "has no not-there: install disco there")],
)
def test_a_worker_with_another_version_or_none_is_refused_by_name(local, monkeypatch, package, words):
    here = importlib.metadata.version
    monkeypatch.setattr(sending, "SAME", ("torch", package))
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == package else here(name))
    with pytest.raises(InputError, match=rf"The worker tcp://127.0.0.1:\d+ {words}"), on(local):
        pass


def test_a_worker_that_came_later_with_another_version_is_refused_by_name(local, monkeypatch):
    check, here, checks = sending.Cluster._check_workers, importlib.metadata.version, []

    def check_the_later(cluster: sending.Cluster) -> None:
        checks.append(cluster)
        if len(checks) > 1:
            check(cluster)

    monkeypatch.setattr(sending.Cluster, "_check_workers", check_the_later)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == "numpy" else here(name))
    with on(local), pytest.raises(InputError, match=r"The worker \S+ has numpy \S+, here it is 0.1: install"):
        list(each(world.total, [NUMBERS], [1, 2], reporter()))


def test_a_refinement_is_the_same_to_the_last_bit(cluster):
    table = simulate(Design(nodes=6, k=2, rows=300, seed=3)).table
    for choice in (Choice(bootstrap=4, folds=2, restarts=4), Choice(bootstrap=2, folds=0, redone=True)):
        there = refine(table, choice, order=list(table.columns)[::-1])
        with on(None):
            here = refine(table, choice, order=list(table.columns)[::-1])
        for name in ("edges", "starts", "tables", "moves", "orders"):
            pd.testing.assert_frame_equal(getattr(there, name), getattr(here, name), check_exact=True)
        assert (there.score, there.fits, there.notes) == (here.score, here.fits, here.notes)


def test_a_refinement_sends_its_table_once(cluster, monkeypatch):
    sent, shared = {}, sending.Cluster._shared
    monkeypatch.setattr(
        sending.Cluster, "_shared", lambda self, one: (sent.update({id(one): one}), shared(self, one))[1]
    )
    refine(simulate(Design(nodes=8, k=2, rows=300, seed=3)).table, Choice(bootstrap=2, folds=0))
    assert sum(isinstance(one, TableDesign | Task) for one in sent.values()) == 1


def test_workers_that_die_in_mid_search_change_nothing(mortal):
    table, choice, killed = simulate(Design(nodes=8, k=2, rows=300, seed=3)).table, Choice(bootstrap=4, folds=0), []

    def told(event):
        if event.stage == "search" and not killed:
            killed.append(event.start)
            kill_workers(mortal)

    there = refine(table, choice, callback=told)
    with on(None):
        here = refine(table, choice)
    assert killed
    for name in ("edges", "starts", "tables", "orders"):
        pd.testing.assert_frame_equal(getattr(there, name), getattr(here, name), check_exact=True)


def test_the_app_does_not_start_with_an_address_that_cannot_be_used(monkeypatch, capsys):
    monkeypatch.setattr(sending, "_SECONDS", 1)
    monkeypatch.setenv(VARIABLE, "")  # restored after the test
    assert main(["app", "--cluster", "tcp://127.0.0.1:9"]) == 2
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err


def test_a_fit_is_the_same_to_the_last_bit(cluster):
    """With as many threads there as here, which `make test` sets: their number changes the rounding of products."""
    table, seen = simulate(Design(nodes=4, k=2, rows=200, seed=3)).table, []
    small = {"preset": "paper", "width": 8, "hidden_layers": 2, "joint_epochs": 4, "projection_epochs": 3}
    with threadpool_limits(1):
        there = DISCO(**small, device="cpu").fit(table, callback=seen.append)
        with on(None):
            here = DISCO(**small, device="cpu").fit(table)
    for name in ("edges_", "ccs_", "ocs_", "criteria_"):
        pd.testing.assert_frame_equal(getattr(there, name), getattr(here, name), check_exact=True)
    assert all(map(torch.equal, there.fitted_.tensors().values(), here.fitted_.tensors().values()))
    assert {event.stage for event in seen} == {"artefacts", "joint", "projection", "ordering", "parents"}
    assert sum(event.train is not None for event in seen) >= 4


def test_methods_are_compared_on_the_workers(cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCO_RUNS", str(tmp_path))
    run = create_run(simulate(Design(nodes=4, k=2, rows=200, seed=3)).table, Settings(), name="two")
    asked = MethodsRequest({"sort-mean": {}, "sort-excess": {}})
    jobs.enqueue(run, COMPARE, asked).release()
    there = comparing.compare_run(run)
    assert [one.state for one in there] == ["done", "done"]
    with on(None):
        assert [one.found.order for one in there] == [find(one.method, run.table()).order for one in there]


def test_a_run_on_a_cluster_does_not_wait_for_one_of_this_machine(local, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCO_RUNS", str(tmp_path))
    monkeypatch.setenv(VARIABLE, local)
    table = simulate(Design(nodes=4, k=2, rows=200, seed=3)).table
    first, second = (create_run(table, Settings(), name=name) for name in ("first", "second"))
    lock = jobs.enqueue(first, COMPARE, MethodsRequest({"sort-mean": {}}))
    try:
        status, waited = first.written_status(COMPARE), []

        def told(event):
            waited.extend([event] if event.stage == "queue" else [])
            return len(waited) < 20

        with turns.turn(first, status.device, status.queued_at, None):
            there = jobs.work(second, COMPARE, jobs.enqueue(second, COMPARE, MethodsRequest({"sort-mean": {}})), told)
    finally:
        lock.release()
    assert [one.state for one in there] == ["done"] and second.written_status(COMPARE).cluster == local


def test_a_refinement_on_a_cluster_begins_with_the_graph_of_its_trial(local, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCO_RUNS", str(tmp_path))
    monkeypatch.setenv(VARIABLE, local)
    run = create_run(simulate(Design(nodes=4, k=2, rows=200, seed=3)).table, Settings(), name="first graph")
    choice, seen = Choice(bootstrap=0, folds=0), []

    def told(event):
        seen.extend([refining.so_far(run)] if event.stage != "queue" else [])

    jobs.work(run, REFINE, jobs.enqueue(run, REFINE, choice), told)
    assert seen[0] is not None


def test_a_refinement_goes_on_here_after_the_scheduler_has_died(tmp_path):
    table = simulate(Design(nodes=8, k=2, rows=300, seed=3)).table
    choice, file = Choice(bootstrap=8, folds=0), tmp_path / "searches.json"
    with world.cluster_of(1) as (address, scheduler):

        def told(event):
            if event.stage == "bootstrap" and event.done == 4:
                scheduler.kill()

        with on(address), pytest.raises(InputError, match="no longer answers"):
            refine(table, choice, callback=told, memory=file)
    assert len(json.loads(file.read_text())["drawn"]) == 4
    again, whole = refine(table, choice, memory=file), refine(table, choice)
    pd.testing.assert_frame_equal(again.edges, whole.edges, check_exact=True)


def test_a_command_sends_its_work(local, tmp_path, monkeypatch, capsys):
    """Its own process makes no fit; what it prints is the same."""
    simulate(Design(nodes=5, k=2, rows=200, seed=3)).table.to_csv(tmp_path / "counts.csv", index=False)
    printed = []
    for name in ("here", "there"):
        places = ["--counts", str(tmp_path / "counts.csv"), "--out", str(tmp_path / name)]
        command = ["refine", *places, "--bootstrap", "4"]
        if name == "there":
            monkeypatch.setenv(VARIABLE, "")  # restored after the test
            monkeypatch.setattr(node_scores, "make_fits", lambda wanted: pytest.fail("a fit was made here"))
            command += ["--cluster", local]
        assert main(command) == 0
        printed.append(capsys.readouterr().out.replace(name, ""))
    assert printed[0] == printed[1]
