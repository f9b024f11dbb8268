"""No result can break a rule: random tables, random knowledge, tiny searches."""

import json
import tempfile
from pathlib import Path
from unittest.mock import patch

import networkx as nx
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from knowledge_world import World, worlds

from disco.paper import ocs
from disco.paper.ordering import order_of, remove_sinks
from disco.paper.settings import Settings
from disco.refine import Choice, refine
from disco.refine.moves import put_back
from disco.refine.turned import Turned
from disco.selectors import selection

EXAMPLES = 25
kept = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)  # fmt: skip # a table


def ordered(world: World, random: np.random.Generator) -> list[str]:
    """A causal order by random scores."""
    names = list(world.table.columns)
    rules = world.knowledge.resolve(names)
    draw = lambda R: {("ccs", "clipped"): random.random((2, len(R)))}  # noqa: E731
    return [names[node] for node in order_of(list(remove_sinks(draw, len(names), "ccs", "clipped", names, rules)))]


@kept
@given(worlds, st.integers(0, 2**32), st.sampled_from(["iqr", "jackknife"]))
def test_orders_and_edges_by_curvature(world, seed, rule):
    random = np.random.default_rng(seed)
    order, names = ordered(world, random), list(world.table.columns)
    found = {child: random.random((2, place)) for place, child in enumerate(order) if place}
    mean = {child: random.normal(size=values.shape) for child, values in found.items()}
    table = ocs.tidy(found, mean, order, rule)
    table["rule"] = world.knowledge.resolve(names).of_edges(table, names)
    for tau_z in (-9.0, 0.5, 9.0):
        edges = ocs.select(table, tau_z, 1.0)
        assert world.broken(order, zip(edges["parent"], edges["child"], strict=True)) == []
        assert ocs.sensitivity(table, [tau_z])["edges"].tolist()[-1] == len(edges)


@kept
@given(worlds, st.integers(0, 2**32))
def test_parents_by_regressions_and_by_the_likelihood(world, seed):
    order = ordered(world, np.random.default_rng(seed))
    for selector, cuts in (("cam", (0.0, 0.001, 1.0)), ("evidence", (-5.0, 0.0, 50.0))):
        found = selection.candidates(selector, world.table, order, Settings(), knowledge=world.knowledge)
        for cut in cuts:
            again = selection.recut(found, selector, cut)
            edges = again[again["selected"]]
            assert world.broken(order, zip(edges["parent"], edges["child"], strict=True)) == []


@kept
@given(worlds, st.booleans(), st.booleans(), st.integers(0, 100))
def test_refinements(world, redone, has_order, seed):
    """The graph that is reported, every search's, and those on drawn rows."""
    names = list(world.table.columns)
    choice = Choice(starts=2, restarts=3, bootstrap=2, folds=0, seed=seed, redone=redone)
    given_order = np.random.default_rng(seed).permutation(names).tolist() if has_order else None
    # Searches of so small tables agree, and then none is restarted: here all disagree.
    disagree = patch("disco.refine.searches._agree", lambda ends: False)
    with tempfile.TemporaryDirectory() as folder, disagree:
        memory = Path(folder) / "memory.json"
        found = refine(world.table, choice, knowledge=world.knowledge, order=given_order, memory=memory)
        held = json.loads(memory.read_text())
    edges = found.edges
    pairs = list(zip(edges["parent"], edges["child"], strict=True))
    assert world.broken(found.order, pairs) == []
    assert {pair for pair, rule in zip(pairs, edges["rule"], strict=True) if rule == "required"} == world.required
    fixed = edges[edges["rule"] != "free"]  # no direction without an edge, unless that is required
    assert fixed["decided"].tolist() == ((fixed["gain_nats"] >= choice.bound) | (fixed["rule"] == "required")).tolist()
    for graph in (held["first"], *held["starts"]):
        pairs = {(names[parent], names[child]) for child, nodes in enumerate(graph["parents"]) for parent in nodes}
        assert world.broken(graph["order"], pairs) == []
    for drawn in held["drawn"].values():
        pairs = {(names[parent], names[child]) for parent, child in drawn}
        assert world.broken(sorted_by(pairs, world), pairs) == []


@kept
@given(worlds, st.integers(0, 2**32))
def test_orders_that_evidence_and_moves_are_measured_by(world, seed):
    """With an edge turned that may be, and with one node put back where another order has it."""
    random, names = np.random.default_rng(seed), list(world.table.columns)
    rules = world.knowledge.resolve(names)
    order, other = (rules.sorted(random.permutation(len(names))) for _ in range(2))
    along = [(parent, child) for at, parent in enumerate(order) for child in order[at + 1 :]]
    edges = [edge for edge in along if rules.of_edge(*edge) == "required" or random.random() < 0.4]
    orders = Turned(order, nx.DiGraph(edges), rules)
    for parent, child in edges:
        for turned in orders.near((parent, child)):
            assert sorted(turned) == sorted(order) and turned.index(child) < turned.index(parent)
            if not rules.before[parent, child]:
                assert world.broken([names[node] for node in turned], [], is_whole=False) == []
    for node in order:
        assert world.broken([names[one] for one in put_back(order, other, node, rules)], [], is_whole=False) == []


def sorted_by(pairs: set[tuple[str, str]], world: World) -> list[str]:
    """An order along some edges that keeps the tiers apart."""
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from(world.order)
    apart = [(early, late) for early in world.order for late in world.order if 0 < world.tier[early] < world.tier[late]]
    graph.add_edges_from(apart)
    return list(nx.topological_sort(graph))
