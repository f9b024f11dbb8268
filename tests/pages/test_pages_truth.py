"""A known truth on the result pages: shown if there is one, and for teaching hidden until it is asked for."""

import pytest
from app_world import box, frame_with, numbers, texts, written_when_asked
from made_up import finished_run
from test_pages_ordering import opened, section

from disco.graph.dag import FORMATS, export
from disco.subjects.fit.results import StoredFit
from disco.subjects.graph.provenance import about
from pages.shared.result.truth import TruthComparison

PAGES = ("ordering", "parents", "graph")
# Along x1 … x6 the second edge runs against the order; the first is found at any low threshold, the third never.
EDGES = [("x1", "x4"), ("x5", "x2"), ("x3", "x6")]


def page(name: str) -> str:
    return f"pages/{name}/page.py"


def test_the_order_is_held_against_the_truth_beside_the_controls():
    app = section(opened(finished_run(6, truth=EDGES)), "truth")
    assert "DISCO's order puts the parent first in 66.7% of the true edges" in texts(app)
    assert "% by variance − mean." in texts(app)
    app.button(key="first_wrong").click().run()
    assert not app.exception and app.slider[0].value == 2 and numbers(app)["Removed as sink"] == "x5"
    assert "its true child was still there, `x2`." in texts(app)
    app = section(opened(finished_run(6)), "truth")
    assert "DISCO's order puts the parent first in 100% of the true edges. Sorting" in texts(app)
    assert not any(button.key == "first_wrong" for button in app.button)


def test_parents_are_held_against_the_truth():
    run = finished_run(6, truth=EDGES)
    app = opened(run, page("parents"))
    for tau_z in (0.5, 1.5):
        app.slider[0].set_value(tau_z).run()
        found = len(StoredFit(run).edges(tau_z, 1.0))
        assert numbers(app)["Recall"] == "0.333"
        assert float(numbers(app)["Precision"]) == pytest.approx(1 / found, abs=5e-3)
        assert numbers(app)["SHD"] == str(found - 1 + 2)
    assert "DISCO's order puts the parent first in 66.7% of the true edges" in texts(app)
    app.segmented_control(key="parents_section").set_value("Against the truth").run()
    assert any(f"F1 is {float(numbers(app)['F1']):.3f} at τ" in part.value.replace("\\", "") for part in app.markdown)
    app.segmented_control(key="parents_section").set_value("One child").run()
    box(app, "parents_child").set_value("x2").run()
    assert "as the order puts `x2` first: `x5`" in texts(app)


def test_edges_are_counted_and_drawn_by_verdict(drawn):
    run = finished_run(6, truth=[*EDGES, ("x4", "x1"), ("x5", "x1")])
    app = opened(run, page("graph"))
    app.slider[0].set_value(0.5).run()
    found = StoredFit(run).graph(0.5, 1.0)
    shown = numbers(app)
    # x1 → x5 is found but reversed; x1 → x4 is true, though the truth has the reverse as well.
    assert (shown["True"], shown["Reversed"], shown["Missing"]) == ("1", "1", "2")
    assert int(shown["Extra"]) == found.number_of_edges() - 2
    assert "3 true edges cannot be found at any threshold" in texts(app)
    assert drawn[-1].edges["x5", "x2"]["verdict"] == "missing" and drawn[-1].edges["x1", "x5"]["verdict"] == "reversed"
    box(app, "graph_search").set_value("x2").run()
    row = frame_with(app, "is").set_index("node").loc["x5"]
    assert row["verdict"] == "missing" and row["frequency"] != row["frequency"]  # it has no score
    app.toggle(key="graph_missing").set_value(False).run()
    assert set(drawn[-1].edges) == set(found.edges)
    app.segmented_control(key="graph_lines").set_value("folds").run()
    assert not any("verdict" in values for *_, values in drawn[-1].edges(data=True))
    app.switch_page(page("parents")).run()
    assert not any("verdict" in values for *_, values in drawn[-1].edges(data=True))


def test_edges_whose_direction_cannot_be_known_are_right_either_way(drawn):
    """The same edges twice, once with every direction known: they differ only in edges against the order."""
    said = "2 of 3 true edges have a direction that cannot be known"
    for free in (True, False):
        told = ["unknown" if free else "known", "unknown" if free else "known", "not proved"]
        run = finished_run(6, truth=[(*edge, one) for edge, one in zip(EDGES, told, strict=True)], teaching=True)
        assert run.truth()["direction"].tolist() == told
        app = opened(run, page("graph"))
        app.button(key="truth_reveal").click().run()
        app.slider[0].set_value(-9 if free else 0.5).run()
        shown = numbers(app)
        assert (said in texts(app)) == free and ("Either way" in shown) == free
        app.switch_page(page("ordering"))
        section(app.run(), "truth")
        assert f"DISCO's order puts the parent first in {'100' if free else '66.7'}% of the true edges" in texts(app)
        assert any(button.key == "first_wrong" for button in app.button) != free
        app.switch_page(page("parents")).run()
        assert not app.exception and (said in texts(app)) == free


def test_files_hold_the_edges_found_and_the_verdicts_apart(monkeypatch):
    written = written_when_asked(monkeypatch)
    run = finished_run(6, truth=EDGES)
    opened(run, page("graph"))
    apart = written.pop(next(name for name in written if name.endswith("_verdicts.csv")))
    assert "missing" in apart and "extra" in apart
    assert "verdict" not in written.pop(next(name for name in written if name.endswith("_edges.csv")))
    files = {name.rsplit(".", 1)[-1]: text for name, text in written.items()}
    assert files.pop("svg").startswith("<svg ") and files.pop("html").startswith("<!doctype html>")
    how = {"order": "ccs-clipped", "parent_rule": "iqr", "tau_z": 2.0, "pi_min": 1.0}
    assert files == {kind: export(StoredFit(run).graph(), kind, about(run, "DISCO", **how)) for kind in FORMATS}


@pytest.mark.parametrize("name", PAGES)
def test_an_empty_truth_and_one_that_names_other_columns_are_no_error(name):
    assert "every edge found is extra" in texts(opened(finished_run(5, truth=[]), page(name)))
    app = opened(finished_run(5, truth=[("x1", "x3"), ("<b>u</b>", "x2"), ("x4", "w")]), page(name))
    (said,) = [warning.value for warning in app.warning if "truth" in warning.value]
    assert "names `<b>u</b>`, which is not among its columns; 2 true edges are left out" in said
    if name == "graph":
        assert int(numbers(app)["True"]) + int(numbers(app)["Missing"]) == 1


def seen(app) -> list[str]:
    """All texts, buttons, numbers and figures of a page."""
    said = [f"{metric.label} {metric.value} {metric.help}" for metric in app.metric]
    said += [f"{button.label} {button.help}" for button in app.button]
    said += [f"{chart.proto.spec}" for chart in app.get("plotly_chart")]
    return [*texts(app).splitlines(), *said]


@pytest.mark.parametrize("name", PAGES)
def test_a_hidden_truth_leaves_no_trace(name, monkeypatch, drawn):
    secret = finished_run(6, name="same", truth=EDGES, teaching=True)
    plain = finished_run(6, name="same", truth=None)
    for part in ("a_top", "controls", "wrong_removals", "order_errors", "accuracy", "curve", "met", "verdicts"):
        monkeypatch.setattr(TruthComparison, part, property(lambda self: pytest.fail("a hidden truth was used")))
    hidden, without = opened(secret, page(name)), opened(plain, page(name))
    added = [line for line in seen(hidden) if line not in seen(without)]
    assert added == [":material/visibility_off: The truth of this table is hidden.", "Reveal the truth "]
    assert [line for line in seen(without) if line not in seen(hidden)] == []
    assert not any("verdict" in values for graph in drawn for *_, values in graph.edges(data=True))


def test_revealing_shows_all_pages_and_hiding_takes_it_back():
    run = finished_run(6, truth=EDGES, teaching=True)
    app = opened(run, page("graph"))
    assert "Missing" not in numbers(app)
    app.button(key="truth_reveal").click().run()
    assert not app.exception and "Missing" in numbers(app)
    assert "Missing" not in numbers(opened(run, page("graph")))  # another reader
    app.switch_page(page("ordering"))
    section(app.run(), "truth")
    assert "A_top: DISCO's order" in texts(app)
    app.switch_page(page("data")).run()
    assert "3 true edges known" in texts(app)
    app.button(key="truth_hide").click().run()
    assert "true edge" not in texts(app)
    app.switch_page(page("parents")).run()
    assert "Precision" not in numbers(app)


def test_a_truth_once_shown_is_shown_for_a_part_of_its_columns():
    first = finished_run(6, truth=EDGES, teaching=True)
    app = opened(first, page("graph"))
    app.button(key="truth_reveal").click().run()
    part = finished_run(["x1", "x3", "x4", "x6"], truth=[("x1", "x4"), ("x3", "x6")], teaching=True)
    other = finished_run(["x1", "x3", "x4", "x6"], truth=[("x4", "x1")], teaching=True)
    app.run()  # the list of runs picks them up
    for run, is_shown in ((part, True), (other, False)):
        box(app, "run_picker").set_value(run.id).run()
        assert ("Missing" in numbers(app)) == is_shown
