"""Signs of hidden causes: tied residuals, one factor behind all, and how strong a cause of an edge would have to be."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from disco.effects import hidden
from disco.effects.graph_fits import FittedGraphs
from disco.effects.strength import strength
from disco.errors import InputError
from disco.table.roles import Roles


def table(rows=1500, seed=4, cause=0.0, depth=0.0, effect=0.5):
    """a → b, c → d, and e apart from them; a hidden cause of b and d, and a depth of all columns."""
    random = np.random.default_rng(seed)
    deep = np.exp(depth * random.standard_normal(rows) - depth**2 / 2)
    behind = np.exp(cause * random.standard_normal(rows) - cause**2 / 2)
    a, c, e = (random.poisson(3 * deep) for _ in range(3))
    b, d = (random.poisson((1 + effect * one) * behind * (deep if depth else 1)) for one in (a, c))
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e})


GRAPH = nx.DiGraph([("a", "b"), ("c", "d")])


def signs(given, roles=None):
    return hidden.signs(FittedGraphs.of_dag(GRAPH, given, roles=roles))


def test_without_a_hidden_cause_there_is_no_sign():
    found = [signs(table(seed=seed)) for seed in range(6)]
    assert sum(one.ties["tied"].any() for one in found) <= 1
    assert sum(one.factor.is_there for one in found) == 0
    p_values = np.concatenate([one.ties["p_value"] for one in found])
    assert 0.02 <= (p_values < 0.1).mean() <= 0.25 and len(p_values) == 6 * 8


def test_a_hidden_cause_of_two_nodes_ties_them():
    found = signs(table(cause=0.3))
    assert found.ties.loc[0, ["one", "other", "tied"]].tolist() == ["b", "d", True]
    assert found.ties.loc[0, "correlation"] > 0.05 and found.ties["tied"].sum() <= 2
    assert found.sentences[0].startswith("b and d vary together more than the graph explains")


@pytest.mark.parametrize("cause", [0.5, 1.0])
def test_what_ties_a_pair_strongly_is_no_factor_behind_all(cause):
    found = signs(table(cause=cause))
    assert found.ties.loc[0, "tied"] and found.factor.explained > found.factor.chance
    assert not found.factor.is_there and 1.9 < found.factor.columns < 2.5


def test_depth_is_one_factor_that_goes_along_with_the_totals():
    found = signs(table(depth=0.3))
    assert found.factor.is_there and found.factor.with_totals > 0.5
    assert "the rows' totals" in found.sentences[0] and "total as exposure" in found.sentences[0]


def test_residuals_are_those_of_the_distribution():
    """By the definition, for a node without parents: the share of rows below minus the share above."""
    given = table()
    fitted = FittedGraphs.of_dag(GRAPH, given)
    left = hidden.residuals(fitted.nodes, fitted.graphs.dags[0].parents)
    e = given["e"].to_numpy()
    expected = np.array([(e < value).mean() - (e > value).mean() for value in e])
    assert left[:, 4] == pytest.approx(expected, abs=0.03)
    assert np.abs(left.mean(axis=0)).max() < 0.01


def test_rows_of_a_group_count_once():
    """Copies of rows make no tie surer if they are one group."""
    single = table(rows=400, cause=0.25)
    copied = pd.concat([single.assign(site=range(400))] * 4, ignore_index=True)
    alone, grouped = signs(single).ties, signs(copied, Roles({"site": "group"})).ties
    pairs = [one.set_index(["one", "other"])["p_value"]["b", "d"] for one in (alone, grouped)]
    assert np.log(pairs[0]) == pytest.approx(np.log(pairs[1]), rel=0.1)


def test_rows_in_which_a_node_was_set_say_nothing_of_it():
    given = table(cause=0.3).assign(arm=np.repeat(["control", "b"], [500, 1000]))
    given.loc[500:, "b"] = np.random.default_rng(1).poisson(9.0, 1000)
    fitted = FittedGraphs.of_dag(GRAPH, given, roles=Roles({"arm": "intervention"}))
    left = hidden.residuals(fitted.nodes, fitted.graphs.dags[0].parents)
    assert (left[500:, 1] == 0).all() and (left[:500, 1] != 0).any() and (left[500:, 3] != 0).any()


def test_a_stronger_edge_needs_a_stronger_hidden_cause():
    joined = nx.DiGraph([("c", "d"), ("e", "b"), ("a", "b")])
    random = np.random.default_rng(3)

    def with_effect(effect):
        given = table()
        return given.assign(b=random.poisson(1 + effect * given["a"] + 0.5 * given["e"]))

    found = [strength(FittedGraphs.of_dag(joined, with_effect(effect)), "a", "b") for effect in (0.1, 0.4, 1.2)]
    assert 0 < found[0] < found[1] < found[2]
    assert np.isnan(strength(FittedGraphs.of_dag(joined, table()), "a", "d"))
    with pytest.raises(InputError, match='There is no node "z"'):
        strength(FittedGraphs.of_dag(joined, table()), "z", "d")


def test_a_hidden_cause_of_that_strength_makes_the_edge():
    """Drawn from scratch: a and b share a normal cause of this strength, without an edge, and look as joined."""
    rows, random = 4000, np.random.default_rng(8)
    c, d = random.poisson(4.0, (2, rows))
    a = random.poisson(np.exp(0.5 + 0.15 * c))
    b = random.poisson(np.exp(0.2 + 0.15 * d + 0.12 * a))
    graph = nx.DiGraph([("c", "a"), ("d", "b"), ("a", "b")])
    times = strength(FittedGraphs.of_dag(graph, pd.DataFrame({"a": a, "b": b, "c": c, "d": d})), "a", "b")
    size = times * 0.15 * 2  # the effect of c on a, and of d on b, is .15 per count with standard deviation 2
    behind = size * random.standard_normal(rows) - size**2 / 2
    again = random.poisson(np.exp(0.5 + 0.15 * c + behind))
    other = random.poisson(np.exp(0.2 + 0.15 * d + 0.12 * a.mean() + behind))
    tied = [np.corrcoef(np.sqrt(one), np.sqrt(two))[0, 1] for one, two in ((a, b), (again, other))]
    assert tied[1] == pytest.approx(tied[0], rel=0.35)
