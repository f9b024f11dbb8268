"""What pages keep for all sessions: computed once, bounded in bytes, the least recently used out first."""

import threading
from dataclasses import dataclass, field

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch

from pages.shared.compute.cache import Cache, bytes_of

MB = 1_000_000


def test_what_several_sessions_ask_at_once_is_made_once():
    cache, may_end, made = Cache(MB), threading.Event(), []

    def make():
        made.append(1)
        may_end.wait(60)
        return "result"

    found = []
    threads = [threading.Thread(target=lambda: found.append(cache.get("key", make))) for _ in range(5)]
    for thread in threads:
        thread.start()
    may_end.set()
    for thread in threads:
        thread.join()
    assert found == ["result"] * 5 and made == [1]


def test_what_failed_is_not_cache_and_tried_again():
    cache = Cache(MB)
    with pytest.raises(ValueError, match="once"):
        cache.get("key", lambda: (_ for _ in ()).throw(ValueError("once")))
    assert cache.get("key", lambda: None) is None
    assert cache.get("key", lambda: "again") is None  # None is a result too


def test_the_least_recently_used_goes_first_and_the_last_one_stays():
    cache = Cache(3 * MB + 1000)
    for key in "abc":
        cache.put(key, np.zeros(MB, np.uint8))
    assert cache.find("a") is not None
    cache.put("d", np.zeros(MB // 2, np.uint8))
    assert cache.find("b") is None and cache.find("c") is not None and cache.bytes < 3 * MB
    cache.put("large", np.zeros(9 * MB, np.uint8))
    assert cache.find("large") is not None and cache.find("a") is None
    assert cache.bytes == pytest.approx(9 * MB, rel=0.01)
    cache.drop("large")
    assert cache.bytes == 0 and cache.find("large", "gone") == "gone"


def test_what_nobody_uses_for_long_goes_unless_it_is_the_last_one(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    cache = Cache(MB, idle=lambda: 10.0)
    for key in "abc":
        cache.put(key, "text")
    now[0] = 8.0
    assert cache.find("a") is not None
    now[0] = 11.0
    cache.put("d", "text")
    assert [cache.find(key) for key in "abcd"] == ["text", None, None, "text"]
    now[0] = 99.0
    cache.put("e", "text")
    assert [cache.find(key) for key in "ade"] == [None, None, "text"]
    assert cache.bytes == bytes_of("text")


@dataclass
class Growing:
    """A result that computes more of itself when it is shown."""

    parts: list[np.ndarray] = field(default_factory=list)


def test_a_result_that_grew_is_measured_again():
    cache, one = Cache(3 * MB, remeasure_after=0.0), Growing()
    cache.put("old", "text")
    cache.put("growing", one)
    one.parts.append(np.zeros(4 * MB, np.uint8))
    assert cache.find("growing") is one
    cache.put("new", "text")
    assert cache.find("old") is None and cache.find("growing") is None and cache.find("new") == "text"


def test_bytes_are_those_of_the_data():
    table = pd.DataFrame(np.zeros((1000, 100), np.int64), columns=[f"gene {number}" for number in range(100)])
    assert bytes_of(table) == pytest.approx(800_000, rel=0.05)
    assert bytes_of(Growing([np.zeros(MB, np.uint8), np.zeros(MB, np.uint8)])) == pytest.approx(2 * MB, rel=0.01)
    shared = np.zeros(MB, np.uint8)
    assert bytes_of({"one": shared, "same": shared}) == pytest.approx(MB, rel=0.01)
    assert bytes_of([shared[: MB // 2]]) == pytest.approx(MB / 2, rel=0.01)
    assert bytes_of(torch.zeros(MB // 4)) == pytest.approx(MB, rel=0.01)
    assert bytes_of("a" * MB) == pytest.approx(MB, rel=0.01)
    around: list = [np.zeros(MB, np.uint8)]
    around.append(around)
    assert bytes_of(around) == pytest.approx(MB, rel=0.01)
    assert bytes_of(nx.DiGraph([(number, number + 1) for number in range(1000)])) > 100_000
    assert bytes_of((lambda: None, Cache, threading)) < 1000
