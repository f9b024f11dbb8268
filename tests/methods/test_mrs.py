"""MRS: exact ratios, the second moments of its families, orders, skeletons, and what it refuses."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import FitStopped, InputError
from disco.graph.result import GraphResult
from disco.methods import METHODS, find
from disco.methods.mrs import joined, ratio, second_moment
from tests.enumerated import PARAMETER, given, joint
from tests.methods.test_ods import COMPLETE, LACKING, ROWS, WITH_A_DESCENDANT, chain


def exact(family: str, node: int, before: tuple[int, ...]) -> float:
    moments = given(joint(family), node, before)
    expected = second_moment(family, PARAMETER[family], 10.0)(moments.mean)
    return ratio(moments.second, expected, moments.weights)


@pytest.mark.parametrize("family", PARAMETER)
def test_the_exact_ratio_is_one_with_all_parents_and_above_one_if_one_is_missing(family):
    """A descendant among the nodes before brings it below one, which an order from sources never comes to."""
    for node, before in COMPLETE:
        assert exact(family, node, before) == pytest.approx(1, abs=1e-10)
    for node, before in LACKING:
        assert exact(family, node, before) > 1.01
    for node, before in WITH_A_DESCENDANT:
        assert exact(family, node, before) < 0.99


@pytest.mark.parametrize("b", [0.05, 0.5, 1.0, 2.0, 7.5, 100.0])
def test_the_second_moment_of_the_hyper_poisson_is_its_sum(b):
    function = second_moment("hyper-poisson", b, 50.0)
    levels = np.arange(1000)
    for rate in (0.01, 0.7, 5.0, 40.0):
        terms = np.concatenate([[0.0], np.cumsum(np.log(rate) - np.log(b + levels[:-1]))])
        share = np.exp(terms - terms.max())
        share /= share.sum()
        mean, second = share @ levels, share @ (levels * (levels - 1))
        assert function(np.array([mean]))[0] == pytest.approx(second, rel=2e-4)


def test_a_hyper_poisson_with_b_one_is_poisson():
    mean = np.array([0.1, 1.0, 30.0])
    np.testing.assert_allclose(second_moment("hyper-poisson", 1.0, 50.0)(mean), mean**2, rtol=1e-5)
    over, under = (second_moment("hyper-poisson", b, 50.0)(mean) for b in (3.0, 0.3))
    assert (over > mean**2).all() and (under < mean**2).all()


@pytest.mark.parametrize("changes", [{}, {"means": "glm"}, {"skeleton": "none"}, {"parents": "skeleton"}])
def test_a_chain_is_ordered_sources_first_whatever_the_order_of_its_columns(changes):
    result = find("mrs", chain(), changes)
    assert result.order == find("mrs", chain()[["b", "c", "a"]], changes).order == ["a", "b", "c"]
    assert {("a", "b"), ("b", "c")} <= set(result.directed)


@pytest.mark.parametrize(
    ("name", "source", "child"),
    [
        ("mrs-nb", lambda random: random.negative_binomial(6, 0.6, ROWS), lambda random, mean: (6, 6 / (6 + mean))),
        ("mrs-binomial", lambda random: random.binomial(8, 0.3, ROWS), lambda random, mean: (8, 0.1 + mean / 16)),
    ],
)
def test_the_families_order_their_own_tables(name, source, child):
    random = np.random.default_rng(5)
    draw = random.negative_binomial if name == "mrs-nb" else random.binomial
    cause = source(random)
    given_mean = child(random, 0.5 + 0.8 * cause if name == "mrs-nb" else cause)
    table = pd.DataFrame({"effect": draw(*given_mean), "cause": cause})
    assert find(name, table).directed == [("cause", "effect")]


def test_the_skeleton_joins_parents_and_children_and_not_what_they_explain():
    counts = chain()
    found = joined(counts, "partial")
    names = list(counts)
    pairs = {frozenset((names[i], names[j])) for i, j in np.argwhere(found)}
    assert pairs == {frozenset("ab"), frozenset("bc")} and (found == found.T).all()
    assert joined(counts, "none").sum() == 6


def test_edges_keep_to_the_skeleton_and_notes_say_which(monkeypatch):
    """That of a search counts in whatever direction, also where the search leaves it open."""

    def search(name, counts, callback=None):
        assert name == "boss"
        return GraphResult.of(list(counts), [("b", "a")], undirected=[("c", "b")])

    monkeypatch.setattr("disco.methods.dispatch.find", search)
    table = chain()
    dense = find("mrs", table, {"skeleton": "none", "cutoff": 1.0})
    kept = find("mrs", table, {"skeleton": "boss", "cutoff": 1.0})
    assert len(dense.directed) == 3 and "skeleton: none, all pairs are candidates" in dense.notes[0]
    assert kept.directed == [("a", "b"), ("b", "c")] and "skeleton: boss, 2 pairs" in kept.notes[0]
    assert len(kept.scores) == 2


@pytest.mark.skipif("boss" not in METHODS or not METHODS["boss"].installed, reason="needs causal-learn")
def test_the_skeleton_of_boss_orders_a_chain():
    assert find("mrs", chain(), {"skeleton": "boss", "parents": "skeleton"}).directed == [("a", "b"), ("b", "c")]


def test_b_and_family_are_noted():
    result = find("mrs-hyper-poisson", chain(), {"b": 1.5})
    assert "assumed to be hyper-poisson with b = 1.5" in result.notes[0] and "a moment ratio of 1" in result.notes[1]
    assert "poisson;" in find("mrs", chain()).notes[0]


def test_what_cannot_be_is_refused():
    table = chain()[:200]
    with pytest.raises(InputError, match='0 in "d", a binomial of 1 trial'):
        find("mrs-binomial", table.assign(d=np.arange(200) % 2))
    with pytest.raises(InputError, match="trials cannot fit"):
        find("mrs-binomial", table, {"trials": 2})


@pytest.mark.parametrize("name", ["mrs", "mrs-nb", "mrs-hyper-poisson"])
@pytest.mark.parametrize("means", ["linear", "glm"])
def test_copies_huge_rare_and_separated_columns_give_a_result(name, means):
    random = np.random.default_rng(4)
    base = random.poisson(3, 400)
    table = pd.DataFrame({"base": base, "copy": base, "huge": random.integers(0, 2**50, 400)})
    table["rare"] = (np.arange(400) == 7).astype(int)
    table["split"] = (base > 3).astype(int)
    result = find(name, table, {"means": means})
    assert sorted(result.order) == sorted(table)


@pytest.mark.parametrize("stage", ["order", "parents"])
def test_it_stops(stage):
    heard = []
    with pytest.raises(FitStopped):
        find("mrs", chain()[:500], callback=lambda event: heard.append(event.stage) or event.stage != stage)
    assert heard[-1] == stage
