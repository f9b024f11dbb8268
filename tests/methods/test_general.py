"""causal-learn's algorithms: reading their matrix, what they are given, what they refuse."""

import random
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.methods import find
from disco.methods.general import Options, read, standardised

CLASSES = ("boss", "grasp", "pc", "ges")


def rows(n: int = 3000) -> pd.DataFrame:
    """A collider a → c ← b with a child d, and a pair x, y whose direction a linear Gaussian model cannot tell."""
    rng = np.random.default_rng(0)
    a, b, x = (rng.poisson(20, n) for _ in range(3))
    c = rng.poisson(a + b)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": rng.poisson(c), "x": x, "y": rng.poisson(x)})


@pytest.mark.parametrize(
    ("ends", "directed", "undirected"),
    [((-1, 1), [(0, 1)], []), ((1, -1), [(1, 0)], []), ((-1, -1), [], [(0, 1)]), ((1, 1), [], [(0, 1)])],
)
def test_the_matrix_of_causal_learn_is_read_tail_to_head(ends, directed, undirected):
    found = read(np.array([[0, ends[0]], [ends[1], 0]]))
    assert [list(map(tuple, pairs)) for pairs in found] == [directed, undirected]


def test_boss_is_given_standardised_logarithms_and_the_penalty(monkeypatch):
    seen = []
    package = ModuleType("causallearn.search.PermutationBased.BOSS")
    graph = np.array([[0, -1], [1, 0]])
    package.boss = lambda z, **more: seen.append((z, more, random.random())) or SimpleNamespace(graph=graph)
    for name in ("causallearn", "causallearn.search", "causallearn.search.PermutationBased"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setattr("disco.methods.registry.find_spec", lambda name: name == "causallearn")
    table = pd.DataFrame({"a": [0, 1, 7] * 4, "b": [3, 3, 0] * 4})
    before = random.getstate(), np.random.get_state()[1].copy()
    results = [find("boss", table, {"penalty": 3, "seed": 7}) for _ in range(2)]
    assert random.getstate() == before[0] and (np.random.get_state()[1] == before[1]).all()
    assert results[0].directed == [("a", "b")] and results[0].order is None
    (z, more, drawn), again = seen
    np.testing.assert_allclose([z.mean(axis=0), z.std(axis=0)], [[0, 0], [1, 1]], atol=1e-12)
    np.testing.assert_allclose(np.diff(z[:3, 0]) / np.diff(z[:3, 0])[0], np.log([2, 4]) / np.log(2))
    assert more["parameters"] == {"lambda_value": 3} and drawn == again[2], "the seed repeats"


def test_what_cannot_be_computed_is_one_sentence(monkeypatch):
    with pytest.raises(InputError, match='BOSS needs columns that vary; "k" is constant'):
        standardised(pd.DataFrame({"a": [0, 1], "k": [2, 2]}), "BOSS")
    with pytest.raises(InputError, match="alpha must be less than 1; got 1"):
        Options(alpha=1)
    monkeypatch.setattr("disco.methods.registry.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"^GRaSP needs the package causal-learn: pip install \.\[rivals\]\.$"):
        find("grasp", rows(9))


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_directed_edges_and_open_ones(name):
    pytest.importorskip("causallearn")
    state = random.getstate()
    found = find(name, rows())
    assert set(found.directed) == {("a", "c"), ("b", "c"), ("c", "d")} and found.undirected == [("x", "y")]
    assert found.notes == ("Undirected edges: 1 of 4.",) and found.order is None and random.getstate() == state


def test_lingam_gives_an_order_and_sizes():
    pytest.importorskip("causallearn")
    rng = np.random.default_rng(0)
    cause = rng.exponential(size=4000) + 5  # logarithms of large counts, so that rounding does not matter
    table = pd.DataFrame({"effect": np.exp(0.5 * cause + rng.exponential(size=4000) + 4), "cause": np.exp(cause + 2)})
    found = find("lingam", table.round().astype(int))
    assert found.directed == [("cause", "effect")] and found.order == ["cause", "effect"]
    sizes = found.scores.set_index(["parent", "child"])["score"]
    assert sizes["cause", "effect"] == pytest.approx(0.5 / np.sqrt(1.25), abs=0.05)
    assert find("lingam", table.round().astype(int), {"least": 0.6}).directed == []


def test_copies_and_few_rows_stop_pc_and_lingam_with_a_sentence():
    pytest.importorskip("causallearn")
    copied = rows(200).assign(e=lambda table: table["a"])
    with pytest.raises(InputError, match='PC needs columns that are not determined by the others; leave "(a|e)" out'):
        find("pc", copied)
    for name in ("pc", "lingam"):
        with pytest.raises(InputError, match="needs more rows than columns; this table has 12 and 18"):
            find(name, pd.concat([rows(12).add_suffix(number) for number in "123"], axis=1))
    for name in ("boss", "grasp", "ges"):
        assert find(name, copied).seconds > 0
