"""The next experiment: counts against enumeration on all DAGs of four nodes, choices, rows per arm, bad input."""

from collections import defaultdict
from functools import cache
from itertools import combinations, product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from refine_world import FOUR, dags, refined

from disco.bitsets import rows
from disco.errors import InputError
from disco.knowledge import Knowledge, Resolved
from disco.knowledge.resolved import closure
from disco.metrics.equivalence import equivalence_class
from disco.refine import next_experiment
from disco.refine import orientations as left
from disco.refine.orientations import Directions, KnownDirections
from disco.refine.rows_needed import means, rows_per_arm

ALL = list(combinations(FOUR, 2))


def refined_dag(graph, settled=()):
    order = list(nx.lexicographical_topological_sort(graph))
    return refined(order, {edge: "class" if edge in settled else "" for edge in graph.edges})


def is_separated(graph, one, other, given):
    """d-separation: no path in the moral graph of the ancestors (Lauritzen 1990)."""
    ancestors = {one, other, *given}.union(*(above(graph)[node] for node in (one, other, *given)))
    joined = [edge for edge in graph.edges if edge[1] in ancestors]
    for node in ancestors:
        joined += combinations([parent for parent, child in graph.edges if child == node], 2)
    reached, new = set(given), {one}
    while new:
        reached |= new
        new = {b for pair in joined for a, b in (pair, pair[::-1]) if a in new} - reached
    return other not in reached


@cache
def above(graph):
    return {node: nx.ancestors(graph, node) for node in graph}


@cache
def below(graph):
    return {node: nx.descendants(graph, node) for node in graph}


@cache
def edges_of(graph):
    return frozenset(graph.edges)


def separations(graph, pairs):
    """All separations of pairs of nodes by the others."""
    found = set()
    for one, other in pairs:
        rest = [node for node in FOUR if node not in (one, other)]
        every = (given for size in range(len(rest) + 1) for given in combinations(rest, size))
        found |= {(one, other, given) for given in every if is_separated(graph, one, other, given)}
    return frozenset(found)


@cache
def signatures():
    """Of every DAG: its separations, and for each node those of a switch that sets it (Yang, Katcoff, Uhler 2018)."""
    found = []
    for graph in dags():
        of_node = {}
        for node in FOUR:
            with_switch = nx.DiGraph([*graph.edges, ("switch", node)])
            with_switch.add_nodes_from(FOUR)
            of_node[node] = separations(with_switch, [("switch", other) for other in FOUR if other != node])
        found.append((separations(graph, ALL), of_node))
    return found


def common(graphs):
    """The directions that all graphs have."""
    return frozenset.intersection(*map(edges_of, graphs))


@cache
def classes():
    found = defaultdict(list)
    for graph, (seen, of_node) in zip(dags(), signatures(), strict=True):
        found[seen].append((graph, of_node))
    return list(found.values())


def follows(graph, directions):
    """The edges of a graph that lie along the order of some directions."""
    reached = {node: {node} for node in FOUR}
    for _ in FOUR:
        for parent, child in directions:
            reached[parent] |= reached[child]
    return {(a, b) for a, b in edges_of(graph) if b in reached[a]}


def expected(members, node, settled):
    """Mean number of directions that setting a node adds, of graphs with their signatures, by brute force."""
    known, total, if_hidden = common([graph for graph, _ in members]), 0, 0
    for graph, of_node in members:
        before = follows(graph, settled)
        placed = follows(graph, [*settled, *((node, child) for child in below(graph)[node])]) - before
        after = common([other for other, of_other in members if of_other[node] == of_node[node]])
        total += len((after - known) | placed | {edge for edge in edges_of(graph) if node in edge} - before)
        if_hidden += len(placed)
    return total / len(members), if_hidden / len(members)


def told(refinement, **more):
    found = next_experiment(refinement, **more)
    assert found.is_exact and (found.nodes["settled"] >= found.nodes["settled_if_hidden"] - 1e-12).all()
    return found, found.nodes.set_index("node")[["settled", "settled_if_hidden"]].T.to_dict("list")


def counted(graph, settled):
    """The number of graphs left, without listing them."""
    names = list(graph)
    none, before = np.zeros((2, 4, 4), dtype=bool)
    for parent, child in settled:
        before[names.index(parent), names.index(child)] = True
    known = KnownDirections.of(Resolved(before.T, none, closure(before)))
    alike = left.Class(rows(nx.to_numpy_array(graph, dtype=bool)), known)
    return np.prod([component.count for component in alike.components])


@pytest.mark.parametrize("kind", ["compelled", "none", "random"])
def test_what_a_node_settles_is_that_of_enumeration(kind):
    """On every class of DAGs with four nodes: with the directions that the class gives, without any, and with some."""
    random = np.random.default_rng(0)
    assert len(dags()) == 543 and len(classes()) == 185
    for members in classes():
        graph = members[random.integers(len(members))][0]
        settled = set(common([one for one, _ in members])) if kind == "compelled" else set()
        if kind == "random":
            settled = {edge for edge in sorted(graph.edges) if random.random() < 0.3}
        agreeing = [one for one in members if settled <= set(one[0].edges)]
        found, by_node = told(refined_dag(graph, settled))
        assert found.open == graph.number_of_edges() - len(follows(graph, settled))
        assert found.graphs == len(agreeing) == counted(graph, settled)
        for node in FOUR:
            np.testing.assert_allclose(by_node.get(node, [0, 0]), expected(agreeing, node, settled), atol=1e-9)


def test_pairs_add_up_to_what_their_node_settles():
    found, by_node = told(refined("abc", {("a", "b"): "", ("b", "c"): ""}))
    assert found.open == 2 and found.graphs == 3
    assert by_node["b"][0] == 2.0 and found.nodes["node"][0] == "b"  # both ends of it are seen
    sums = found.pairs.groupby("node")[["settled", "settled_if_hidden"]].sum()
    pd.testing.assert_frame_equal(sums, found.nodes.set_index("node")[list(sums)].sort_index())
    assert by_node["b"][1] == pytest.approx((1 + 1 + 2) / 3)  # a → b → c, a ← b ← c, a ← b → c


def test_tiers_restrict_the_graphs_and_are_not_asked_again():
    chain = {("a", "b"): "", ("b", "c"): "", ("c", "d"): ""}
    found, _ = told(refined("abcd", chain))
    assert found.graphs == 4
    tiers = Knowledge(tiers=[["a"], ["d"]])  # a before d, which are not adjacent: d may not lead to a
    found, _ = told(refined("abcd", chain), knowledge=tiers)
    assert found.graphs == 3
    found, by_node = told(refined("ab", {("a", "b"): ""}), knowledge=Knowledge(forbidden=["b → a"]))
    assert found.graphs == 1 and by_node == {"a": [1.0, 1.0]}  # that b leaves a alone would be nothing new


def test_a_search_that_ended_near_the_best_adds_its_class():
    edges, orders = {("a", "c"): "", ("b", "c"): ""}, [("one", "abc"), ("two", "cab"), ("far", "bca")]
    starts = pd.DataFrame({"start": ["one", "two", "far"], "sweep": 1, "score": [0.0, -3.0, -30.0]})
    rows = [(start, at, node) for start, order in orders for at, node in enumerate(order, start=1)]
    found, by_node = told(refined("abc", edges, pd.DataFrame(rows, columns=["start", "position", "node"]), starts))
    assert found.graphs == 1 + 3
    weight = np.exp(-3.0)
    assert by_node["c"] == pytest.approx([2.0, (0 + weight * (2 + 1 + 1) / 3) / (1 + weight)])


def test_a_bootstrap_table_adds_the_class_of_its_graph():
    """Found is c → a with no other edge of c; of three tables, one is like it, one empty, one has a → c ← b."""
    rows = [(1, "c", "a"), (3, "a", "c"), (3, "b", "c")]
    tables = pd.DataFrame(rows, columns=["table", "parent", "child"])
    found, by_node = told(refined("cab", {("c", "a"): ""}, tables=tables, bootstrap=3))
    assert found.graphs == 2 + 1 + 1 and found.open == 1
    # Setting a or c settles the edge where it is, in three of four, since what is left alone must be a parent there.
    assert by_node["a"] == pytest.approx([3 / 4, (2 * 1 / 2 + 1) / 4])
    assert by_node["c"] == pytest.approx([3 / 4, (2 * 1 / 2 + 0) / 4])
    assert "b" not in by_node or by_node["b"][0] == 0


def test_a_known_direction_turns_the_edge_of_a_bootstrap_table_or_leaves_its_graph_out():
    edges = {("a", "b"): "experiment", ("b", "c"): ""}
    rows = [(1, "b", "a"), (1, "c", "b"), (2, "b", "c"), (2, "c", "a")]
    tables = pd.DataFrame(rows, columns=["table", "parent", "child"])
    found, by_node = told(refined("abc", edges, tables=tables, bootstrap=2))
    assert found.open == 1  # the first table has a → b ← c instead, the second a cycle with a → b
    assert found.graphs == 2 and set(by_node) == {"b", "c"}


def random_dag(random, many, edges):
    order, graph = random.permutation(many), nx.DiGraph()
    graph.add_nodes_from(range(many))
    pairs = list(combinations(order.tolist(), 2))
    graph.add_edges_from(pairs[at] for at in random.choice(len(pairs), edges, replace=False))
    return nx.relabel_nodes(graph, {node: f"x{node}" for node in graph})


def experiments(truth, choose):
    """How many experiments without hidden causes settle a graph, its compelled directions given.

    Args:
        choose: gives the next node to set, from the number of experiments so far and the settled directions.
    """
    settled = {mark for mark in equivalence_class(list(truth.edges)).values() if mark is not None}
    matrix, names, count = nx.to_numpy_array(truth, dtype=bool), list(truth), 0
    while len(settled) < truth.number_of_edges():
        node, count = choose(count, settled), count + 1
        settled |= {edge for edge in truth.edges if node in edge}
        numbers = [(names.index(parent), names.index(child)) for parent, child in settled]
        told = Directions(rows(matrix | matrix.T), numbers)
        found = np.argwhere([[mask >> other & 1 for other in range(len(names))] for mask in told.children])
        settled = {(names[a], names[b]) for a, b in found}
    return count


def best_node(truth, settled):
    return next_experiment(refined_dag(truth, settled)).nodes["node"][0]


def test_its_choices_settle_a_graph_in_no_more_experiments_than_the_best_of_random_orders():
    random, own, best = np.random.default_rng(1), [], []
    for _ in range(20):
        truth = random_dag(random, 9, 11)
        own.append(experiments(truth, lambda _, settled, of=truth: best_node(of, settled)))
        orders = [random.permutation(list(truth)) for _ in range(20)]
        best.append(min(experiments(truth, lambda count, _, order=order: order[count]) for order in orders))
    assert np.mean(own) > 1 and np.mean(own) <= np.mean(best)


def class_of(graph):
    none = np.zeros_like(graph)
    return left.Class(rows(graph), KnownDirections.of(Resolved(none, none, none)))


def as_sets(graphs):
    return {tuple(children) for children in graphs}


def test_graphs_are_drawn_with_equal_chances_if_there_are_too_many():
    """A tree of six nodes has six orientations without a collider, one per source."""
    tree = np.zeros((6, 6), dtype=bool)
    tree[[0, 0, 1, 1, 2], [1, 2, 3, 4, 5]] = True
    listed, is_all = class_of(tree).graphs(0, 400)
    assert is_all and len(listed) == len(as_sets(listed)) == 6
    random, (component,) = np.random.default_rng(0), class_of(tree).components
    drawn = pd.Series([str(sorted(component.drawn(component.nodes, random))) for _ in range(6000)]).value_counts()
    assert len(drawn) == 6 and abs(drawn - 1000).max() < 120
    again, is_all = class_of(tree).graphs(0, 5)
    assert not is_all and len(again) == 5 and as_sets(again) <= as_sets(listed)


def test_a_component_too_large_to_count_is_drawn_from():
    dense = class_of(np.triu(np.ones((14, 14), dtype=bool), 1))
    assert dense.components[0].count == 0
    graphs, is_all = dense.graphs(3, 20)
    assert not is_all and len(graphs) == 20
    assert all(sum(mask.bit_count() for mask in children) == 14 * 13 // 2 for children in graphs)
    assert graphs == class_of(np.triu(np.ones((14, 14), dtype=bool), 1)).graphs(3, 20)[0]


def test_a_chordal_graph_is_counted_as_its_orientations_are():
    """Random chordal graphs of seven nodes: every orientation once, acyclic, and without a collider."""
    random = np.random.default_rng(0)
    for _ in range(20):
        graph = np.zeros((7, 7), dtype=bool)
        for child in range(1, 7):  # its parents are joined, so that nothing is a collider
            one = random.integers(child)
            among = [one, *np.flatnonzero(graph[:, one])]
            graph[random.permutation(among)[: random.integers(1, 4)], child] = True
            graph[one, child] = True
        alike = class_of(graph)
        pairs = np.argwhere(graph)
        free = 0
        for ways in product((1, -1), repeat=len(pairs)):
            turned = np.zeros_like(graph)
            for pair, way in zip(pairs, ways, strict=True):
                turned[tuple(pair[::way])] = True
            acyclic = not np.linalg.matrix_power(turned.astype(int), 7).any()
            free += acyclic and not left._colliders(rows(turned | turned.T), rows(turned.T))
        assert free == np.prod([component.count for component in alike.components])


def test_nothing_open_gives_an_empty_answer():
    for sources in ({}, {("a", "b"): "class"}):
        found = next_experiment(refined("ab", sources))
        assert found.open == 0 and found.nodes.empty and found.pairs.empty
        assert found.nodes.columns[0] == "node" and found.pairs.columns[0] == "node"


def test_rows_per_arm_are_those_of_the_formula():
    """Poisson means of 2 and 3: (1.95996 + .84162)² (1/2 + 1/3) / log(1.5)² = 39.8, and by simulation power .8."""
    assert rows_per_arm(2.0, 3.0, 0.0) == 40
    assert rows_per_arm(2.0, 3.0, 0.5) == 88
    assert rows_per_arm(2.0, 2.0, 0.5) == np.inf
    random = np.random.default_rng(0)
    counts = [random.negative_binomial(2, 2 / (2 + mean), (20_000, 88)).mean(1) for mean in (2.0, 3.0)]
    spread = np.sqrt(sum(1 / each + 0.5 for each in counts) / 88)
    power = (np.abs(np.log(counts[1] / counts[0])) > 1.96 * spread).mean()
    assert power == pytest.approx(0.8, abs=0.02)


def test_the_predicted_means_are_at_the_quantiles():
    curve = pd.DataFrame({"count": range(4), "rows": [5, 45, 44, 6], "mean": [1.0, 2.0, 3.0, 4.0]})
    assert means(curve) == ((2.0, 1.0), (2.0, 4.0))


def test_rows_are_predicted_from_the_table(rng):
    a = rng.poisson(4.0, 800)
    b = rng.poisson(1.0 + a)
    table = pd.DataFrame({"a": a, "b": b, "c": rng.poisson(1.0 + 0.02 * b)})
    found = next_experiment(refined("abc", {("a", "b"): "", ("b", "c"): ""}), table)
    rows = found.pairs.set_index(["node", "parent", "child"])["rows"]
    assert 3 < rows["a", "a", "b"] < 40  # a mean of 5 against one of about 2 or 9
    assert rows["b", "b", "c"] > 10 * rows["a", "a", "b"]
    assert np.isnan(rows["a", "b", "c"])
    row = found.nodes.set_index("node").loc["b"]
    assert row["fewest_rows"] <= row["rows"] <= row["most_rows"]


def test_a_node_already_set_without_effect_is_not_asked_again(rng):
    """Setting b left a alone: b → a is excluded, and setting b again settles nothing. Setting a does."""
    rows = 3000
    arm = np.repeat(["", "b"], [rows, 400])
    a = rng.poisson(100.0, len(arm))
    b = np.where(arm == "b", rng.poisson(3.0, len(arm)), rng.poisson(a / 2))
    table = pd.DataFrame({"a": a, "b": b, "arm": arm})
    found, by_node = told(refined("ab", {("a", "b"): ""}), table=table, roles={"arm": "intervention"}, with_rows=False)
    assert found.graphs == 1 and by_node == {"a": [1.0, 1.0]}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"nodes": ["z"]}, 'no node "z"'),
        ({"table": pd.DataFrame({"a": [1, 2] * 9, "c": [2, 3] * 9})}, "Only one of the table and the refinement"),
        ({"knowledge": Knowledge(required=["b → a"])}, "contradicts the knowledge"),
        ({"knowledge": Knowledge(forbidden=["a → b"])}, "contradicts the knowledge"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(more, words):
    with pytest.raises(InputError, match=words):
        next_experiment(refined("ab", {("a", "b"): "class"}), **more)


def test_only_some_nodes_can_be_set():
    found = next_experiment(refined("abc", {("a", "b"): "", ("b", "c"): ""}), nodes=["a", "c"])
    assert set(found.nodes["node"]) == {"a", "c"}
