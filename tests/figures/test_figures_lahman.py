"""The Lahman figures count what they say."""

import pandas as pd

from disco import lahman
from disco.figures import lahman as figures
from disco.figures import roles

FIRST = list(lahman.COLUMNS)


def test_support_counts_the_orders_that_agree():
    table = figures.support([["a", "b", "c"], ["b", "a", "c"]], [("a", "b"), ("a", "c")])
    assert table["agree"].tolist() == [1, 2] and table["orders"].tolist() == [2, 2]


def test_arrows_are_coloured_by_agreement_and_dashed_without_an_edge():
    down, up = ["AB", "H", *[c for c in FIRST if c not in ("AB", "H")]], FIRST[::-1]
    fig = figures.reference([down, down, up], [{("AB", "H")}, {("H", "AB")}, set()], [("AB", "H"), ("BB", "IBB")])
    arrows = [trace for trace in fig.data if trace.mode == "lines+markers"]
    assert [arrow.line.color for arrow in arrows] == [roles.PICKED, roles.PICKED]
    assert [arrow.line.dash for arrow in arrows] == ["solid", "dash"]
    reversed_ = figures.reference([up], [set()], [("AB", "H")])
    assert reversed_.data[0].line.color == roles.ACCENT
    assert "0 of 1" in roles.title_of(reversed_)


def test_every_reference_column_has_a_place():
    assert {node for pair in lahman.R17 for node in pair} <= set(figures.PLACES)


def test_agreement_shows_runs_means_paper_and_controls():
    ours = pd.DataFrame({"label": "q4", "seed": [0, 1], "r7": [0.8, 1.0], "r17": [0.7, 0.9]})
    paper = pd.DataFrame({"label": ["q4", "q6"], "r7": [0.9, 0.7], "r17": [0.8, 0.7]})
    fig = figures.agreement(ours, paper, {"by rising mean": (0.0, 0.1)})
    assert "0.900 with R7 and 0.800 with R17" in roles.title_of(fig)
    means = [trace for trace in fig.data if trace.name == "our mean"]
    assert [trace.x[0] for trace in means] == [0.9, 0.8]
    assert len(fig.layout.yaxis.ticktext) == 3
    assert "no run yet" in roles.title_of(figures.agreement(ours.iloc[:0], paper, {}))


def test_places_are_drawn_for_each_seed():
    fig = figures.places({0: ["a", "b", "c"], 1: ["b", "a", "c"]})
    assert {trace.name for trace in fig.data if trace.name} == {"seed 0", "seed 1"}
    assert "0.7" in roles.title_of(fig)
