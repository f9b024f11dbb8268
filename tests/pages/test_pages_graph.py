"""The Graph page, booted through app.py."""

import pytest
from app_world import box
from made_up import finished_run
from test_pages_ordering import opened

PAGE = "pages/graph/page.py"


@pytest.mark.parametrize("nodes", [2, 200])
def test_a_run_shows_its_graph(nodes):
    run = finished_run(nodes)
    app = opened(run, PAGE)
    assert any(f"{run.graph().number_of_edges()} edge" in part.value for part in app.markdown)
    assert f"graph_view_{run.id}" not in [found.key for found in app.segmented_control]  # without a refinement


def test_search_shows_parents_children_and_scores():
    run = finished_run(8)
    app = opened(run, PAGE)
    app.slider[0].set_value(0.5).run()
    graph = run.graph(0.5, 1.0)
    node = max(graph, key=graph.degree)
    box(app, "graph_search").set_value(node).run()
    assert not app.exception
    is_ = app.dataframe[0].value.set_index("node")["is"]
    assert set(is_[is_ == "cause"].index) == set(graph.predecessors(node))
    assert set(is_[is_ == "effect"].index) == set(graph.successors(node))
    assert any("Causes" in part.value or "Effects" in part.value for part in app.markdown)
    assert any("Position" in caption.value and "ancestor" in caption.value for caption in app.caption)
    app.segmented_control(key="graph_reach").set_value("1 step").run()
    assert not app.exception
    app.switch_page("pages/parents/page.py").run()
    assert box(app, "parents_child").value == node
