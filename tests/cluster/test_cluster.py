"""Parts of work on a real cluster of two processes: the same results, stopped, resumed, after workers died."""

import importlib.metadata
import json
import subprocess
import sys
import time

import cluster_world as world
import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster

from disco.__main__ import main
from disco.cluster import VARIABLE, each, on, sending
from disco.errors import FitStopped, InputError
from disco.progress import ENOUGH, SILENT, Reporter
from disco.refine import Choice, refine, scores
from disco.simulate import Design, simulate

NUMBERS = np.arange(1000)


@pytest.fixture(scope="module")
def local():
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def cluster(local):
    with on(local.scheduler_address):
        yield local


def reporter(callback=None) -> Reporter:
    return Reporter(callback, {"steps": 1.0})


def test_results_are_the_same_and_in_order(cluster):
    asked = world.total, (NUMBERS,), list(range(20))
    there = list(each(*asked, reporter()))
    with on(None):
        assert there == list(each(*asked, reporter())) != []


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


@pytest.mark.parametrize("parts", [[1, 2, 3, 4], [1]])
def test_the_parts_of_a_worker_that_dies_are_made_again(cluster, tmp_path, parts):
    assert list(each(world.killed_once, (tmp_path,), parts, reporter())) == parts
    assert len(list(tmp_path.iterdir())) == len(parts)


def test_what_dies_with_all_workers_is_sent_again(cluster, local):
    assert list(each(world.total, (NUMBERS,), [1], reporter())) == [499501]
    for nanny in local.workers.values():
        nanny.process.process.kill()
    assert list(each(world.total, (NUMBERS,), [1, 2], reporter())) == [499501, 499502]


def test_a_part_that_kills_its_workers_ends_in_a_sentence(cluster):
    with pytest.raises(InputError, match="died .* over the same part, perhaps for memory"):
        list(each(world.killing, (), [1], reporter()))


def test_a_sentence_of_a_worker_arrives(cluster):
    with pytest.raises(InputError, match="The part 1 cannot be used."):
        list(each(world.refusing, (), [1], reporter()))


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:9", "ftp://127.0.0.1:9", "somewhere", "tcp://[", "tls://127.0.0.1:9"]
)
def test_an_address_without_a_scheduler_is_a_sentence(address, monkeypatch):
    monkeypatch.setattr(sending, "_SECONDS", 1)
    with pytest.raises(InputError, match="No Dask scheduler answers at"), on(address):
        pass


def test_a_scheduler_without_workers_is_a_sentence(monkeypatch):
    monkeypatch.setattr(sending, "_SECONDS", 1)
    with LocalCluster(n_workers=0, processes=True, dashboard_address=":0") as cluster:
        with pytest.raises(InputError, match="has no workers: start one"), on(cluster.scheduler_address):
            pass


def test_a_worker_with_another_version_is_refused_by_name(local, monkeypatch):
    here = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == "numpy" else here(name))
    with pytest.raises(InputError, match=r"The worker tcp://127.0.0.1:\d+ has numpy \S+, here it is 0.1: install"):
        with on(local.scheduler_address):
            pass


def test_a_worker_without_a_package_is_refused_by_name(local, monkeypatch):
    monkeypatch.setattr(sending, "SAME", ("numpy", "not-there"))
    here = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "1.0" if name == "not-there" else here(name))
    with pytest.raises(InputError, match=r"The worker \S+ has no not-there: install disco there"):
        with on(local.scheduler_address):
            pass


def test_a_scheduler_that_dies_is_a_sentence(tmp_path):
    with LocalCluster(n_workers=1, processes=True, dashboard_address=":0") as cluster:
        with on(cluster.scheduler_address):

            def told(event):
                if (tmp_path / "a").exists():
                    cluster.close()

            with pytest.raises(InputError, match="no longer answers. What is finished is kept"):
                list(each(world.noted, (tmp_path,), ["a"], reporter(told)))


def test_a_refinement_is_the_same_to_the_last_bit(cluster):
    table = simulate(Design(nodes=8, k=2, rows=300, seed=3)).table
    every = [Choice(bootstrap=6, folds=2, restarts=10), Choice(bootstrap=2, folds=0, redone=True)]
    for choice in every:
        there = refine(table, choice, order=list(table.columns)[::-1])
        with on(None):
            here = refine(table, choice, order=list(table.columns)[::-1])
        for name in ("edges", "starts", "tables", "moves", "orders"):
            pd.testing.assert_frame_equal(getattr(there, name), getattr(here, name), check_exact=True)
        assert (there.score, there.fits, there.notes) == (here.score, here.fits, here.notes)


def test_a_refinement_goes_on_here_after_the_scheduler_has_died(tmp_path):
    table = simulate(Design(nodes=8, k=2, rows=300, seed=3)).table
    choice, file = Choice(bootstrap=8, folds=0), tmp_path / "searches.json"
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:

        def told(event):
            if event.stage == "bootstrap" and event.done == 4:
                cluster.close()

        with on(cluster.scheduler_address), pytest.raises(InputError, match="no longer answers"):
            refine(table, choice, callback=told, memory=file)
    assert len(json.loads(file.read_text())["drawn"]) == 4
    again, whole = refine(table, choice, memory=file), refine(table, choice)
    pd.testing.assert_frame_equal(again.edges, whole.edges, check_exact=True)


def test_a_command_sends_its_work(local, tmp_path, monkeypatch, capsys):
    """Its own process makes no fit; what it prints is the same."""
    simulate(Design(nodes=5, k=2, rows=200, seed=3)).table.to_csv(tmp_path / "counts.csv", index=False)
    printed = []
    for name in ("here", "there"):
        command = [
            "refine",
            "--counts",
            str(tmp_path / "counts.csv"),
            "--out",
            str(tmp_path / name),
            "--bootstrap",
            "4",
        ]
        if name == "there":
            monkeypatch.setenv(VARIABLE, "")  # restored after the test
            monkeypatch.setattr(scores, "make_fits", lambda wanted: pytest.fail("a fit was made here"))
            command += ["--cluster", local.scheduler_address]
        assert main(command) == 0
        printed.append(capsys.readouterr().out.replace(name, ""))
    assert printed[0] == printed[1]


def test_dask_is_not_imported_without_an_address():
    code = "import sys, disco.refine, disco.cluster as c\nwith c.on(None): pass\nwith c.on(''): pass\n"
    ended = subprocess.run(
        [sys.executable, "-c", code + "print('distributed' in sys.modules)"], capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "False"
