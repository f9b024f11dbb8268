"""Figures of a refinement highlight the best search, undecided edges and nodes that moved."""

import math

import numpy as np
import pandas as pd
import pytest
from made_up import HOSTILE, evidence

from disco.figures import theme
from disco.graph.dag import build
from disco.graph.draw import picture as drawing
from disco.graph.draw import placing
from disco.refine.refinement_result import ends, start_words
from disco.subjects.refinement.figures import search_scores as figures

ENDS = {"CCS order": (-900.0, -112.0), "by mean": (-300.0, -100.0), "<b>x</b>": (-101.0, -100.01), "last": (-103.0,)}
STARTS = pd.DataFrame(
    [(start, k, score) for start, scores in ENDS.items() for k, score in enumerate(scores, start=1)],
    columns=["start", "sweep", "score"],
)


def moves(gains, after):
    before = range(1, len(gains) + 1)
    names = [f"x{k}" for k in before]
    table = pd.DataFrame({"node": names, "before": before, "after": after, "gain_nats": gains})
    return table.sort_values("after", ignore_index=True)


def test_the_name_of_a_start_reads_in_a_sentence():
    words = {
        "by variance − mean": "the order by variance minus mean",
        "CCS order": "the CCS order",
        "random 2": "random 2",
    }
    assert {start: start_words(start) for start in words} == words


def test_searches_are_drawn_below_the_best_which_stands_out():
    fig = figures.searches(STARTS, "last")
    lines = {trace.name: trace for trace in fig.data}
    assert list(lines["by mean"].customdata) == [200.0, 0.0]
    assert lines["by mean"].y[1] == 0.0 and fig.layout.yaxis.range[0] > max(lines["CCS order"].y)
    widths = {name: trace.line.width for name, trace in lines.items()}
    assert max(widths, key=widths.get) == "by mean" and fig.data[-1].name == "by mean"
    assert lines["last"].line.dash != lines["by mean"].line.dash
    assert "&lt;b&gt;x" in fig.to_json() and "<b>x" not in fig.to_json().replace("\\u003c", "<")
    assert "4 searches; the best so far: from the order by mean" in theme.title_of(fig)


def test_no_sweep_yet_is_said():
    assert "No sweep" in figures.searches(STARTS.iloc[:0]).layout.annotations[0].text


def test_ends_tell_ties_from_worse_ones():
    fig = figures.ends(STARTS, 5.0)
    near, worse = fig.data
    assert list(near.customdata) == pytest.approx([0.0, 0.01, 3.0]) and list(worse.customdata) == [12.0]
    assert near.marker.symbol != worse.marker.symbol and fig.layout.yaxis.ticktext[0] == "by mean"
    assert ends(STARTS, 5.0) == (1, 1, 3, 3.0) and ends(STARTS, 1.0)[:3] == (1, 0, 3)
    only = ends(STARTS[STARTS["start"] == "last"], 5.0)
    assert only[:3] == (0, 0, 0) and math.isnan(only.apart)


def test_the_slope_tells_who_moved_where_and_whether_it_matters():
    fig = figures.slope(moves([30.0, np.nan, 1.0, 9.0], [3, 4, 2, 1]), 5.0)
    said = {trace.name: list(trace.y) for trace in fig.data if trace.mode == "lines+markers"}
    assert said["moved towards the sinks"][:2] == [1, 3] and said["moved towards the sources"][:2] == [4, 1]
    assert said["moved, gaining less than 5 nats"][:2] == [3, 2]
    assert said["kept its position among the others"][:2] == [2, 4]
    looks = {(trace.line.color, trace.line.dash) for trace in fig.data if trace.mode == "lines+markers"}
    assert len({dash for _, dash in looks}) == 3 and len({colour for colour, _ in looks}) == 4
    assert "3 of 4 nodes moved; 2 of these moves gained at least 5 nats" in theme.title_of(fig)


def test_many_nodes_name_only_those_that_moved():
    gains = [np.nan] * 99 + [7.0]
    fig = figures.slope(moves(gains, [*range(2, 101), 1]), 5.0)
    names = [trace.text for trace in fig.data if trace.mode == "text"]
    assert [list(text) for text in names] == [["x100"], ["x100"]] and fig.layout.height <= figures.LONGEST


def test_width_is_evidence_and_an_edge_of_unknown_direction_has_no_head():
    order = list("abcde")
    table = evidence([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    drawn = {(edge.parent, edge.child): edge for edge in drawing.edges(build(order, table))}
    widths = [drawn[pair].width for pair in zip(table["parent"], table["child"], strict=True)]
    assert widths == sorted(widths, reverse=True) and widths[0] == drawing.THICK
    assert [pair for pair in drawn if drawn[pair].head == drawing.NONE] == [("c", "d")]
    assert "direction undecided" in drawn["c", "d"].words() and "worst case" in drawn["d", "e"].words()
    text = drawing.svg(build(order, table), figures.positions(order, table))
    assert ">no arrow head: direction not known</text>" in text and "OCS" not in text


def test_hostile_names_stay_text():
    table = pd.DataFrame({"node": HOSTILE, "before": range(1, 7), "after": range(6, 0, -1), "gain_nats": 8.0})
    text = figures.slope(table, 5.0).to_json().replace("\\u003c", "<").replace("\\u003e", ">")
    assert "<script" not in text and "$x$" not in text
    edges = evidence(list(zip(HOSTILE[:-1], HOSTILE[1:], strict=True)))
    places = figures.positions(HOSTILE, edges)
    assert "<script" not in drawing.svg(build(HOSTILE, edges), places)
    assert set(places) == set(placing.positions(HOSTILE, edges.assign(z=1.0)))
