"""Fitted networks kept on the device: equal to those after the fit, loaded once, limited in bytes."""

import shutil
import threading
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from made_up import of_an_older_version

from disco.errors import InputError
from disco.estimator import DISCO
from disco.paper.fitted_networks import Fitted
from disco.paper.settings import Settings
from disco.runs import Run, create_run
from disco.subjects.fit import network_cache
from disco.subjects.fit.execution import execute
from disco.subjects.fit.results import StoredFit

TINY = Settings.of("paper", width=8, hidden_layers=2, joint_epochs=2, projection_epochs=2, noise_levels=2)


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DISCO_CACHE_BYTES", str(1 << 30))
    network_cache.clear()
    yield
    network_cache.clear()


def finished(table: pd.DataFrame, name: str, **changes) -> Run:
    run = create_run(table, TINY.replace(**changes), name=name, device="cpu")
    execute(run)
    return run


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the runs loaded from disk, in order."""
    names, load = [], network_cache._load

    def counting(run, networks):
        names.append(run.name)
        time.sleep(0.05)
        return load(run, networks)

    monkeypatch.setattr(network_cache, "_load", counting)
    return names


def test_a_served_run_is_the_fitted_one(small_table):
    run = finished(small_table, "one")
    fitted, served = DISCO(device="cpu", **TINY.to_dict()).fit(small_table), network_cache.fitted(run)
    assert served.settings == TINY and served.device.type in ("cpu", "cuda")
    pd.testing.assert_frame_equal(served.table, fitted.fitted_.table)
    assert served.recover().order == fitted.order_
    for boundary in ("clipped", "admissible"):
        again, first = served.recover(boundary=boundary), fitted.recover(boundary=boundary)
        assert again.order == first.order
        pd.testing.assert_frame_equal(again.ocs, first.ocs, rtol=1e-4)
    curvature = served.curvature("a", ["a", "b", "c"])
    np.testing.assert_allclose(curvature["curvature"], fitted.curvature("a", list("abc"))["curvature"], rtol=1e-4)


def test_second_differences_count_among_the_bytes(small_table):
    """They stay on the device for the next curvature."""
    few, many = (finished(small_table, f"{rows}", projection="schur", evaluation_rows=rows) for rows in (10, 60))
    for run in (few, many):
        network_cache.fitted(run)
    sizes = {entry.path: entry.bytes for entry in network_cache.cached()}
    assert sizes[many.path] - sizes[few.path] == 4 * TINY.folds * 50 * small_table.shape[1] ** 2


def test_tabs_share_one_load(small_table, loads):
    run = finished(small_table, "shared")
    found: list[Fitted] = []
    tabs = [threading.Thread(target=lambda: found.append(network_cache.fitted(run))) for _ in range(6)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join(60)
    assert loads == ["shared"] and len(found) == 6 and all(one is found[0] for one in found)
    entry = network_cache.cached()[0]
    assert (entry.path, entry.name, entry.device) == (run.path, "shared", found[0].device.type) and entry.bytes > 1000


def test_the_longest_unused_goes_first(small_table, loads, monkeypatch):
    a, b, c = (finished(small_table, name) for name in "abc")
    network_cache.fitted(a)
    size = network_cache.cached()[0].bytes
    monkeypatch.setenv("DISCO_CACHE_BYTES", str(int(2.5 * size)))
    for run in (b, a, c):  # a is used again before c comes
        network_cache.fitted(run)
    assert [entry.name for entry in network_cache.cached()] == ["c", "a"]
    assert sum(entry.bytes for entry in network_cache.cached()) <= network_cache.cache_limit()
    network_cache.fitted(a)
    assert loads == ["a", "b", "c"]
    network_cache.fitted(b)
    assert loads == ["a", "b", "c", "b"]


def test_one_too_large_for_the_bound_is_served_and_not_kept(small_table, loads, monkeypatch):
    small, large = finished(small_table, "small"), finished(small_table, "large", width=64)
    network_cache.fitted(small)
    monkeypatch.setenv("DISCO_CACHE_BYTES", str(network_cache.cached()[0].bytes))
    assert network_cache.fitted(large).recover().order == StoredFit(large).order
    assert [entry.name for entry in network_cache.cached()] == ["small"]
    monkeypatch.setenv("DISCO_CACHE_BYTES", "much")
    with pytest.raises(InputError, match="DISCO_CACHE_BYTES"):
        network_cache.cache_limit()


def test_a_run_deleted_or_fitted_anew_is_not_served_from_memory(small_table, loads):
    run, other = finished(small_table, "first"), finished(small_table, "second", seed=1)
    before = network_cache.fitted(run)
    of_an_older_version(run)
    shutil.copy(other.path / "networks.safetensors", run.path / "networks.safetensors")
    assert network_cache.fitted(run) is not before
    run.delete()
    assert network_cache.cached() == []
    with pytest.raises(InputError, match="no fitted networks"):
        network_cache.fitted(run)


def test_unreadable_networks_get_a_sentence(small_table):
    run = finished(small_table, "torn")
    (run.path / "networks.safetensors").write_bytes(b"\x80\x04not safetensors")
    with pytest.raises(InputError, match="networks.safetensors is damaged: it was changed, or belongs to another run"):
        network_cache.fitted(run)
    with pytest.raises(InputError, match="cannot be read"):
        network_cache.fitted(of_an_older_version(run))


def test_the_device_tells_its_memory(monkeypatch):
    status = network_cache.device_status()
    assert status.kind in ("cpu", "cuda") and status.name and 0 < status.used < status.total
    monkeypatch.delenv("DISCO_CACHE_BYTES")
    assert network_cache.cache_limit() == pytest.approx(0.25 * status.total, rel=0.01)
