"""What each move of the refined order gained, against enumeration."""

import math

import numpy as np
import pytest
from refine_world import PRICE, all_pairs, chain, design_of

from disco.refine import Choice, refine
from disco.refine.moves import moves, put_back
from disco.refine.node_scores import Scores, resolve
from disco.refine.order_search import search


def disagreements(order, before):
    rank = {node: place for place, node in enumerate(before)}
    return sum(rank[a] > rank[b] for at, a in enumerate(order) for b in order[at + 1 :])


def total(scores, order):
    """The score of an order, computed from scratch."""
    walks = [scores.walk(node, scores.allowed(node, order[:place]), ()) for place, node in enumerate(order)]
    return sum(fitted.score for fitted in resolve([(scores, walk) for walk in walks]))


def test_a_node_goes_back_where_it_agrees_most():
    random = np.random.default_rng(0)
    for _ in range(40):
        order, before = random.permutation(7).tolist(), random.permutation(7).tolist()
        for node in order:
            rest = [other for other in order if other != node]
            every = [[*rest[:place], node, *rest[place:]] for place in range(7)]
            back = put_back(order, before, node)
            assert disagreements(back, before) == min(disagreements(one, before) for one in every)
            if disagreements(order, before) == disagreements(back, before):
                assert back == order


def test_those_that_another_one_passed_stay():
    order, before = [4, 0, 1, 2, 3], [0, 1, 2, 3, 4]
    assert put_back(order, before, 4) == before
    assert put_back(order, before, 0) == [0, 4, 1, 2, 3]  # of two neighbours one cannot tell which moved
    assert all(put_back(order, before, node) == order for node in (1, 2, 3))


@pytest.mark.parametrize("before", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 1, 3]])
def test_the_gain_is_the_difference_of_the_two_orders(before):
    scores = Scores(design_of(chain()), all_pairs(4), odds=PRICE)
    found = resolve([(scores, search(scores, before))])[0]
    table = moves(scores, found.order, found.parents, before)
    assert table["node"].tolist() == found.order and table["after"].tolist() == [1, 2, 3, 4]
    assert [before[place - 1] for place in table["before"]] == found.order
    for row in table.itertuples():
        back = put_back(found.order, before, row.node)
        assert math.isnan(row.gain_nats) == (back == found.order)
        if back != found.order:
            fresh = Scores(design_of(chain()), all_pairs(4), odds=PRICE)
            assert row.gain_nats == pytest.approx(total(fresh, found.order) - total(fresh, back), abs=0.2)
            assert row.gain_nats > -0.01


def test_an_edge_turned_back_costs_much():
    table = chain()
    result = refine(table, Choice(starts=1, restarts=0, bootstrap=0, folds=0), order=["c", "b", "a", "d"])
    assert result.order.index("a") < result.order.index("b") < result.order.index("c")
    gained = result.moves.set_index("node")["gain_nats"]
    assert gained.drop("d").max() > 20 and result.moves["node"].tolist() == result.order


def test_without_an_order_before_there_are_no_moves():
    assert refine(chain(), Choice(starts=1, restarts=0, bootstrap=0, folds=0)).moves is None
