"""Directions against rivals of other classes: what cannot be known stays open, what can be known is decided."""

import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from refine_world import QUICK, all_pairs, design_of

from disco.knowledge import Resolved
from disco.likelihood.other_classes import exactness
from disco.progress import SILENT
from disco.refine import refine
from disco.refine.bounds import least_lead
from disco.refine.edge_evidence import in_classes
from disco.refine.node_scores import Scores
from disco.refine.rivals import SeveralClasses, coarse_leads, leads
from disco.refine.turned import Turned
from disco.simulate import Design, simulate

ORDER, EDGES = list("abcde"), [("a", "c"), ("b", "c"), ("c", "d"), ("c", "e")]


def _noise(random, rows, means=(2.0, 3.0, 4.0)):
    return {f"n{number}": random.poisson(mean, rows) for number, mean in enumerate(means)}


def _hurdle(seed, rows=2000):
    random = np.random.default_rng(seed)
    a = random.poisson(4.0, rows)
    b = random.poisson(5.0, rows) * (random.random(rows) < 1 / (1 + np.exp(4.0 - a)))
    return pd.DataFrame({"a": a, "b": b, **_noise(random, rows)})


def _scores(table):
    design = design_of(table)
    return Scores(design, all_pairs(design.nodes), odds=math.log(8))


def test_wider_orders_put_the_parent_behind_its_children_or_the_child_before_its_parents():
    orders = Turned(ORDER, nx.DiGraph(EDGES))
    assert [*orders.wider(("c", "d"))] == [list("abdec"), list("abdce")]
    assert [*orders.wider(("a", "c"))] == [list("bcade"), list("cabde")]


def test_undecided_edges_above_the_parent_are_reversed_with_the_edge():
    graph = nx.DiGraph(EDGES)
    orders = Turned(ORDER, graph)
    assert orders.together(("c", "d"), [("c", "e")]) is None
    assert orders.together(("c", "d"), [("a", "c")]) == list("bdcae")
    assert orders.together(("c", "d"), [("a", "c"), ("b", "c")]) == list("dcabe")
    assert {*graph.edges} == {*EDGES}  # which is not changed
    joined = Turned(ORDER, nx.DiGraph([*EDGES, ("a", "d")]))
    assert joined.together(("c", "d"), [("a", "c")]) is None  # d → c → a → d is a cycle
    assert joined.together(("c", "d"), [("a", "c"), ("a", "d")]) == list("bdcae")


def test_near_orders_reverse_a_chain_as_a_whole():
    """Reversing its last edge alone makes a collider. In a graph with a collider, edges that it fixes stay alone."""
    chain = Turned(list("abcd"), nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d")]))
    assert [*chain.near(("b", "c"))] == [list("acbd"), list("cbad")]
    assert [*Turned(ORDER, nx.DiGraph(EDGES)).near(("c", "d"))] == [list("abdce")]
    clique = Turned(list("abc"), nx.DiGraph([("a", "b"), ("a", "c"), ("b", "c")]))
    assert [*clique.near(("b", "c"))][-1] == list("cab")


def test_rival_orders_obey_the_rules():
    before = np.zeros((5, 5), bool)
    before[4, 3] = True
    rules = Resolved(np.zeros_like(before), np.zeros_like(before), before)
    graph = nx.DiGraph([(0, 2), (1, 2), (2, 3), (2, 4)])
    for order in Turned([0, 1, 2, 4, 3], graph, rules).wider((2, 3)):
        assert order.index(4) < order.index(3) < order.index(2)


def test_a_score_over_several_classes_is_that_of_the_best_one():
    """Of the counts of a hurdle only the hurdle gains as much as the true zeros do; without parents all are equal."""
    table = _hurdle(0)
    glm = in_classes(_scores(table))[0]
    several = SeveralClasses(glm, [()] * 5, in_classes(_scores(table))[-1].design.prior)
    alone, given_a = (1, 0), (1, glm.allowed(1, [0]))
    several.fit([alone, given_a])
    true, is_above = 1 / (1 + np.exp(4.0 - table["a"])), table["b"] > 0
    share = is_above.mean()
    exact = np.log(np.where(is_above, true, 1 - true)).sum() - np.log(np.where(is_above, share, 1 - share)).sum()
    assert several.score(alone) == glm.found[1][0].score
    assert several.score(given_a) - several.score(alone) == pytest.approx(exact - math.log(8), abs=12)
    assert glm.found[1][given_a[1]].score - several.score(alone) < exact - 50


def test_the_least_lead_grows_with_what_a_row_gains_and_not_with_the_rows():
    assert least_lead(10.0, 100.0, 2000) == 8 and least_lead(10.0, 2000.0, 30_000) == 20
    assert least_lead(10.0, 900.0, 1000) == pytest.approx(0.03 * 0.9 * 900)
    assert least_lead(10.0, 90_000.0, 1_000_000) == pytest.approx(0.01 * 0.09 * 30_000)


def test_a_lead_is_the_difference_over_all_nodes_that_choose_anew():
    """Against the reversed order of a pair, by the scores of its two nodes."""
    random = np.random.default_rng(3)
    a = random.choice([1, 2, 9, 10], 1500)
    table = pd.DataFrame({"a": a, "b": random.poisson(np.log1p(np.exp(0.5 * a - 2)))})
    classes = in_classes(_scores(table))
    several = SeveralClasses(classes[0], [(), (0,)], classes[-1].design.prior)
    found = leads(several, [0, 1], [(), (0,)], {(0, 1): 5.0})
    both, ends = [(0, 0), (1, 1)], [(1, 0), (0, 1)]
    several.fit([*both, *ends])
    expected = sum(map(several.score, both)) - sum(map(several.score, ends))
    assert found == {(0, 1): pytest.approx(expected)} and expected > 20


@pytest.mark.parametrize("seed", [0, 1])
def test_the_direction_of_a_hurdle_is_open(seed):
    """The reversed class fits exactly, with 100 nats of direction evidence for it and no misfit."""
    (edge,) = refine(_hurdle(seed), QUICK).edges.to_dict("records")
    assert {edge["parent"], edge["child"]} == {"a", "b"} and edge["direction_nats"] > 60
    assert edge["robust_nats"] < 5 and not edge["decided"] and not edge["source"]


def test_a_chain_of_hurdles_is_not_reversed_as_a_whole():
    """Each reversed edge alone is worse than the graph: only all of them together are as good."""
    random = np.random.default_rng(4)
    columns = [random.poisson(4.0, 2000)]
    for _ in range(5):
        opened = random.random(2000) < 1 / (1 + np.exp(2.4 - 0.8 * columns[-1]))
        columns.append(random.poisson(5.0, 2000) * opened)
    edges = refine(pd.DataFrame(dict(zip("abcdef", columns, strict=True))), QUICK).edges
    assert len(edges) >= 5 and not edges["decided"].any() and (edges["direction_nats"] > 30).any()


def test_a_reversible_pair_stays_open_however_many_rows():
    """Y is a thinned X and Poisson noise, and X the same of Y: the direction cannot be known."""
    random = np.random.default_rng(5)
    x = random.poisson(8.0, 30_000)
    y = random.binomial(x, 0.5) + random.poisson(4.0, 30_000)
    edges = refine(pd.DataFrame({"x": x, "y": y}), QUICK).edges
    assert len(edges) == 1 and not edges["decided"].any()


def test_what_was_decided_stays_decided_with_more_rows():
    sure = []
    for rows in (2500, 15_000):
        drawn = simulate(Design(nodes=8, k=2, rows=rows, family="nb-softplus", seed=6))
        edges = refine(drawn.table, QUICK).edges
        sure.append({(row.parent, row.child) for row in edges[edges["decided"]].itertuples()})
        assert sure[-1] <= {*zip(drawn.truth["parent"], drawn.truth["child"], strict=True)}
    assert 3 < len(sure[0]) and sure[0] <= sure[1]


def test_a_part_and_its_total_have_no_direction():
    """Hits are a part of the times at bat: evidence for one direction, from a support that depends on the other."""
    random = np.random.default_rng(7)
    total = random.negative_binomial(2, 0.5, 2000)
    table = pd.DataFrame({"hits": random.binomial(total, 0.3), "total": total, **_noise(random, 2000)})
    edges = refine(table, QUICK).edges
    edge = edges[edges["parent"].isin(["hits", "total"]) & edges["child"].isin(["hits", "total"])].iloc[0]
    assert edge["direction_nats"] > 10 and edge["robust_nats"] == 0 and not edge["decided"]


def _levels(values, many):
    """Columns of numbers as levels of equal shares, as many for each as given."""
    columns = {name: pd.qcut(values[name], levels, labels=False) for name, levels in zip(values, many, strict=True)}
    return pd.DataFrame(columns)


def _coarse(table, edges):
    """The leads of the graph that search finds over coarse readings, if nothing else decides."""
    scores = _scores(table)
    several = SeveralClasses(scores, [()] * table.shape[1], in_classes(scores)[-1].design.prior)
    order = list(range(table.shape[1]))
    return coarse_leads(several.copula(), (order,), 0.0, edges, None, SILENT)


def test_coarse_readings_of_a_chain_decide_no_collider_that_those_of_a_collider_do():
    random = np.random.default_rng(0)
    a, b, c = random.normal(size=(3, 3000))
    chain = {"a": a, "b": 0.9 * a + 0.4 * b}
    chain["c"] = 0.9 * chain["b"] + 0.4 * c
    leads_of_chain = _coarse(_levels(chain, (40, 3, 40)), [(0, 1), (2, 1), (0, 2)])
    assert max(leads_of_chain.values()) < 0  # the graph of three edges explains less than the chain read coarsely
    collider = {"a": a, "b": 0.7 * a + 0.7 * c + 0.4 * b, "c": c}
    assert min(_coarse(_levels(collider, (40, 3, 40)), [(0, 1), (2, 1)]).values()) > 3  # the cost of a third edge


def test_the_exactness_of_levels_is_their_correlation_with_a_normal_variable():
    random = np.random.default_rng(0)
    normal = random.normal(size=(20_000, 2))
    table = pd.DataFrame(
        {"two": (normal[:, 0] > 0.3).astype(int), "ten": np.digitize(normal[:, 1], np.linspace(-2, 2, 9))}
    )
    found = exactness(design_of(table))
    assert found[0, 0] == pytest.approx(np.corrcoef(normal[:, 0], table["two"])[0, 1], abs=0.01)
    assert 0.95 < found[1, 0] < 1
