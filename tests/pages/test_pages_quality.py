"""Data: the quality of the counts is computed when its section is opened, and its buttons act and can be undone."""

import numpy as np
import pytest
from app_world import booted, csv, draft_of, forget_results, poisson, press, texts, upload
from made_up import refine_by_hand

from disco.table.quality import quality
from pages.data import quality as section
from pages.shared.compute.background import Computation, Slow
from pages.shared.work import fit_start


@pytest.fixture(autouse=True)
def none_begun():
    forget_results()


def opened(table):
    at = upload(booted(), "t.csv", csv(table))
    at.session_state["quality_box"] = True
    at.run()
    assert not at.exception, at.exception
    return at


def test_it_is_computed_only_when_it_is_opened_and_nothing_can_be_opened_while_columns_are_no_counts(monkeypatch):
    asked = []
    monkeypatch.setattr(section, "quality", lambda *given: asked.append(given) or quality(*given))
    at = upload(booted(), "odd.csv", csv(poisson().assign(a=-1)))
    assert "Quality of the counts" not in [box.label for box in at.expander]
    upload(at, "t.csv", csv(poisson(rows=300)))
    assert "Quality of the counts" in [box.label for box in at.expander] and not asked
    at.session_state["quality_box"] = True
    at.run().run()
    assert len(asked) == 1 and "Nothing stands out." in texts(at)
    for opened, words in (("zeros", "have more zeros than expected"), ("depth", "of the first component")):
        at.session_state["quality_figure"] = opened
        at.run()
        assert not at.exception and words in texts(at)


def test_columns_and_rows_are_left_out_and_taken_back():
    rng = np.random.default_rng(0)
    table = poisson(rows=300, names=tuple("abcd"))
    table.iloc[[2, 9]] = 40
    table["<b>gaps</b>"] = 9 * rng.binomial(1, 0.6, 300)
    at = opened(table)
    assert "far from the others" in texts(at) and "<b>gaps" not in texts(at).replace("\\<b\\>gaps", "")
    press(at, "Leave out 2 rows")
    assert len(draft_of(at).table) == 298 and draft_of(at).rows_left_out == ((3, 3), (10, 10))
    assert "2 rows left out, far from the others\\: 3, 10" in texts(at)
    at.button(key="quality_out_zeros").click().run()
    assert not at.exception and draft_of(at).columns == (0, 1, 2, 3)
    press(at, "Back to the table as loaded")
    assert len(draft_of(at).table) == 300 and draft_of(at).columns == tuple(range(5))


def test_a_table_is_looked_at_in_the_background(monkeypatch):
    start, unfinished = Slow.begin, Computation(stage="depth", progress=0.5)

    def begin(slow, anew=False):
        return slow.keep(unfinished) if slow.key[0] == "quality" else start(slow, anew)

    monkeypatch.setattr(Slow, "begin", begin)
    at = opened(poisson(rows=300))
    assert at.button(key="quality_cancel") and "Nothing stands" not in texts(at)


def test_doubts_stand_beside_find_the_graph_and_on_the_results_of_the_run_with_the_names_of_rows():
    table = poisson(rows=120, names=tuple("abcd")).assign(e=np.arange(120) % 2)
    table.iloc[4, :4] = 60
    table.insert(0, "site", [f"Bay {row + 1}" for row in range(120)])
    at = press(upload(booted(), "bays.csv", csv(table)), "The first column holds row names")
    (line,) = [one.value for one in at.caption if "caveats:" in one.value]
    assert "**2 caveats:**" in line and "Row 5 \\(Bay 5\\) lies far" in line and line.endswith("counts* below.")
    run = refine_by_hand(fit_start.new_run(draft_of(at)), edges=[])
    at = booted("graph", run=run.path.name)
    (on_graph,) = [one.value for one in at.caption if "caveats:" in one.value]
    assert on_graph == line.replace("below.", "on Data.")
