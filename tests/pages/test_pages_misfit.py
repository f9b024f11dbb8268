"""How far to trust arrows, on the pages: misfit at the top, per node and in the graph, and words on directions."""

import re

import numpy as np
from app_world import box, frame_with, numbers, texts, written_when_asked
from made_up import finished_run, of_an_older_version, refine_by_hand
from test_pages_graph_search import EDGES, ORDER, PAGE, searched
from test_pages_ordering import opened

from disco.graph.draw import picture as drawing
from disco.refine import Choice
from disco.refine.finished import _missed
from disco.runs import artefacts
from disco.subjects.refinement.refined import read_refined, save
from disco.table.finding import Finding

BAD = {"x2": 152.0, "x5": 31.0}
POOR = "poorly fitted"


def refined(**more):
    return refine_by_hand(finished_run(6, truth=None), ORDER, EDGES, **more)


def warned(app) -> str:
    return "\n".join(part.value for part in app.warning)


def test_a_table_that_the_model_does_not_fit_is_warned_of_on_top_and_once(drawn):
    run = refined(misfit=BAD)
    app = opened(run, PAGE)
    assert "No direction is decided" in warned(app) and "2 of 6 nodes" in warned(app)
    said = texts(app)
    assert said.count("2 of 6 nodes") == 1
    assert said.index("`x2` (152 nats)") < said.index("`x5` (31.0 nats)")
    assert not frame_with(app, "robust_nats")["decided"].any()
    box(app, "graph_edge").set_value(EDGES[3]).run()
    assert "no direction of this table is decided" in texts(app)
    assert [node for node in drawn[-1] if drawing.is_missed(drawn[-1], node)] == ["x2", "x5"]


def test_a_poor_verdict_is_a_banner_beside_artefacts_too_as_in_the_file(monkeypatch):
    written, run = written_when_asked(monkeypatch), refined(misfit=BAD)
    artefacts.write(run.path, artefacts.Artefacts((Finding("serial", "Rows depend on their neighbours.", "Adjust."),)))
    app = opened(run, PAGE)
    verdict = warned(app).removeprefix("**Directions: all open.** ")
    assert "2 of 6 nodes are poorly" in verdict and verdict.endswith("No direction is decided.")
    assert verdict in written["made_up_edges.csv"]
    box(app, "graph_edge").set_value(EDGES[3]).run()
    assert re.search(rf"not known\. .* nats for `{EDGES[3][0]}` → `{EDGES[3][1]}`, but something", texts(app))


def test_the_pages_of_the_fit_say_so_too():
    run = refined(misfit=BAD)
    assert "does not fit 2 of 6 nodes" in texts(opened(run, "pages/ordering/page.py"))
    said = texts(opened(run, "pages/parents/page.py"))  # in Graph's verdict, and once
    assert "2 of 6 nodes are poorly fitted" in said and "does not fit 2 of 6" not in said
    for page in ("parents", "graph"):
        app = opened(refined(), f"pages/{page}/page.py")
        assert "does not fit" not in texts(app) and POOR not in warned(app)


def test_heads_that_verdicts_show_are_not_offered_again():
    for truth in (None, EDGES[:2]):
        run = refine_by_hand(finished_run(6, truth=truth), ORDER, EDGES, misfit=BAD)
        offered = [one.key for one in opened(run, PAGE).toggle]
        assert ("graph_heads" in offered) is (truth is None)


def test_directions_that_knowledge_fixes_are_excepted():
    run = refined(misfit=BAD)
    found = read_refined(run)
    edges = found.edges.assign(rule=["required", *["free"] * (len(EDGES) - 1)])
    edges = edges.assign(decided=edges["rule"] == "required", source=["knowledge", *[""] * (len(EDGES) - 1)])
    edges["class_decides"] = False
    save(run.path, found.having(edges=edges), Choice())
    app = searched(run)
    shown = " ".join(texts(app).split())
    assert (
        f"1 of {len(EDGES)} directions is known: 1 by knowledge." in shown and "No other direction is decided." in shown
    )
    box(app, "graph_edge").set_value(EDGES[3]).run()
    assert "no direction of this table is decided, except one that knowledge fixes." in texts(app)
    box(app, "graph_edge").set_value(EDGES[0]).run()
    assert "known from the knowledge given. It allows only this direction." in texts(app)


def test_the_note_of_the_engine_is_not_said_twice_and_a_node_that_could_not_be_measured_comes_first():
    run = refined(misfit=BAD | {"x3": np.nan})
    found = read_refined(run)
    (note,) = _missed(found.nodes)
    save(run.path, found.having(notes=(note, "Mind the gap.")), Choice())
    app = opened(run, PAGE)
    assert "Mind the gap" in warned(app) and warned(app).count(POOR) == 1
    assert "`x3` (not available), `x2` (152 nats)" in texts(app)


def test_an_older_refinement_says_what_it_lacks():
    run = refined()
    (of_an_older_version(run).path / "refined_nodes.csv").unlink()
    app = opened(run, PAGE)
    assert any("older version" in info.value for info in app.info)
    box(app, "graph_edge").set_value(EDGES[0]).run()
    assert "by an older version with fewer rules" in texts(app)
    box(app, "graph_search").set_value("x2").run()
    assert not app.exception and "Misfit, nats" not in numbers(app)


def test_the_graph_page_marks_nodes_and_tells_their_misfit(drawn):
    app = opened(refined(misfit=BAD), PAGE)
    assert "No direction is decided" in warned(app)
    assert [node for node in drawn[-1] if drawing.is_missed(drawn[-1], node)] == ["x2", "x5"]
    box(app, "graph_search").set_value("x2").run()
    assert numbers(app)["Misfit, nats"] == "152" and "This node is poorly fitted" in warned(app)
    box(app, "graph_search").set_value("x1").run()
    assert numbers(app)["Misfit, nats"] == "0" and "This node is" not in warned(app)
    bare = opened(finished_run(6), PAGE)
    box(bare, "graph_search").set_value("x2").run()
    assert not bare.exception and not drawing.is_missed(drawn[-1], "x2")


def test_the_graph_page_does_without_a_refinement_that_cannot_be_read():
    run = refined(misfit=BAD)
    (run.path / "refined_nodes.csv").write_text("torn")
    app = opened(run, PAGE)
    assert not app.exception and POOR not in warned(app)
