"""Groups of nodes as one box: which beginnings of names are offered, and what the edges of a box stand for."""

import math

import networkx as nx

from disco.graph.draw import folding
from disco.graph.draw import picture as drawing


def test_names_that_begin_alike_make_a_group():
    names = ["age_1", "age_2", "age_3", "gene x", "gene y", "gene z", "day1", "day2", "day10", "alone", "x_1", "x_2"]
    assert folding.prefixes(names) == {"age": names[:3], "gene": names[3:6], "day": names[6:9]}
    assert folding.prefixes(["x1", "x2", "x3"]) == {}  # a box of all columns says nothing
    assert folding.prefixes(["", "_", "1", "数_1", "数_2", "数_3"]) == {"数": ["数_1", "数_2", "数_3"]}


def graph() -> nx.DiGraph:
    """a, b and c, d: a → c strong, b — c stronger and of unknown direction, d → a, a → b."""
    made = nx.DiGraph()
    for place, (node, misfit) in enumerate({"a": 0.0, "b": 7.0, "c": 0.0, "d": math.nan}.items(), 1):
        made.add_node(node, position=place, misfit_nats=misfit)
    made.add_edge("a", "c", gain_nats=4.0, decided=1.0)
    made.add_edge("b", "c", gain_nats=9.0, decided=0.0)
    made.add_edge("d", "a", gain_nats=1.0, decided=1.0)
    made.add_edge("a", "b", gain_nats=30.0, decided=1.0)
    return made


def test_an_edge_of_a_box_stands_for_the_strongest_of_known_direction():
    found = folding.folded(graph(), {"ab": ("a", "b")})
    assert list(found) == ["ab", "c", "d"] and found.nodes["ab"][drawing.MEMBERS] == ("a", "b")
    assert dict(found.edges) == {
        ("ab", "c"): {"gain_nats": 4.0, "decided": 1.0, drawing.MERGED: 2},
        ("d", "ab"): {"gain_nats": 1.0, "decided": 1.0},
    }
    assert found.nodes["ab"]["misfit_nats"] == 7.0 and found.nodes["ab"]["position"] == 1


def test_a_box_does_not_hide_that_a_misfit_is_unknown_and_one_node_is_no_box():
    assert math.isnan(folding.folded(graph(), {"all": "abd"}).nodes["all"]["misfit_nats"])
    part = graph()
    part.remove_node("b")
    assert list(folding.folded(part, {"ab": ("a", "b")})) == ["a", "c", "d"]


def test_two_boxes_are_joined_in_both_directions():
    found = folding.folded(graph(), {"ab": "ab", "cd": "cd"})
    assert set(found.edges) == {("ab", "cd"), ("cd", "ab")}
