"""The depth stress test: edges counted by hand, constant columns, and a search of its own on each thinned table."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from refine_world import ALONE, chain

from disco.errors import FitStopped
from disco.refine import again as module
from disco.refine.again import stress, stress_in_words
from disco.table.roles import Roles


def test_edges_are_counted_either_way(monkeypatch):
    table = pd.DataFrame(np.random.default_rng(0).poisson(40, (60, 4)), columns=list("abcd"))
    table["rare"] = [1] + [0] * 59
    found = [["ab", "bc", "cd"], ["ab", "cb", "ad"], []]
    seen = []

    def searched(given, choice, callback, dismissed):
        seen.append(given.counts)
        return SimpleNamespace(found=SimpleNamespace(pairs=[tuple(edge) for edge in found[len(seen) - 1]]))

    monkeypatch.setattr(module, "refine", searched)
    lines = stress(table, seed=3)
    assert lines.drop(columns="constant").to_numpy().tolist() == [[0.5, 3, 2, 1, 1], [0.25, 3, 0, 0, 0]]
    assert [part.shape[1] for part in seen] == [5, *(5 - lines["constant"])] and lines["constant"].max() == 1
    assert [part["a"].mean() for part in seen[1:]] == pytest.approx([20, 10], abs=2)
    words = "At 50% of the depth, 2 of 3 edges are found again, 1 of them reversed, and 1 new ones"
    assert stress_in_words(lines.to_dict("records")[0]).startswith(words)


def test_every_search_is_adjusted_as_the_whole_table_is(monkeypatch):
    table = pd.DataFrame(np.random.default_rng(0).poisson(4, (60, 3)) + 1, columns=list("abc"))
    table["batch"] = ["x", "y"] * 30
    seen = []

    def searched(given, choice, callback, dismissed):
        seen.append((list(given.counts), given.adjustment))
        return SimpleNamespace(found=SimpleNamespace(pairs=[]))

    monkeypatch.setattr(module, "refine", searched)
    stress(table, roles=Roles({"batch": "covariate"}, exposure="total"))
    assert [names for names, _ in seen] == [["a", "b", "c"]] * 3
    for _, adjustment in seen:
        assert adjustment.covariates[0].name == "batch"
        np.testing.assert_array_equal(adjustment.exposure, table[["a", "b", "c"]].sum(axis=1))


def test_a_share_of_1_finds_every_edge_again_and_noise_few():
    table = chain(rows=600)
    lines = stress(table, ALONE, shares=(1.0, 0.02))
    assert lines.loc[0, ["again", "reversed", "new"]].tolist() == [lines["edges"][0], 0, 0] and lines["edges"][0] >= 2
    assert lines["again"][1] < lines["edges"][1]


def test_it_tells_how_far_it_is_and_can_be_stopped():
    heard = []
    with pytest.raises(FitStopped, match="stopped in the search at 50% of the depth"):
        stress(chain(rows=200), ALONE, callback=lambda event: heard.append(event) or event.stage != "search at 50%")
    assert {event.stage for event in heard} == {"search at 100%", "search at 50%"}
    assert [event.progress for event in heard] == sorted(event.progress for event in heard)
