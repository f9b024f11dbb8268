"""The Graph page, booted through app.py."""

import pytest
from app_world import box
from made_up import HOSTILE, finished_run
from test_pages_ordering import opened

PAGE = "pages/graph/page.py"


def test_empty_leads_on():
    app = opened(page=PAGE)
    assert any(button.key == "empty_lead_on" for button in app.button)


@pytest.mark.parametrize("nodes", [2, 6, 200])
def test_a_run_shows_its_graph(nodes):
    run = finished_run(nodes)
    app = opened(run, PAGE)
    edges = run.graph().number_of_edges()
    assert any(part.value.startswith(f"**{edges} edge") for part in app.markdown)


def test_search_shows_parents_children_and_scores():
    run = finished_run(8)
    app = opened(run, PAGE)
    app.slider[0].set_value(0.5).run()
    graph = run.graph(0.5, 1.0)
    node = max(graph, key=graph.degree)
    box(app, "graph_search").set_value(node).run()
    assert not app.exception
    tables = [set(frame.value["node"]) for frame in app.dataframe]
    for expected in (set(graph.predecessors(node)), set(graph.successors(node))):
        assert not expected or expected in tables
    assert any("Position" in caption.value and "ancestor" in caption.value for caption in app.caption)
    app.segmented_control(key="graph_reach").set_value("1 step").run()
    assert not app.exception


def test_the_picked_node_follows_to_the_other_pages():
    app = opened(finished_run(6), PAGE)
    box(app, "graph_search").set_value("x5").run()
    app.switch_page("pages/parents/page.py")
    app.run()
    assert box(app, "parents_child").value == "x5"


def test_hostile_names_are_shown_as_text():
    app = opened(finished_run(HOSTILE), PAGE)
    box(app, "graph_search").set_value(HOSTILE[1]).run()
    assert not app.exception
    texts = [part.value for part in app.markdown] + [part.value for part in app.caption]
    assert any("`<script>alert(1)</script>`" in text for text in texts)
    for text in texts:
        assert "<script>" not in text.replace("`<script>alert(1)</script>`", "")


def test_what_an_edge_means_is_there():
    app = opened(finished_run(4), PAGE)
    assert any("What an edge means" in box.label for box in app.expander)
