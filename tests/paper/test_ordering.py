import numpy as np
import pytest

from disco.errors import ScoreUnavailable
from disco.knowledge import Knowledge
from disco.paper.ordering import Leaving, ccs_frame, forced, order_of, remove_sinks

NAMES = ["a", "b", "c", "d"]


def scored(by_node):
    """An evaluation whose CCS is `by_node[fold][node]` and whose constant score is its negative."""
    table = np.asarray(by_node, dtype=float)
    return lambda R: {
        ("ccs", "clipped"): table[:, list(R)],
        ("constant", "clipped"): -table[:, list(R)],
        ("ccs", "admissible"): np.where(table[:, list(R)] > 3, np.nan, table[:, list(R)]),
    }


def test_the_smallest_mean_over_folds_goes_last():
    evaluate = scored([[1.0, 2.0, 9.0, 3.0], [6.0, 2.0, 0.0, 3.0]])
    steps = list(remove_sinks(evaluate, 4, "ccs", "clipped", NAMES))
    assert [step.sink for step in steps] == [1, 3, 0] and order_of(steps) == [2, 0, 3, 1]
    assert [len(step.remaining) for step in steps] == [4, 3, 2]
    assert order_of(list(remove_sinks(evaluate, 4, "constant", "clipped", NAMES)))[-1] == 2


def test_the_scores_belong_to_the_remaining_set():
    seen = []
    base = scored([[1.0, 2.0, 3.0, 4.0]])

    def evaluate(remaining):
        seen.append(remaining)
        return base(remaining)

    list(remove_sinks(evaluate, 4, "ccs", "clipped", NAMES))
    assert seen == [(0, 1, 2, 3), (1, 2, 3), (2, 3)]


def test_an_unavailable_node_stops_the_ordering_and_is_named():
    with pytest.raises(ScoreUnavailable) as caught:
        list(remove_sinks(scored([[1, 1, 1, 1], [1, 2, 5, 1]]), 4, "ccs", "admissible", NAMES))
    assert str(caught.value) == (
        "The CCS of column 'c' is unavailable in held-out fold 2: no repeated level is admissible. "
        "Use the clipped boundary, fewer folds or more rows."
    )


def test_who_has_the_clipped_boundary_is_not_told_to_use_it():
    with pytest.raises(ScoreUnavailable) as caught:
        list(remove_sinks(scored([[1, 1, 1, 1], [1, 2, np.nan, 1]]), 4, "ccs", "clipped", NAMES))
    assert str(caught.value) == (
        "The CCS of column 'c' is unavailable in held-out fold 2: none of its levels repeats there. "
        "Use quantile levels, fewer folds or more rows, or leave the column out."
    )


def test_the_sink_is_one_that_the_knowledge_lets_be_last():
    """Without knowledge b, d, a are removed; b has a required child, and d is in an earlier tier than a."""
    evaluate = scored([[1.0, 2.0, 9.0, 3.0], [6.0, 2.0, 0.0, 3.0]])
    rules = Knowledge(tiers=[["d"], ["a"]], required=["b → c"]).resolve(NAMES)
    steps = list(remove_sinks(evaluate, 4, "ccs", "clipped", NAMES, rules))
    assert [step.sink for step in steps] == [0, 3, 2] and order_of(steps) == [1, 2, 3, 0]
    cost = forced(ccs_frame(steps, NAMES, "ccs", "clipped"))
    assert cost.to_dict("split")["data"] == [[1, "a", 3, "b"], [2, "d", 2, "b"], [3, "c", 2, "b"]]


def test_a_forbidden_edge_does_not_change_the_order():
    evaluate = scored([[1.0, 2.0, 9.0, 3.0], [6.0, 2.0, 0.0, 3.0]])
    rules = Knowledge(forbidden=["* → b"]).resolve(NAMES)
    steps = list(remove_sinks(evaluate, 4, "ccs", "clipped", NAMES, rules))
    assert order_of(steps) == [2, 0, 3, 1] and forced(ccs_frame(steps, NAMES, "ccs", "clipped")).empty


def one_by_one(nodes, scores, remaining):
    """The nodes that leave, each looked up anew."""
    there, left = list(range(nodes)), []
    while len(there) > len(remaining):
        by_node = dict(zip(there, np.nan_to_num(scores(there), nan=np.inf), strict=True))
        left.append(min(set(there) - set(remaining), key=lambda node: (by_node[node], node)))
        there.remove(left[-1])
    return left


def test_nodes_leave_in_the_same_order_whatever_was_asked_before(rng):
    nodes, known = 9, {}

    def scores(there):
        if tuple(there) not in known:
            values = np.round(rng.random(len(there)), 1)  # with ties
            known[tuple(there)] = np.where(rng.random(len(there)) < 0.1, np.nan, values)
        return known[tuple(there)]

    leaving = Leaving(nodes, scores)
    for _ in range(80):
        asked = sorted(rng.choice(nodes, rng.integers(1, nodes + 1), replace=False).tolist())
        for remaining in (asked, asked[1:], asked[:-1]):
            assert leaving.removed_before(remaining) == one_by_one(nodes, scores, remaining)


def test_sets_that_come_one_after_the_other_look_up_only_what_is_new():
    looked_up = []

    def scores(there):
        looked_up.append(len(there))
        return np.arange(len(there), dtype=float)

    leaving = Leaving(30, scores)
    assert [leaving.removed_before(range(step, 30)) for step in range(30)] == [list(range(step)) for step in range(30)]
    assert looked_up == list(range(30, 1, -1))
