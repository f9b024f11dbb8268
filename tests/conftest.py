"""The shared test world: fixed seeds, one thread, a throw-away folder of runs, small tables."""

import gc
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import compiled_world
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import repetition
import searched_once
import torch
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import local_script_runner
from user_world import Server
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from disco import space
from disco.apart import collect_rarely
from disco.runs import list_runs
from disco.runs.locks import note
from disco.server import users
from disco.server.many_users import ManyUsers
from disco.server.user_limits import UserLimits

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

# Fixtures of a wider scope are made before `strict_world`; another number of threads would change their rounding.
torch.set_num_threads(1)

# Files that need nothing compiled: they come first, while another process compiles for the rest.
UNCOMPILED = ("test_jobs", "test_cli", "test_cells_by_genes", "test_hostile_files")
BROWSER_TESTS = "browser"  # the folder that one process runs alone: a second one would start another app and browser
# What takes longest comes early, so that no process is left with it at the end.
LONG = (
    *UNCOMPILED, BROWSER_TESTS, "test_battery", "test_tampered", "test_jobs_refine", "test_pages_sparse",
    "test_pages_script", "test_benchmarks", "test_making", "test_jobs_compare", "test_likelihood_compiled",
)  # fmt: skip # a table
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(autouse=True)
def strict_world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Every test starts from the same seeds, restores them, and has its own folder of runs.

    Nothing waits for the disk, since no test cuts the power; what other processes write is not spared.
    """
    monkeypatch.setenv("DISCO_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(os, "fsync", lambda _: None)
    if "QUICK" in os.environ:
        monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("make quick starts no process"))
    states = random.getstate(), np.random.get_state(), torch.random.get_rng_state()
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    yield
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch.random.set_rng_state(states[2])
    torch.set_num_threads(threads)
    torch.set_default_dtype(dtype)


@pytest.fixture(scope="session", autouse=True)
def streamlit_prepared_once() -> Iterator[None]:
    """Streamlit reads the metadata of every package and compiles the pages at each `AppTest`; here once per process.

    `AppTest` also looks every millisecond whether the script has ended, which slows the script down; here it waits.
    """
    compiled, bytecode, look = ScriptCache(), ScriptCache.get_bytecode, local_script_runner.require_widgets_deltas

    def wait(runner: local_script_runner.LocalScriptRunner, timeout: float) -> None:
        runner._script_thread.join(timeout)
        look(runner, timeout if runner.script_stopped() else 0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        patch.setattr(ScriptCache, "get_bytecode", lambda _, path: bytecode(compiled, path))
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture(scope="session", autouse=True)
def artefacts_searched_once() -> Iterator[None]:
    """A table's hidden artefacts take longer to find than a small refinement of it; tests share their tables."""
    with pytest.MonkeyPatch.context() as patch:
        searched_once.install(patch)
        yield


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Server:
    """This process as a server of many users, of whom nobody asks yet."""
    found = Server()
    monkeypatch.setattr(users, "_identify", found.who)
    monkeypatch.setattr(space, "_current", ManyUsers(UserLimits()))
    return found


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed."""
    return np.random.default_rng(0)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[nx.DiGraph]:
    """The graphs that the pages draw."""
    from pages.shared.graph import canvas  # here, because it imports Streamlit

    seen, draw = [], canvas.graph_view

    def watched(result: object, graph: nx.DiGraph, *more: object, **named: object) -> None:
        seen.append(graph)
        draw(result, graph, *more, **named)

    monkeypatch.setattr(canvas, "graph_view", watched)
    return seen


@pytest.fixture
def small_table(rng: np.random.Generator) -> pd.DataFrame:
    """300 rows of five Poisson counts: a -> b -> c, a -> d, and e without edges."""
    a, e = rng.poisson(2.0, 300), rng.poisson(1.5, 300)
    b, d = rng.poisson(0.5 + 0.8 * a), rng.poisson(0.3 + 0.5 * a)
    return pd.DataFrame({"a": a, "b": b, "c": rng.poisson(0.2 + 0.6 * b), "d": d, "e": e})


@pytest.fixture
def small_truth() -> pd.DataFrame:
    """The edges of `small_table`."""
    return pd.DataFrame({"parent": ["a", "b", "a"], "child": ["b", "c", "d"]})


@pytest.fixture
def strange(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The registry with methods that misbehave, here and in the processes that are started."""
    from strange_methods import MODULE, registered

    from disco.methods import METHODS, isolated

    before = dict(METHODS)
    registered()
    monkeypatch.setattr(isolated, "_MODULE", MODULE)
    yield
    METHODS.clear()
    METHODS.update(before)


@pytest.fixture(scope="session")
def browser_path() -> str:
    """An installed Chromium or Chrome; without one a test is skipped, and in CI it fails."""
    for name in filter(None, (os.environ.get("CHROME"), *BROWSERS)):
        if found := shutil.which(name):
            return found
    reason = "no Chromium or Chrome found; install one or name it in CHROME"
    if repetition.in_ci():
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium(browser_path: str) -> "Iterator[Browser]":
    """A headless browser."""
    from browser_world import FLAGS, PATIENCE, ended_after
    from playwright.sync_api import sync_playwright

    flags = [*FLAGS, "--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else list(FLAGS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, headless=True, args=flags)
        yield browser
        with ended_after(PATIENCE / 1000):
            browser.close()


@pytest.fixture(scope="session")
def context(chromium: "Browser") -> "Iterator[BrowserContext]":
    """One profile for all tests, and one process for all pages of the app, kept alive by an empty one.

    So the app's scripts are fetched and compiled once.
    """
    from browser_world import PATIENCE, ended_after

    context = chromium.new_context(
        viewport={"width": 1400, "height": 1000},
        accept_downloads=True,
        reduced_motion="reduce",  # animations took a tenth of the browser's time
    )
    empty = context.new_page()
    empty.route("**", lambda route: route.fulfill(body=""))
    empty.goto("http://127.0.0.1")
    yield context
    with ended_after(PATIENCE / 1000):
        context.close()


@pytest.fixture
def page(context: "BrowserContext", tmp_path: Path) -> "Iterator[Page]":
    """A fresh page in an empty profile that fails the test on any script error or dialog."""
    from browser_world import PATIENCE, ended_after

    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    yield page
    page.screenshot(path=tmp_path / "last.png")  # pytest keeps the folders of failed tests
    with ended_after(PATIENCE / 1000):
        whole = {"origin": "*", "storageTypes": "cookies,local_storage,indexeddb"}
        context.new_cdp_session(page).send("Storage.clearDataForOrigin", whole)
        page.close()
    assert not wrong


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The app for all browser tests: its address and its folder of runs."""
    from browser_world import served

    folder = tmp_path_factory.mktemp("server") / "runs"
    with served(folder) as found:
        yield found, folder


@pytest.fixture
def address(server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the app, whose runs are those of this test and gone after it."""
    found, folder = server
    monkeypatch.setenv("DISCO_RUNS", str(folder))
    yield found
    for run in list_runs():
        if run.alive:
            os.kill(note(run.lock_path)["pid"], signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the likelihood once, or each test process would."""
    if not hasattr(session.config, "workerinput") and "QUICK" not in os.environ:
        compiled_world.compile_beside()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Wait until everything is compiled, unless a file needs nothing of it."""
    if item.path.stem not in UNCOMPILED:
        compiled_world.wait()


class Scheduling(LoadFileScheduling):
    """A file goes to one process, and all files that need a browser to the same one."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return BROWSER_TESTS if Path(file).parent.name == BROWSER_TESTS else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Takes the place of whatever `--dist` names."""
    return Scheduling(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Give files to processes in the order below, not by their number of tests."""
    config.option.loadscopereorder = False
    config.pluginmanager.register(repetition)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is imported and collected stays, so no search for garbage goes through it again."""
    collect_rarely()
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, and the GPU tests skipped if there is no CUDA device."""
    places = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: min(places.get(name, len(LONG)) for name in (item.path.stem, item.path.parent.name)))
    if torch.cuda.is_available():
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.fixture
def single_threaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that a test starts compute with one thread, which sleeps while it waits."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")
