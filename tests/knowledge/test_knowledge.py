"""Knowledge: its rules over a table, the paths and contradictions in them, and its files."""

import json

import networkx as nx
import numpy as np
import pytest

from disco import InputError
from disco.bitsets import members, rows, sorted_nodes, turned
from disco.knowledge import Knowledge, Resolved
from disco.knowledge.knowledge_files import MOST_BYTES, from_bytes, read, to_tetrad
from disco.knowledge.resolved import closure

NAMES = ["age", "sex", "tf_1", "tf_2", "g", "x[1]"]


def pairs(matrix):
    return {(NAMES[parent], NAMES[child]) for parent, child in np.argwhere(matrix)}


def refused(**rules):
    with pytest.raises(InputError) as caught:
        Knowledge(**rules).resolve(NAMES)
    return str(caught.value)


def test_names_and_patterns_become_pairs_of_columns():
    rules = Knowledge(required=["tf_* → g"], forbidden=[("g", "*"), "x[1] -> age"]).resolve(NAMES)
    assert pairs(rules.required) == pairs(rules.before) == {("tf_1", "g"), ("tf_2", "g")}
    # A column's own name is no pattern, although "x[1]" would fit "x1"; no rule joins a column with itself.
    others = {("g", name) for name in NAMES if name != "g"}
    assert pairs(rules.forbidden) == others | {("x[1]", "age")}


def test_a_later_tier_is_never_before_an_earlier_one_and_a_closed_tier_has_no_edges():
    rules = Knowledge(tiers=[["age", "sex"], ["tf_*"], ["g"]], closed=[1]).resolve(NAMES)
    later = {(child, parent) for parent, child in pairs(rules.before)}
    assert pairs(rules.forbidden) == later | {("age", "sex"), ("sex", "age")} and len(later) == 4 + 2 + 2
    assert rules.of_edge(0, 1) == "forbidden" and rules.of_edge(2, 3) == "free" and rules.of_edge(0, 2) == "fixed"


def test_what_stands_before_follows_paths_through_other_columns():
    rules = Knowledge(tiers=[["age"], ["g"]], required=["g → x[1]", "x[1] → tf_1"]).resolve(NAMES)
    assert {("age", "tf_1"), ("age", "x[1]"), ("g", "tf_1")} <= pairs(rules.before)
    assert ("tf_1", "age") not in pairs(rules.forbidden)  # no order allows the edge, but no rule forbids it


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"required": ["tf_1 → g"], "forbidden": ["tf_* → *"]}, '"tf_1 → g" is required and "tf_* → *" is forbidden, '
         'and both match "tf_1 → g"'),
        ({"required": ["age → sex"], "forbidden": ["age -> sex"]}, '"age → sex" is required and "age → sex" is '
         "forbidden"),
        ({"tiers": [["age", "sex"]], "closed": [1], "required": ["sex → age"]}, '"sex → age" is required, but "sex" '
         'and "age" are in tier 1, which is closed'),
        ({"tiers": [["age"], ["g"]], "required": ["g → tf_1", "tf_1 → age"]}, '"g → tf_1" and "tf_1 → age" are '
         'required, but "g" is in tier 2, after "age" in tier 1'),
        ({"required": ["tf_* → tf_*"]}, '"tf_* → tf_*" is required, which closes the cycle tf_1 → tf_2 → tf_1'),
        # The shorter of two cycles, and the shorter of a cycle and a path through the tiers.
        ({"required": ["age → sex", "sex → g", "g → tf_1", "tf_1 → age", "g → age"]}, '"age → sex", "sex → g" and '
         '"g → age" are required, which closes the cycle age → sex → g → age'),
        ({"tiers": [["sex"], ["age"]], "required": ["age → sex", "sex → g", "g → age"]}, '"age → sex" is required, but '
         '"age" is in tier 2, after "sex" in tier 1'),
    ],
)  # fmt: skip # cases to read one by one
def test_a_contradiction_is_told_with_the_fewest_rules(rules, sentence):
    assert refused(**rules) == f"The knowledge contradicts itself: {sentence}. Remove one of these rules."


def test_a_long_cycle_is_told_in_a_short_sentence():
    names = [f"n{number}" for number in range(100)]
    with pytest.raises(InputError, match="n0 → n1 → n2 → n3 → … → n97 → n98 → n99 → n0") as caught:
        Knowledge(required=list(zip(names, [*names[1:], "n0"], strict=True))).resolve(names)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"tiers": [["agee"]]}, '"agee", which is not a column'),
        ({"forbidden": ["gene_* → g"]}, 'No column of the table matches the pattern "gene_*"'),
        ({"required": ["g → [g]"]}, "joins a column only with itself"),
        ({"tiers": [["tf_1"], ["tf_*"]]}, 'tier 1 by "tf_1" and tier 2 by "tf_*"'),
        ({"tiers": [[]]}, "Tier 1 of the knowledge must be a list"),
        ({"tiers": "ab"}, '"tiers" of the knowledge must be a list'),
        ({"tiers": [["age"]], "closed": [2]}, "a number from 1 to 1; got 2"),
        ({"required": ["age"]}, "\"parent → child\"; got 'age'"),
        ({"required": [["age", 3]]}, "must be a text"),
        ({"forbidden": [["a" * 1001, "g"]]}, "1 to 1,000 characters"),
        ({"forbidden": [["age", "g"]] * 5001}, "10,002 names"),
    ],
)
def test_a_rule_without_meaning_is_refused_in_one_sentence(rules, words):
    assert words in refused(**rules)


def test_orders_that_keep_to_the_rules():
    rules = Knowledge(tiers=[["age"], ["tf_*"]], required=["g → sex"]).resolve(NAMES)
    assert rules.sorted([5, 3, 1, 2, 4, 0]) == [5, 4, 1, 0, 3, 2]
    assert rules.sorted([0, 5, 3, 2, 4, 1]) == [0, 5, 3, 2, 4, 1]  # it kept to them already
    assert rules.may_be_last([0, 1, 4]).tolist() == [True, True, False]
    assert rules.may_be_last([0, 3, 4]).tolist() == [False, True, True]
    assert rules.span([4, 5, 0, 3, 2], 1) == (1, 5) and rules.span([4, 5, 3, 2, 1], 0) == (0, 2)
    part = rules.part([4, 1])
    assert part.before.tolist() == part.required.tolist() == [[False, True], [False, False]]


def test_both_forms_of_a_file_are_read_as_they_were_written(tmp_path):
    given = {"tiers": [["age", "sex"], ["tf_*"]], "required": [["tf_1", "g"]], "forbidden": [["g", "*"]], "closed": [1]}
    knowledge = Knowledge.from_dict(given)
    (tmp_path / "knowledge.json").write_text(json.dumps(knowledge.to_dict()))
    (tmp_path / "knowledge.txt").write_text(to_tetrad(knowledge))
    assert knowledge.to_dict() == given
    assert read(tmp_path / "knowledge.json") == read(tmp_path / "knowledge.txt") == knowledge
    assert Knowledge().to_dict() == {} and str(Knowledge()) == "no rules"
    assert str(knowledge) == "2 tiers, 1 required rule, 1 forbidden rule"


def test_a_file_of_tetrad_with_gaps_and_signs():
    lines = ["/knowledge", "addtemporal", "", "0- age", "3* sex tf_1", "5", "7 g", "", "forbiddirect", ""]
    found = from_bytes("\r\n".join([*lines, "requiredirect", "age sex", ""]).encode(), "k.txt")
    assert found == Knowledge([["age"], ["sex", "tf_1"], ["g"]], ["age → sex"], ["age → g"], [2])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[]", "must hold a JSON object"), (b'{"tier": []}', "got 'tier'"), (b"{", "is not readable JSON"),
        (b"[" * 100_000, "nested too deeply"), (b"/knowledge comma\n", "Line 1 of k is neither a tier"),
        (b"/knowledge\nforbiddengroup\na b ==> c\n", "Line 2 of k is neither a tier"),
        (b" " * (MOST_BYTES + 1), "too much for knowledge"),
    ],
)  # fmt: skip # a table
def test_a_file_that_is_no_knowledge_is_refused(data, words):
    with pytest.raises(InputError, match=words):
        from_bytes(data, "k")


def test_tetrad_cannot_hold_a_space():
    with pytest.raises(InputError, match='cannot hold "a b"'):
        to_tetrad(Knowledge(tiers=[["a b"]]))


@pytest.mark.parametrize("nodes", [0, 1, 7, 8, 9, 40])
@pytest.mark.parametrize("steps", [0.5, 1.5, 8.0])
def test_paths_with_and_without_cycles(nodes, steps):
    direct = np.random.default_rng(nodes).random((nodes, nodes)) < steps / max(nodes, 1)
    for one in (direct, np.triu(direct, 1)):
        graph = nx.from_numpy_array(one, create_using=nx.DiGraph)
        expected = nx.to_numpy_array(nx.transitive_closure(graph), nodelist=range(nodes), dtype=bool) if nodes else one
        assert np.array_equal(closure(one), expected)
        assert [list(members(mask)) for mask in rows(one.T)] == [np.flatnonzero(row).tolist() for row in one.T]
        assert turned(rows(one)) == rows(one.T)
        found, first = sorted_nodes(rows(one)), expected.diagonal()
        assert {*found} == {*range(nodes)} - {*np.flatnonzero(first | expected[first].any(0)).tolist()}
        assert not np.tril(one[np.ix_(found, found)]).any()


def test_an_order_by_rules_is_the_nearest_to_the_given_one():
    """At each place the first node of the given order that need not follow one still to come."""
    random = np.random.default_rng(0)
    for _ in range(50):
        before = closure(np.triu(random.random((9, 9)) < 0.2, 1))
        order = random.permutation(9)[: random.integers(1, 10)].tolist()
        left, expected = list(order), []
        while left:
            expected.append(next(node for node in left if not before[left, node].any()))
            left.remove(expected[-1])
        none = np.zeros_like(before)
        assert Resolved(none, none, before).sorted(order) == expected
