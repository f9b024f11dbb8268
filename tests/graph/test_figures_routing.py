"""Edges run around the boxes that they do not join, and no two boxes overlap."""

import itertools
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from disco.graph.draw import placing, routing
from disco.graph.draw.placing import HEIGHT, node_width
from disco.graph.draw.routing import passes, routes

DATASETS = Path(__file__).resolve().parents[2] / "datasets"


def random_dag(nodes: int, per_node: float, seed: int) -> tuple[list[str], list[tuple[str, str]], pd.DataFrame]:
    """Names, some of them long; random edges along their order; candidates of which the edges score high."""
    rng = np.random.default_rng(seed)
    names = [f"{'ENSG0000' * int(rng.integers(0, 3))}gene_{k}" if seed % 3 == 0 else f"x{k}" for k in range(nodes)]
    pairs = list(itertools.combinations(names, 2))
    is_edge = np.zeros(len(pairs), dtype=bool)
    is_edge[rng.choice(len(pairs), min(len(pairs), round(per_node * nodes)), replace=False)] = True
    z = np.where(is_edge, rng.uniform(2, 6, len(pairs)), rng.normal(0, 1, len(pairs)))
    candidates = pd.DataFrame(pairs, columns=["parent", "child"]).assign(z=z)
    return names, [pair for pair, edge in zip(pairs, is_edge, strict=True) if edge], candidates


def overlaps(places: placing.Positions) -> list[tuple[str, str]]:
    """Pairs of nodes whose boxes overlap."""
    return [
        (one, other)
        for one, other in itertools.combinations(places, 2)
        if abs(places[one][0] - places[other][0]) < (node_width(one) + node_width(other)) / 2
        and abs(places[one][1] - places[other][1]) < HEIGHT
    ]


@pytest.mark.parametrize("seed", range(50))
def test_no_edge_of_a_random_dag_runs_behind_a_foreign_box(seed):
    names, edges, candidates = random_dag(10 + seed, 1 + 2 * (seed * 7 % 50) / 50, seed)
    places = placing.positions(names, candidates)
    assert passes(places, routes(places, edges)) == [] == overlaps(places)


def test_no_edge_of_the_samples_runs_behind_a_foreign_box():
    truth = pd.read_csv(DATASETS / "poisson20_truth.csv")
    order = list(nx.topological_sort(nx.DiGraph(list(zip(truth["parent"], truth["child"], strict=True)))))
    rodents = pd.read_parquet(DATASETS / "portal.parquet").select_dtypes("number")
    alike = rodents.corr("spearman").abs()
    pairs = [(one, other) for one, other in itertools.combinations(rodents, 2) if alike.loc[one, other] > 0.3]
    near = pd.DataFrame(pairs, columns=["parent", "child"])
    for names, edges in ((order, truth[["parent", "child"]]), (list(rodents), near)):
        places = placing.positions(names, edges.assign(z=4.0))
        for shown in (edges.itertuples(index=False, name=None), itertools.combinations(names, 2)):
            assert passes(places, routes(places, shown)) == [] == overlaps(places)


def test_nodes_without_a_candidate_are_placed():
    assert set(placing.positions(list("abc"), pd.DataFrame(columns=["parent", "child", "z"]))) == set("abc")


def test_crossings_are_counted_only_where_a_whole_graph_can_be_drawn(monkeypatch):
    counted = []
    monkeypatch.setattr(placing._Rows, "uncross", lambda lines: counted.append(len(lines.x)))
    for nodes in (placing.MOST_UNCROSSED, placing.MOST_UNCROSSED + 1):
        names, _, candidates = random_dag(nodes, 1, 0)
        assert overlaps(placing.positions(names, candidates)) == []
    assert counted == [placing.MOST_UNCROSSED] * placing.SWAPS


def test_a_straight_line_behind_a_box_is_found():
    places = {"a": (0.0, 0.0), "b": (0.0, 100.0), "c": (0.0, 200.0)}
    straight = {("a", "c"): routing.Route(((0.0, 16.0), (0.0, 184.0))), ("a", "b"): routing.Route(((0, 16), (0, 84)))}
    assert passes(places, straight) == [(("a", "c"), "b")]
    around = routes(places, straight)
    assert passes(places, around) == [] and len(around["a", "c"].points) > 2 == len(around["a", "b"].points)


def test_nodes_dragged_anywhere_are_run_around_and_edges_may_point_up():
    rng = np.random.default_rng(3)
    for _ in range(10):
        names, edges, candidates = random_dag(25, 2, 4)
        places = placing.positions(names, candidates)
        for node in rng.choice(names, 6, replace=False):
            free = {other: place for other, place in places.items() if other != node}
            while overlaps({**free, node: (place := (float(rng.integers(-900, 900)), float(rng.integers(-600, 900))))}):
                pass
            places = {**places, node: place}
        assert passes(places, routes(places, [pair[::-1] for pair in edges] + edges)) == []


def test_edges_in_both_directions_are_two_lines():
    places = {"a": (0.0, 0.0), "b": (0.0, 100.0), "c": (0.0, 200.0)}
    for there, back in ((("a", "b"), ("b", "a")), (("a", "c"), ("c", "a"))):
        ways = routes(places, [there, back])
        gap = np.abs(ways[there].line()[:, None] - ways[back].line()[None]).sum(axis=2)
        assert gap[len(gap) // 2].min() > 4


def test_a_way_does_not_depend_on_which_other_edges_are_kept_unless_they_turn_at_one_corner():
    names, edges, candidates = random_dag(30, 1.2, 5)
    places = placing.positions(names, candidates)
    every = routes(places, edges)
    alone = {pair: routes(places, [pair])[pair] for pair in edges}
    assert all(len(every[pair].points) == len(alone[pair].points) for pair in edges)
    gap = max(np.abs(np.array(every[pair].points) - np.array(alone[pair].points)).max() for pair in edges)
    assert gap <= routing.LANE * routing.LANES + 3  # and where a shifted turn moves the end along the box


def test_edges_reach_a_box_apart_from_each_other_and_in_the_order_in_which_they_come():
    places = {"a": (-40.0, 0.0), "b": (0.0, -60.0), "c": (40.0, 0.0), "d": (0.0, 400.0), "e": (700.0, 420.0)}
    ways = routes(places, [(node, "d") for node in "cab"] + [("d", "e")])
    tips = [ways[node, "d"].points[-1] for node in "abc"]
    assert {y for _, y in tips} == {400 - HEIGHT / 2 - 1}
    assert all(other[0] - one[0] >= routing.APART - 0.1 for one, other in itertools.pairwise(tips))
    assert abs(tips[0][0] + tips[2][0]) < 1 and all(abs(x) <= 22 for x, _ in tips)
    many = {f"x{k}": (float(70 * k), 0.0) for k in range(12)} | {"d": (400.0, 300.0)}
    tips = [way.points[-1][0] for way in routes(many, [(node, "d") for node in many if node != "d"]).values()]
    assert tips == sorted(tips) and min(tips) >= 378 and max(tips) <= 422


def test_boxes_on_one_another_do_no_harm():
    places = dict.fromkeys("abc", (5.0, 5.0))
    assert set(routes(places, [("a", "b"), ("b", "c")])) == {("a", "b"), ("b", "c")}
    assert routes({}, []) == {} and placing.positions([], pd.DataFrame(columns=["parent", "child", "z"])) == {}


def test_the_drawn_path_is_the_line_that_is_held_against_the_boxes():
    way = routing.Route(((0.0, 0.0), (100.0, 0.0), (100.0, 100.0)), (0.5,))
    assert way.path() == "M0.0 0.0L50.0 0.0Q100.0 0.0 100.0 50.0L100.0 100.0"
    assert way.path(back=20) == "M0.0 0.0L50.0 0.0Q100.0 0.0 100.0 50.0L100.0 80.0"
    line = way.line()
    middle = line[1 + routing.SMOOTH // 2]
    assert middle == pytest.approx((87.5, 12.5))  # of the quadratic curve, at its half
    assert tuple(line[0]) == (0, 0) and tuple(line[-1]) == (100, 100)


def test_long_names_are_cut_in_the_middle_and_wide_letters_have_room():
    assert placing.short("ENSG00000000001234567") == "ENSG000000…1234567"
    assert placing.short("weekday visits of site 12") == "weekday vi…site 12"
    assert placing.short("ENSG00000000001234568") != placing.short("ENSG00000000001234567")
    assert placing.short("a" * 18) == "a" * 18 and placing.short(" \n") == "(empty)"
    assert node_width("数数数数数数") > node_width("llllll") and node_width("a") == 44


def test_nodes_that_are_nearly_all_tied_fill_the_width_in_place_of_one_tall_column():
    names = [f"pixel_{k // 8}_{k % 8}" for k in range(58)]
    every = pd.DataFrame(itertools.combinations(names, 2), columns=["parent", "child"]).assign(z=9.0)
    places = placing.positions(names, every)
    across, down = (np.ptp([place[axis] for place in places.values()]) for axis in (0, 1))
    assert across > 0.7 * down and not overlaps(places)
    assert len({x for x, _ in places.values()}) > 4


def test_a_graph_that_has_half_of_the_page_is_higher_than_wide():
    names = [f"pixel_{k}" for k in range(9)]
    chain = pd.DataFrame({"parent": names[:-1], "child": names[1:], "z": 1.0})
    shapes = []
    for shape in (None, 0.9):
        places = placing.positions(names, chain, shape)
        assert not overlaps(places)
        shapes.append(np.divide(*(np.ptp([place[axis] for place in places.values()]) for axis in (0, 1))))
    assert shapes[1] < 1.2 < shapes[0]
