"""Several methods as figures: what the cells, points and titles say."""

import networkx as nx
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from colours import contrast

from disco.figures import theme
from disco.graph.draw import picture as drawing
from disco.graph.result import GraphResult
from disco.metrics.consensus import Comparison, highest_by_chance
from disco.subjects.comparison import figures as compared
from pages.shared.widgets import figure


def test_the_matrix_names_the_two_that_agree_most():
    values = pd.DataFrame([[1, 0.2, 0.9], [0.2, 1, 0.4], [0.9, 0.4, 1]], index=list("abc"), columns=["a", "b", "<c>"])
    figure = compared.agreement(values, "Orders")
    assert theme.title_of(figure) == "Orders of 3 methods: a and <c> agree most (0.90)"
    np.testing.assert_array_equal(figure.data[0].z, values)
    assert not figure.data[0].showscale  # the icons stand there, and every cell has its number
    assert figure.data[0].zmin == 0 and figure.data[0].zmax == 1
    ink = figure.data[0].textfont.color
    assert all(contrast(ink, colour) >= 4.5 for _, colour in figure.data[0].colorscale)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[1, 0.625], [0.625, 1]], "Orders of 2 methods: a and b agree most (0.62)"),
        ([[1, 0.7, 0.7], [0.7, 1, 0.1], [0.7, 0.1, 1]], "Orders of 3 methods: 2 of 3 pairs agree most (0.70)"),
        ([[1, 0.4], [0.4, 1]], "Orders of 2 methods: a and b agree most (0.40), no more than random orders"),
        ([[1, 1.0], [1.0, 1]], "Orders of 2 methods: a and b agree fully"),
    ],
)
def test_the_title_has_the_number_of_the_cell_and_praises_no_tie(rows, words):
    figure = compared.agreement(pd.DataFrame(rows, columns=list("abc")[: len(rows)]), "Orders", 0.5)
    assert 0.54 < highest_by_chance(8) < 0.8 < highest_by_chance(3)
    assert theme.title_of(figure) == words
    assert figure.data[0].text[0][1] in words or "fully" in words


def test_a_matrix_of_nothing_says_so():
    for values in (pd.DataFrame([[1.0]], columns=["a"]), pd.DataFrame(np.full((2, 2), np.nan), columns=["a", "b"])):
        assert "fewer than two" in theme.title_of(compared.agreement(values, "Edges"))


def test_time_and_f1_tell_controls_from_methods():
    rows = pd.DataFrame({"name": ["one", "sorted", "none"], "seconds": [20.0, 0.0, 3.0], "f1": [0.9, 0.7, np.nan]})
    rows["is_control"] = [False, True, False]
    figure = compared.time_and_f1(rows)
    assert theme.title_of(figure) == "Most accurate: one (F1 0.90, 20 s)"
    assert list(figure.layout.yaxis.ticktext) == ["one", "sorted"]
    f1, time, *controls = figure.data
    assert (f1.x[0], time.x[0], f1.y[0], time.y[0]) == (0.9, 20.0, 0, 0) and f1.customdata[0][0] == "one"
    assert [part.marker.symbol for part in controls] == ["circle-open"] * 2 and controls[1].x[0] > 0
    assert [part.showlegend for part in figure.data] == [True, False, True, False]
    assert theme.title_of(compared.time_and_f1(rows.assign(f1=np.nan))) == "No method has an F1 yet"


def test_methods_with_the_same_numbers_have_a_row_each():
    names = [f"method {number}" for number in range(20)]
    rows = pd.DataFrame({"name": names, "seconds": 1.0, "f1": 0.9, "is_control": False})
    figure = compared.time_and_f1(rows)
    assert list(figure.layout.yaxis.ticktext) == names and list(figure.data[0].y) == list(range(20))
    assert figure.layout.height / 20 >= 26  # pixels, so that names of consecutive rows do not meet


def consensus() -> nx.DiGraph:
    """a → b of both methods, and an open edge b — c of one."""
    one = GraphResult.of("abc", [("a", "b")], undirected=[("b", "c")], order="abc")
    return Comparison.of({"one": one, "two": GraphResult.of("abc", [("a", "b")])}).consensus(1)


def test_an_edge_is_as_wide_as_many_have_it_and_an_open_one_has_no_head():
    graph = consensus()
    places = {"a": (0.0, 0.0), "b": (0.0, 90.0), "c": (0.0, 180.0)}
    marks = drawing.picture(graph, places, 2.0)
    edges = {edge["parent"]: edge for edge in marks["edges"]}
    assert edges["a"]["width"] > edges["b"]["width"]
    assert edges["a"]["words"] == "a → b: 2 of 2 methods" and edges["b"]["words"] == "b — c: 1 of 2 methods"
    heads = {name: {tuple(point.split(",")) for point in edge["head"].split()} for name, edge in edges.items()}
    assert len(heads["a"]) == 3 and len(heads["b"]) == 1
    assert {key["words"] for key in marks["legend"]} == {
        "no arrow head: direction not known",
        "thicker line = more methods",
    }


def test_icons_have_room_beside_the_marks_or_above_a_colour_scale():
    marks = figure.ready(theme.titled(go.Figure(go.Scatter(x=[1], y=[1])), "Marks", height=200)).figure
    assert marks.layout.margin.r >= 34 and marks.layout.modebar.orientation == "v"
    scale = figure.ready(theme.titled(go.Figure(go.Heatmap(z=[[1]])), "Scale", height=200, legend=False)).figure
    assert scale.layout.margin.t >= 34 and scale.layout.modebar.orientation == "h"
