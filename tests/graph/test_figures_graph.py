"""The graph as pictures: fixed places, names that stay data, no request to any network."""

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import networkx as nx
import pandas as pd
import pytest
from made_up import HOSTILE, candidates

from disco.graph import dag as graphs
from disco.graph.draw import colours, placing
from disco.graph.draw import picture as drawing
from disco.graph.draw.folding import folded
from disco.graph.draw.lines import TIES
from disco.graph.draw.notebook import vis
from disco.paper.ocs import frequencies, select
from disco.simulate import Design, identifiable, simulate
from disco.subjects.simulation import figures as simulated

ORDER = [f"x{k}" for k in range(30)]
SVG = "{http://www.w3.org/2000/svg}"


def made(order: list[str], tau_z: float = 1.0):
    ocs = candidates(order)
    return graphs.build(order, select(ocs, tau_z, 1.0)), placing.positions(order, frequencies(ocs, 1.0))


@pytest.mark.parametrize("nodes", [2, 3, 17, 200])
def test_every_possible_edge_points_down_and_no_two_nodes_share_a_place(nodes):
    order = [f"x{k}" for k in range(nodes)]
    places = placing.positions(order, frequencies(candidates(order), 1.0))
    heights = [places[node][1] for node in order]
    assert all(first < second for first, second in zip(heights, heights[1:], strict=False))
    assert len(set(places.values())) == nodes


def test_places_do_not_depend_on_the_threshold():
    assert made(ORDER, 0.5)[1] == made(ORDER, 3.0)[1]


def test_width_follows_the_ocs_and_dash_the_folds():
    graph, _ = made(ORDER)
    drawn = drawing.edges(graph)
    assert drawn[-1].width == pytest.approx(drawing.THICK)
    assert [edge.width for edge in drawn] == sorted(edge.width for edge in drawn)
    graph.edges[drawn[0].parent, drawn[0].child]["frequency"] = 2 / 3
    assert not drawing.edges(graph)[0].is_firm


def test_the_neighbourhood_keeps_the_order():
    graph = graphs.build(list("abcde"), select(candidates(list("abcde")), 0.0, 1 / 3))
    chain = graphs.build(list("abcde"), graphs.edges(graph).iloc[:0])
    chain.add_edges_from([("a", "b"), ("b", "c"), ("c", "d")])
    assert list(drawing.around(chain, "b", 1)) == ["a", "b", "c"]
    assert list(drawing.around(chain, "a", 2)) == ["a", "b", "c"] and list(drawing.around(chain, "e", 2)) == ["e"]
    assert list(chain) == list("abcde")


def test_svg_is_wellformed_with_all_nodes_and_edges_and_no_markup_of_names():
    graph, places = made(HOSTILE)
    text = drawing.svg(graph, places, title="<b>run</b> & co")
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f".//{space}polygon")) == graph.number_of_edges()
    assert not root.findall(f".//{space}script") and "<b>" not in text and "<script>alert(1)" not in text
    assert not [name for element in root.iter() for name in element.attrib if name.endswith(("href", "src"))]
    titles = [element.text for element in root.iter(f"{space}title")]
    assert any("<script>alert(1)</script>" in title for title in titles)


def test_a_long_title_is_wrapped_inside_the_picture():
    graph, places = made(ORDER)
    title = "A run of a long name: likelihood refinement and DISCO, CCS, clipped, edges by the jackknife"
    drawn = {}
    for words in ("short", title):
        root = ElementTree.fromstring(drawing.svg(graph, places, title=words))
        lines = [element for element in root if element.tag.endswith("text") and element.get("font-size") == "17"]
        drawn[words] = (root, lines)
        left, top, width, _ = map(float, root.get("viewBox").split())
        assert all(32 + 9 * len(line.text) <= width and float(line.get("y")) >= top + 20 for line in lines)
    assert " ".join(line.text for line in drawn[title][1]) == title and len(drawn[title][1]) > 1
    heights = [float(drawn[words][0].get("height")) for words in (title, "short")]
    assert heights[0] - heights[1] == 22 * (len(drawn[title][1]) - 1)


def test_svg_survives_letters_that_xml_forbids():
    graph = graphs.build(["a\x00b", "c"], select(candidates(["a\x00b", "c"]), 0.0, 1.0))
    ElementTree.fromstring(drawing.svg(graph, {"a\x00b": (0, 0), "c": (0, 100)}))


def test_a_graph_without_edges_is_drawn():
    graph, places = made(["a", "b"], tau_z=99.0)
    assert graph.number_of_edges() == 0 and "<polygon" not in drawing.svg(graph, places)


def test_a_node_that_is_not_of_the_models_kind_has_another_outline_and_says_so():
    edges = pd.DataFrame({"parent": ["a"], "child": ["b"], "gain_nats": [9.0], "direction_nats": [7.0]})
    nodes = pd.DataFrame({"node": ["a", "b", "c"], "misfit_nats": [44.0, 2.9, float("nan")]})
    nodes["is_poor"] = [True, False, True]
    places = {"a": (0.0, 0.0), "b": (0.0, 100.0), "c": (0.0, 200.0)}
    graph = graphs.build([*places], edges, nodes)
    assert [drawing.is_missed(graph, node) for node in graph] == [True, False, True]
    text = drawing.svg(graph, places)
    outlines = re.findall(r'<title>(.*?)</title><rect [^>]*rx="7"[^>]*>', text)
    dashed = re.findall(r'<rect [^>]*rx="7"[^>]*stroke-dasharray="5 4"', text)
    assert len(outlines) == 3 and len(dashed) == 2
    assert "misfit 44.0 nats" in outlines[0] and "hypotheses" in outlines[0] and "misfit not available" in outlines[2]
    assert ">the model does not fit this node: its arrows are hypotheses</text>" in text
    good = graphs.build([*places], edges)
    assert "does not fit" not in drawing.svg(good, places) and "dasharray" not in drawing.svg(good, places)


def union() -> tuple[nx.DiGraph, dict[str, tuple[float, float]]]:
    """A graph of both methods, with an edge that points up and so a cycle."""
    graph = graphs.build([*"abc"], pd.DataFrame(columns=["parent", "child"]))
    graph.add_edge("a", "b", found_by="both", gain_nats=25.0, direction_nats=9.0, decided=1.0, ocs=0.3, z=4.0)
    graph.add_edge("b", "c", found_by="likelihood", gain_nats=9.0, direction_nats=1.0, decided=0.0)
    graph.add_edge("c", "a", found_by="DISCO", ocs=0.2, z=3.0, frequency=2 / 3, gain_nats=float("nan"))
    return graph, {"a": (0.0, 0.0), "b": (0.0, 100.0), "c": (0.0, 200.0)}


def test_colour_and_dash_say_who_found_an_edge_and_a_missing_head_that_its_direction_is_not_known():
    graph, places = union()
    drawn = {edge.found_by: edge for edge in drawing.edges(graph)}
    assert {edge.look[0] for edge in drawn.values()} == {role.colour for role in colours.FOUND_BY.values()}
    assert len({edge.look[1] for edge in drawn.values()}) == 3 and not any(edge.has_dot for edge in drawn.values())
    assert "<circle" not in drawing.svg(graph, places)  # a mark at an end reads as a PAG's uncertain end
    assert {name for name, edge in drawn.items() if edge.head == drawing.NONE} == {"likelihood"}
    graph.graph[drawing.LIKELIER] = True
    assert {edge.found_by for edge in drawing.edges(graph) if edge.head == drawing.OPEN} == {"likelihood"}
    assert 'fill="white" stroke="#D98200"' in drawing.svg(graph, places) and "b" in drawn["likelihood"].words()
    graph.edges["b", "c"]["direction_nats"] = -0.4
    assert not any(edge.head == drawing.OPEN for edge in drawing.edges(graph))  # the evidence is against it
    graph.edges["b", "c"]["direction_nats"] = 1.0
    del graph.graph[drawing.LIKELIER]
    assert drawn["both"].width == drawing.THICK and drawn["DISCO"].width == drawing.THIN
    assert drawn["likelihood"].width == pytest.approx(drawing.THIN + 0.6 * (drawing.THICK - drawing.THIN))
    graph.edges["a", "b"]["gain_nats"] = 5.0  # a weak edge is thin even where none is stronger
    weak = {edge.found_by: edge for edge in drawing.edges(graph.edge_subgraph([("a", "b")]))}["both"]
    assert weak.width == pytest.approx(drawing.THIN + 0.5 * (drawing.THICK - drawing.THIN))
    assert drawn["both"].words().startswith("a → b (found by both methods): evidence 25.0 nats, direction 9.0 nats")
    assert "OCS 0.300" in drawn["both"].words() and "direction undecided" in drawn["likelihood"].words()
    assert drawn["DISCO"].words() == "c → a (by DISCO alone): OCS 0.200, Z 3.00, in 67% of folds"
    text = drawing.svg(graph, places)
    for role in colours.FOUND_BY.values():
        assert f">{role.meaning}</text>" in text and role.colour in text
    assert ">no arrow head: direction not known</text>" in text and "b -&gt;" not in text
    assert '"b" -> "c"' in graphs.export(graph, "dot") and graphs.export(graph, "dot").count("dir=none") == 1


def test_the_legend_holds_what_is_drawn_and_no_more():
    graph, _ = made(ORDER)
    words = [key.words for key in drawing.legend(graph, drawing.edges(graph))]
    assert words == ["passed in all folds", "thicker line = higher OCS"]
    words = [key.words for key in drawing.legend(union()[0], drawing.edges(union()[0]))]
    assert words[:3] == [role.meaning for role in colours.FOUND_BY.values()]
    told = ["arrow: direction decided", "no arrow head: direction not known", "thicker line = stronger evidence"]
    assert words[3:] == told


def test_a_picture_says_what_it_is_of():
    graph, places = made(HOSTILE)
    about = {"run": "<b>&", "method": "DISCO", "tau_z": 2.0}
    root = ElementTree.fromstring(drawing.svg(graph, places, title="t", about=about))
    space = "{http://www.w3.org/2000/svg}"
    assert json.loads(root.find(f"{space}metadata").text) == about
    assert root.find(f"{space}desc").text == "run: <b>&; method: DISCO; tau_z: 2.0"
    assert root.find(f"{space}title").text == "t"


def test_the_whole_way_of_every_edge_is_inside_the_picture():
    places = {name: (0.0, 60.0 * place) for place, name in enumerate("abcdefgh")}
    graph = graphs.build([*places], pd.DataFrame({"parent": ["a", "b"], "child": ["h", "g"], "ocs": 1.0}))
    root = ElementTree.fromstring(drawing.svg(graph, places))
    left, top, wide, high = map(float, root.get("viewBox").split())
    for line in root.iter("{http://www.w3.org/2000/svg}path"):
        numbers = [float(number) for number in re.findall(r"-?[0-9.]+", line.get("d"))]
        assert min(numbers[::2]) > left and max(numbers[::2]) < left + wide
        assert min(numbers[1::2]) > top and max(numbers[1::2]) < top + high


def test_pyvis_gets_every_node_and_edge_in_its_place_and_no_markup_of_names():
    graph, places = made(HOSTILE)
    found = vis(graph, places)
    assert {node["id"]: (node["x"], node["y"]) for node in found.nodes} == {node: places[node] for node in graph}
    assert {(edge["from"], edge["to"]) for edge in found.edges} == set(graph.edges) and found.directed
    assert "<script>alert(1)" not in found.generate_html()


def test_a_truth_has_no_heads_where_a_direction_cannot_be_known_and_no_scores():
    drawn = simulate(Design(graph="chain", nodes=3, rows=50, seed=0))
    keys = {}
    for direction in (identifiable.KNOWN, identifiable.UNKNOWN):
        truth = simulated.truth(replace(drawn, truth=drawn.truth.assign(direction=direction)))
        assert truth.positions.keys() == set(truth.order) == set(drawn.table)
        picture = drawing.picture(truth.graph, truth.positions, 1.0)
        keys[direction] = [key["words"] for key in picture["legend"]]
        assert {edge["end"] for edge in picture["edges"]} == {"none" if direction == identifiable.UNKNOWN else "full"}
        assert all(edge["width"] == drawing.THIN for edge in picture["edges"])
    assert keys == {identifiable.KNOWN: [], identifiable.UNKNOWN: ["no arrow head: direction not known"]}


def ruled(**more) -> tuple[nx.DiGraph, dict[str, tuple[float, float]]]:
    """A graph with one edge that knowledge requires, one whose direction it fixes, and one that it leaves free."""
    words = {"parent": [*"aab"], "child": [*"bcc"], "rule": ["required", "fixed", "free"], **more}
    graph = graphs.build([*"abc"], pd.DataFrame(words))
    return graph, {"a": (0.0, 0.0), "b": (90.0, 100.0), "c": (0.0, 200.0)}


def test_a_square_at_the_tail_marks_what_knowledge_requires():
    graph, places = ruled(gain_nats=[1.0, 9.0, 4.0], direction_nats=3.0, decided=[1.0, 1.0, 0.0])
    told = [edge.words().split("nats")[-1] for edge in sorted(drawing.edges(graph), key=lambda edge: -edge.width)]
    assert told == ["; direction fixed by knowledge", ", direction undecided", "; required by knowledge"]
    lines = drawing.picture(graph, places)["edges"]
    assert [(line["parent"], line["child"]) for line in lines if line["square"]] == [("a", "b")]
    text = drawing.svg(graph, places)
    squares = [rect for rect in ElementTree.fromstring(text).iter(f"{SVG}rect") if rect.get("rx") is None]
    assert len(squares) == 1 + 1 + 1  # the ground, the edge, the legend
    assert text.count(">required by knowledge</text>") == 1


def test_a_diamond_at_the_tail_marks_what_an_experiment_shows():
    graph, places = ruled(
        gain_nats=[1.0, 9.0, 4.0], direction_nats=3.0, decided=1.0, source=["", "experiment", "class"]
    )
    shown = [line for line in drawing.picture(graph, places)["edges"] if line["diamond"]]
    assert len(shown) == 1 and shown[0]["words"].endswith("direction shown by an experiment")
    text = drawing.svg(graph, places)
    assert text.count('transform="rotate(45 ') == 2 and text.count(">direction shown by an experiment</text>") == 1


def test_the_square_stands_beyond_the_dot_of_a_verdict():
    graph, places = ruled(gain_nats=4.0)
    graph.edges["a", "b"]["verdict"] = "reversed"
    (line,) = [line for line in drawing.picture(graph, places)["edges"] if line["square"]]
    (x, y, radius), (left, top, half) = line["dot"], line["square"]
    assert radius == half and ((x - left) ** 2 + (y - top) ** 2) ** 0.5 == pytest.approx(2 * radius, abs=0.2)
    assert line["dot"][1] < line["square"][1]


def test_ties_are_dotted_with_two_heads_beside_an_edge_and_no_edges_of_the_graph():
    graph, places = made(ORDER[:6])
    pairs = [(one, other) for one in graph for other in graph if one < other]
    apart = next(pair for pair in pairs if pair not in graph.edges and pair[::-1] not in graph.edges)
    joined = next(iter(graph.edges))
    assert not [mark for mark in drawing.picture(graph, places)["edges"] if mark["tail"]]
    graph.graph[TIES] = {apart: 0.01, joined: 0.02, ("x0", "elsewhere"): 0.03}
    found = drawing.picture(graph, places)
    ties = [mark for mark in found["edges"] if mark["end"] == "both"]
    assert {(mark["parent"], mark["child"]) for mark in ties} == {apart, joined[::-1]}
    assert all(mark["tail"] and mark["dash"] and mark["absent"] and "↔" in mark["words"] for mark in ties)
    assert [key["words"] for key in found["legend"]].count("a common cause may be missing") == 1
    heads = ElementTree.fromstring(drawing.svg(graph, places)).findall(f".//{SVG}polygon")
    assert len(heads) == graph.number_of_edges() + 2 * len(ties)
    box = folded(graph, {"box": (apart[0], joined[0])})
    assert all(one != other for one, other in box.graph[TIES])
