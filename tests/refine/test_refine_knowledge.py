"""What knowledge does to a search, step by step; `tests/knowledge` has the property that no result breaks a rule."""

from types import SimpleNamespace

import pytest
from refine_world import ALONE, PRICE, QUICK, all_pairs, chain, design_of, searched

from disco.knowledge import Knowledge
from disco.refine import again, refine
from disco.refine.node_scores import Scores
from disco.refine.order_search import _State
from disco.refine.resume import key_of
from disco.refine.screen import screen, widened

NAMES = ["a", "b", "c", "d"]


def scores_of(rules: Knowledge, unlinked="") -> Scores:
    """Scores of a → b → c and d alone under rules, with no pair of a name in `unlinked`."""
    design = design_of(chain()[NAMES])
    apart = {NAMES.index(name) for name in unlinked}
    pairs = [tuple(other for other in others if not apart & {node, other}) for node, others in enumerate(all_pairs(4))]
    return Scores(design, pairs, odds=PRICE, rules=rules.resolve(NAMES))


def test_a_node_moves_to_behind_a_node_that_it_is_not_linked_to():
    found = searched(scores_of(Knowledge(tiers=[["d"], ["b"]]), unlinked="d"), [0, 3, 2, 1])
    assert found.order == [0, 3, 1, 2] and found.parents == [(), (0,), (1,), ()]


def test_an_edge_is_turned_together_with_all_that_has_to_stand_before():
    """a → c is turned in a, d, b, c: b moves with its child c, and d with b; no order turns an edge that is fixed."""
    state = _State(scores_of(Knowledge(tiers=[["d"], ["b"]])), [0, 3, 1, 2])
    state.fitted = [SimpleNamespace(parents=parents) for parents in ((), (), (0, 1), ())]
    block, changed, _ = state.tuck((0, 2))
    assert block == [3, 1, 2] and set(changed) == {0, 1, 2, 3}
    fixed = _State(scores_of(Knowledge(tiers=[["a"], ["d"], ["b"]])), [0, 3, 1, 2])
    fixed.fitted = state.fitted
    assert fixed.tuck((0, 2)) is None  # a stands before d, d before b, and b is a parent of c


def test_required_edges_stay_and_forbidden_ones_are_never_tried():
    table, rules = chain(), Knowledge(required=["d → c", "c → b"], forbidden=["a → c"])
    free = refine(table, ALONE)
    found = refine(table, ALONE, knowledge=rules)
    pairs = dict(zip(zip(found.edges["parent"], found.edges["child"], strict=True), found.edges["rule"], strict=True))
    assert pairs["d", "c"] == pairs["c", "b"] == "required" and ("a", "c") not in pairs
    rows = found.edges.set_index(["parent", "child"])
    assert rows.loc[("d", "c"), "gain_nats"] < 0 and rows.loc[("d", "c"), "decided"]
    assert rows.loc[("c", "b"), "direction_nats"] < -10  # the rows are for b → c
    assert found.score < free.score - 10 and "rule" not in free.edges


def test_true_knowledge_changes_no_edge():
    table = chain()
    free = refine(table, QUICK)
    found = refine(table, QUICK, knowledge=Knowledge(tiers=[["a"], ["b"], ["c"]], required=["a → b"]))
    pairs = [set(zip(one.edges["parent"], one.edges["child"], strict=True)) for one in (free, found)]
    assert pairs[0] == pairs[1] == {("a", "b"), ("b", "c")}
    rules = found.edges.set_index(["parent", "child"])["rule"].to_dict()
    assert rules == {("a", "b"): "required", ("b", "c"): "fixed"} and found.score == pytest.approx(free.score, abs=0.5)


def test_the_screen_keeps_required_pairs_and_leaves_out_those_that_nothing_may_join():
    design = design_of(chain()[NAMES])
    rules = Knowledge(required=["a → d"], forbidden=["a → b", "b → a", "c → b"]).resolve(NAMES)
    found = screen(design, rules=rules)
    assert 3 in found[0] and 0 in found[3] and 1 not in found[0] and 0 not in found[1]
    assert 1 in found[2] and 2 in found[1]  # the other direction is allowed
    none = Scores(design, [()] * 4, odds=PRICE, rules=rules)
    assert not widened(none, [2, 1, 0, 3], [()] * 4)[1]  # it would be c → b
    assert widened(none.replace(rules=None), [2, 1, 0, 3], [()] * 4)[1]


def test_searches_under_other_knowledge_are_not_continued():
    asked = (design_of(chain()).ranks, QUICK, None, [])
    keys = {key_of(*asked), *(key_of(*asked, knowledge=one) for one in (Knowledge(), Knowledge(required=["a → b"])))}
    assert len(keys) == 3


def test_a_rule_against_the_rows_costs_what_the_graph_gains_without_it():
    """b → c and a → b are in the rows, and d is alone."""
    known = Knowledge(tiers=[["a"], ["d"]], required=["c → b", "d → c"], forbidden=["d → a"])
    found = again.costs(chain(), known).set_index("rule")
    assert list(found.index[:2]) == ["required c → b", "required d → c"]
    assert found.loc["required c → b", "nats"] > 20 and found.loc["required c → b", "edges"] >= 1
    assert 1 < found.loc["required d → c", "nats"] < 20
    assert found.loc[["2 tiers", "forbidden d → a"], "nats"].max() < 0.5
    assert again.costs_in_words(found, 10.0).startswith("1 rule costs more than 10 nats")
    assert again.costs_in_words(found.iloc[2:], 10.0).startswith("No rule costs")
