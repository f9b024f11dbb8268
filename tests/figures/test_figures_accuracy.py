"""Figures with a known truth: curves, arcs, verdicts and marks agree with counting by hand."""

import re
import xml.etree.ElementTree as ElementTree

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from made_up import HOSTILE, candidates, ordering

from disco import metrics
from disco.figures import theme
from disco.graph import dag as graphs
from disco.graph.draw import colours, placing
from disco.graph.draw import picture as drawing
from disco.paper import removals
from disco.paper.ocs import frequencies, select
from disco.subjects.fit.figures import accuracy, arcs, ranking
from disco.subjects.fit.figures import ordering as order_figures
from disco.subjects.fit.figures import parents as parent_figures
from disco.verdicts import clarity

ORDER = [f"x{k}" for k in range(8)]
TRUTH = pd.DataFrame(
    [("x0", "x1"), ("x0", "x4"), ("x0", "x7"), ("x2", "x5"), ("x6", "x3")], columns=["parent", "child"]
)  # the last runs against the order
TAUS = [0.0, 0.5, 1.0, 2.0, 4.0]


def trace(fig, name):
    return next(trace for trace in fig.data if trace.name == name)


def test_every_threshold_agrees_with_selecting_and_counting():
    ocs = candidates(ORDER, seed=3)
    table = metrics.along_thresholds(ocs, TRUTH, TAUS)
    assert len(table) == 3 * len(TAUS)
    for row in table.itertuples():
        met = metrics.counts(TRUTH, select(ocs, row.tau_z, row.pi_min))
        assert (row.precision, row.recall, row.f1) == pytest.approx((met.precision, met.recall, met.f1), nan_ok=True)


def test_f1_is_marked_at_the_present_choice():
    ocs = candidates(ORDER, seed=3)
    table = metrics.along_thresholds(ocs, TRUTH, TAUS)
    fig = accuracy.f1(table, 1.0, 2 / 3)
    now = metrics.f1(TRUTH, select(ocs, 1.0, 2 / 3))
    assert (fig.data[-1].x[0], fig.data[-1].y[0]) == pytest.approx((1.0, now))
    names = {"F1, 1 of 3 folds", "F1, 2 of 3 folds", "F1, all 3 folds", "precision", "recall"}
    assert names <= {trace.name for trace in fig.data}
    assert f"the highest is {table['f1'].max():.3g}" in theme.title_of(fig)


def test_precision_and_recall_of_the_present_choice_lie_on_its_line():
    ocs = candidates(ORDER, seed=3)
    scores = frequencies(ocs, 1.0).rename(columns={"ocs": "score"})
    curve, table = metrics.precision_recall(TRUTH, scores), metrics.along_thresholds(ocs, TRUTH, TAUS)
    fig = accuracy.precision_recall(curve, table, 0.5, 1.0, 0.42, 0.1, a_top=0.8)
    met = metrics.counts(TRUTH, select(ocs, 0.5, 1.0))
    now, line, by_ocs = trace(fig, "τ_Z = 0.5"), trace(fig, "by τ_Z, at this π_min"), trace(fig, "by OCS")
    assert (now.x[0], now.y[0]) == pytest.approx((met.recall, met.precision))
    assert (now.x[0], now.y[0]) in set(zip(line.x, line.y, strict=True))
    assert max(by_ocs.x) == curve["recall"].max() == pytest.approx(0.8)
    assert set(zip(by_ocs.x, by_ocs.y, strict=True)) <= set(zip(curve["recall"], curve["precision"], strict=True))
    assert "0.420" in theme.title_of(fig)


def test_curves_are_drawn_without_any_true_edge():
    ocs = candidates(ORDER)
    table = metrics.along_thresholds(ocs, TRUTH.iloc[:0], TAUS)
    assert table["recall"].isna().all() and (table["precision"].dropna() == 0).all()
    assert accuracy.f1(table, 1.0, 1.0).data


def test_arcs_tell_errors_by_side_and_colour():
    fig = arcs.order_arcs(ORDER, TRUTH)
    above, below = trace(fig, "parent comes first"), trace(fig, "child comes first (error)")
    assert np.nanmin(above.y) >= -1e-12 and np.nanmax(below.y) <= 1e-12
    assert np.isnan(above.x).sum() == 4 and np.isnan(below.x).sum() == 1
    assert np.nanmin(below.x) == pytest.approx(4) and np.nanmax(below.x) == pytest.approx(7)
    assert below.line.color == colours.WRONG != above.line.color
    assert theme.title_of(fig) == "1 of 5 true edges runs against the order"
    nodes = next(trace for trace in fig.data if trace.customdata is not None and len(trace.x) == len(ORDER))
    coloured = zip(ORDER, nodes.marker.color, strict=True)
    assert [node for node, colour in coloured if colour == colours.WRONG] == ["x3", "x6"]


def test_of_very_many_true_edges_only_the_errors_are_drawn(monkeypatch):
    monkeypatch.setattr(arcs, "MOST_ARCS", 3)
    fig = arcs.order_arcs(ORDER, TRUTH)
    assert {trace.name for trace in fig.data if trace.name} == {"child comes first (error)"}
    assert "only these are drawn" in theme.title_of(fig)


def test_arcs_escape_names():
    fig = arcs.order_arcs(HOSTILE, [(HOSTILE[0], HOSTILE[1])])
    assert "<script" not in fig.to_json().replace("\\u003c", "<")


def judged(missing: bool = True) -> tuple[nx.DiGraph, nx.DiGraph]:
    """x0 → x1 true, x2 → x4 extra, x3 → x6 reversed, x3 → x5 right either way, though the truth has it reversed.

    x0 → x4, x0 → x7, x2 → x5 and, against the order, x7 → x1 are missing.
    """
    ocs = candidates(ORDER)
    found = pd.DataFrame([("x0", "x1"), ("x2", "x4"), ("x3", "x6"), ("x3", "x5")], columns=["parent", "child"])
    known = frequencies(ocs, 1.0)
    graph = graphs.build(ORDER, found.merge(known))
    more = pd.DataFrame({"parent": ["x7", "x5"], "child": ["x1", "x3"], "direction": ["not proved", "unknown"]})
    truth = pd.concat([TRUTH.assign(direction="known"), more])
    return graph, drawing.judged(graph, metrics.verdicts(truth, graph), known, missing=missing)


def test_edges_carry_their_verdict_and_missing_ones_their_scores():
    graph, held = judged()
    found = {f"{parent}{child}": values["verdict"] for parent, child, values in held.edges(data=True)}
    missing = dict.fromkeys(("x0x4", "x0x7", "x2x5", "x7x1"), "missing")
    assert found == {"x0x1": "true", "x2x4": "extra", "x3x6": "reversed", "x3x5": "either way", **missing}
    assert held.edges["x0", "x4"]["ocs"] > 0 and "ocs" not in held.edges["x7", "x1"]
    assert held.edges["x0", "x1"]["z"] == graph.edges["x0", "x1"]["z"]
    assert graph.number_of_edges() == 4 and "verdict" not in graph.edges["x0", "x1"] and list(held) == ORDER
    without = judged(missing=False)[1]
    assert set(without.edges) == set(graph.edges)


def test_verdicts_differ_by_colour_and_by_dash_in_every_picture():
    _, held = judged()
    places = placing.positions(ORDER, frequencies(candidates(ORDER), 1.0))
    drawn = {edge.verdict: edge for edge in drawing.edges(held)}
    assert len({edge.look[0] for edge in drawn.values()}) == len({edge.look[1] for edge in drawn.values()}) == 5
    text = drawing.svg(held, places)
    root = ElementTree.fromstring(text)
    lines = root.findall(".//{http://www.w3.org/2000/svg}g/{http://www.w3.org/2000/svg}path")
    looks = {(line.get("stroke"), line.get("stroke-dasharray")) for line in lines}
    assert len(lines) == 8 and len({colour for colour, _ in looks}) == len({dash for _, dash in looks}) == 5
    # The tails of the reversed edge and of the one right either way.
    assert len(root.findall(".//{http://www.w3.org/2000/svg}g/{http://www.w3.org/2000/svg}circle")) == 2
    for meaning in (verdict.meaning for verdict in colours.VERDICTS.values()):
        assert f">{meaning}<" in text
    assert all(verdict.colour in text for verdict in colours.VERDICTS.values())


def test_a_plain_graph_is_drawn_without_verdicts():
    graph, _ = judged()
    places = placing.positions(ORDER, frequencies(candidates(ORDER), 1.0))
    assert not re.search("found and true|true, not found", drawing.svg(graph, places))
    assert {edge.verdict for edge in drawing.edges(graph)} == {None}


def test_hovering_says_why_an_edge_is_missing():
    words = {(edge.parent, edge.child): edge.words() for edge in drawing.edges(judged()[1])}
    assert words["x7", "x1"] == "x7 → x1 (true, not found): the order puts x1 first"
    assert "OCS" in words["x0", "x4"] and "found, not true" in words["x2", "x4"]


def test_true_sinks_have_no_true_child_left():
    assert removals.true_sinks(["x0", "x2", "x3", "x5", "x6"], TRUTH) == ["x0", "x3", "x5"]
    assert removals.true_sinks(["x0", "x6"], TRUTH) == ["x0", "x6"]


def test_the_steps_ring_true_sinks_and_cross_wrong_removals():
    ccs, _ = ordering(ORDER)
    fig = order_figures.scores(ccs, 1, ORDER, true_sinks=["x3", "x7"])
    assert [ORDER[int(row)] for row in trace(fig, "sink in the known graph").y] == ["x3", "x7"]
    wrong = metrics.wrong_removals(ORDER, TRUTH)["step"].tolist()
    places = [clarity(removals.all_steps(ccs), TRUTH[:0]), clarity(removals.all_steps(ccs), TRUTH[:0]).iloc[:0]]
    crossed, bare = (ranking.ranking(ORDER, some, wrong) for some in places)  # also a node that has no parents
    assert list(trace(bare, "wrong according to the known graph").x) == [1.0]
    assert wrong == [2] and list(trace(crossed, "wrong according to the known graph").y) == [len(ORDER) - 2]
    unmarked = ranking.ranking(ORDER, places[0])
    assert not [t for t in unmarked.data if t.name == "wrong according to the known graph"]


def test_true_parents_are_starred_and_true_edges_dotted():
    ocs = candidates(ORDER)
    fig = parent_figures.candidates(ocs, "x5", 1.0, 1.0, true_parents={"x2"})
    starred = [text for text in fig.layout.yaxis.ticktext if "★" in text]
    assert len(starred) == 1 and "x2" in starred[0]
    drawn = parent_figures.matrix(frequencies(ocs, 1.0), ORDER, 1.0, truth=TRUTH)
    dots, against = trace(drawn, "true edge"), trace(drawn, "true edge against the order")
    assert set(zip(dots.y, dots.x, strict=True)) == set(TRUTH.iloc[:4].itertuples(index=False, name=None))
    assert list(zip(against.y, against.x, strict=True)) == [("x6", "x3")]
