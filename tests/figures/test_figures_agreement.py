"""The figures of agreement count what they say."""

import pandas as pd

from disco.figures import theme
from disco.graph.draw import colours
from disco.graph.result import GraphResult
from disco.subjects.studies import figures, lahman

FIRST = list(lahman.COLUMNS)


def edges(*ends: str) -> pd.DataFrame:
    return pd.DataFrame([ends] if ends else [], columns=["parent", "child"])


def test_arrows_are_coloured_by_agreement_and_dashed_without_an_edge():
    down, up = ["AB", "H", *[c for c in FIRST if c not in ("AB", "H")]], FIRST[::-1]
    found = [GraphResult(order, edges(*ends)) for order, ends in ((down, ["AB", "H"]), (down, ["H", "AB"]), (up, []))]
    fig = figures.reference(found, (("AB", "H"), ("BB", "IBB")))
    arrows = [trace for trace in fig.data if trace.mode == "lines+markers"]
    assert [arrow.line.color for arrow in arrows] == [colours.PICKED, colours.PICKED]
    assert [arrow.line.dash for arrow in arrows] == ["solid", "dash"]
    reversed_ = figures.reference(found[2:], (("AB", "H"),))
    assert reversed_.data[0].line.color == colours.ACCENT and "0 of 1" in theme.title_of(reversed_)


def test_agreement_shows_runs_means_paper_and_controls():
    ours = pd.DataFrame({"label": "q4", "run": ["a", "b"], "R7": [0.8, 1.0], "R17": [0.7, 0.9]})
    paper = {"q4": (0.9, 0.8), "q6": (0.7, 0.7)}
    fig = figures.agreement(ours, paper, {"by rising mean": (0.0, 0.1)})
    assert "0.900 with R7 and 0.800 with R17" in theme.title_of(fig)
    means = [trace for trace in fig.data if trace.name == "our mean"]
    assert [trace.x[0] for trace in means] == [0.9, 0.8] and len(fig.layout.yaxis.ticktext) == 3


def test_places_are_drawn_for_each_seed():
    fig = figures.positions({"seed 0": ["a", "b", "c"], "seed 1": ["b", "a", "c"]})
    assert {trace.name for trace in fig.data if trace.name} == {"seed 0", "seed 1"} and "0.7" in theme.title_of(fig)


def test_the_figure_says_how_far_near_ends_differ():
    table = pd.DataFrame({"start": ["a", "b", "c"], "below": [0.0, 11.0, 30.0], "R7": [0.43, 0.86, 0.0], "R17": 0.5})
    fig = figures.ends(table, 12.0)
    title = theme.title_of(fig)
    assert "2 of 3 searches" in title and "from 0.43 to 0.86" in title
    assert list(fig.data[0].y) == [0.43, 0.86, 0.0] and list(fig.data[0].x) == [0.0, 11.0, 30.0]
    assert "agreement 0.43" in theme.title_of(figures.ends(table.iloc[:1], 12.0))
