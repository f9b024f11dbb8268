"""The search on Graph, booted through app.py: empty, started, running, and its result with the filters."""

import json

import pytest
from app_world import (
    booted,
    box,
    button,
    drafted,
    frame_with,
    poisson,
    press,
    texts,
    unfold,
    written_when_asked,
)
from made_up import finished_run, of_an_older_version, refine_by_hand
from test_pages_ordering import opened

from disco.paper.settings import Settings
from disco.refine import Choice
from disco.runs import create_run
from disco.subjects import REFINE
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement import refine_forecast, refining
from disco.subjects.refinement.refine_forecast import Trial
from disco.work import jobs
from disco.work.turns import Ticket, Wait
from pages.shared.compute import machine
from pages.shared.compute.background import Computation, Slow
from pages.shared.work import monitor

PAGE = "pages/graph/page.py"
ORDER = ["x1", "x2", "x3", "x4", "x5", "x6"]
EDGES = [("x1", "x2"), ("x2", "x3"), ("x3", "x4"), ("x1", "x4"), ("x4", "x6")]


def edges_shown(app) -> set[tuple[str, str]]:
    frame = frame_with(app, "parent")
    return set(zip(frame["parent"], frame["child"], strict=True))


def refined(**more):
    return refine_by_hand(finished_run(6, **more), ORDER, EDGES)


def searched(run):
    """Graph with the edges of the run's search alone."""
    return booted("graph", run=run.id, edges="likelihood")


def test_without_a_refinement_it_is_asked_for(started):
    run = finished_run(4)
    app = opened(run, PAGE)
    assert "highest likelihood" in texts(app)
    for name, value in (("starts", 7), ("seed", 3), ("bound", 2.0)):
        app.number_input(key=f"search_{name}_{run.id}").set_value(value)
    app.toggle(key=f"search_redone_{run.id}").set_value(True)
    press(app, "Start the search")
    assert started == [(run, REFINE, Choice(starts=7, seed=3, bound=2.0, redone=True))]


def going_on(run, **state):
    lock = run.take({"work": "refine"})
    usual = {"state": "running", "stage": "search", "done": 1, "total": 12, "progress": 0.3, "start": "by mean"}
    run.update(REFINE, **{**usual, "sweep": 2, "seconds": 75.0, "choice": {"starts": 4}, **state})
    lines = [["CCS order", 1, -300.0], ["CCS order", 2, -120.0], ["by mean", 1, -150.0], ["by mean", 2, -119.0]]
    (run.path / "refining.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return lock


def test_while_it_goes_on_it_is_shown_and_can_be_cancelled(monkeypatch):
    def progress(words):
        return next(text for found in app.get("progress") if words in (text := found.proto.text.replace("\\", "")))

    cancelled = []
    monkeypatch.setattr(jobs, "cancel", lambda run, work: cancelled.append((run.id, work)))
    run = refined()
    lock = going_on(run, score=-150.0, best=-119.0)
    app = opened(run, PAGE)
    assert "Search 2 of 12, from the order by mean: sweep 2" in progress("Search") and "left" not in progress("Search")
    assert "Best score so far: -119.0 nats" in progress("Search")
    assert edges_shown(app) >= set(EDGES)  # the present graph stays
    assert not any(found.key == "start_search" for found in app.button)
    run.update(REFINE, stage="bootstrap", done=10, total=53, eta=95.0)
    app.run()
    assert "10 of 53" in progress("other rows") and "1.3 to 2.4 min left" in progress("other rows")
    button(app, "Cancel").click().run()
    assert cancelled == [(run.id, REFINE)] and not app.exception
    lock.release()


def test_who_waits_reads_for_what_and_can_start_at_once(monkeypatch):
    started = []
    monkeypatch.setattr(machine, "compiled", lambda: True)
    monkeypatch.setattr(jobs, "start_at_once", lambda run, work: started.append((run.id, work)))
    busy, run = finished_run(4, "the <b> fit"), finished_run(4)
    wait = Wait(Ticket(str(busy.path), "fit"), (Ticket(str(busy.path), "compare", 200.0),))
    monkeypatch.setattr(jobs, "wait_of", lambda run, work: wait)
    lock = going_on(run, state="queued", stage="", progress=0.0)
    app = opened(run, PAGE)
    said = next(found.value for found in app.caption if "Queued" in found.value)
    expected = "Queued behind the fit of the <b> fit: 2nd in the queue."
    assert said.replace("\\", "").endswith(expected) and "<b>" not in said
    button(app, "Start it now anyway").click().run()
    assert started == [(run.id, REFINE)] and not app.exception
    assert button(app, "Cancel")
    assert monitor.queue_words(run, REFINE).endswith("2nd in the queue.")
    monkeypatch.setattr(machine, "compiled", lambda: False)
    told = [found.value for found in app.run().caption]
    assert not any("Preparing" in text for text in told)  # what comes first says so
    monkeypatch.setattr(jobs, "wait_of", lambda run, work: Wait())
    assert any("Preparing the search" in found.value for found in app.run().caption)
    monkeypatch.setattr(machine, "compiled", lambda: True)
    assert monitor.queue_words(run, REFINE) == "Queued."
    app.run()
    assert not any(found.label == "Start it now anyway" for found in app.button)
    lock.release()


@pytest.mark.parametrize(("state", "words"), [("running", "interrupted"), ("failed", "Out of \\<memory\\>")])
def test_what_ended_can_go_on_with_the_same_choice(started, state, words):
    run = finished_run(4)
    error = "Out of <memory>." if state == "failed" else None
    going_on(run, state=state, choice={"starts": 2, "seed": 9}, error=error).release()
    app = opened(run, PAGE)
    assert words in texts(app)
    button(app, "Resume").click().run()
    assert started == [(run, REFINE, Choice(starts=2, seed=9))]


def test_what_was_cancelled_can_be_set_aside_and_the_result_stays():
    run = refined()
    going_on(run, state="cancelled").release()
    app = opened(run, PAGE)
    assert "cancelled" in texts(app) and edges_shown(app) >= set(EDGES)
    button(app, "Discard").click().run()
    assert not app.exception and "cancelled" not in texts(app) and edges_shown(app) >= set(EDGES)
    assert run.status(REFINE).state == "done" and refining.history(run).empty


def test_the_table_lists_the_edges_of_both_methods_with_the_numbers_of_each():
    run = refined(truth=None)
    app = booted("graph", run=run.id, edges="both")
    rows = frame_with(app, "direction_nats").set_index(["parent", "child"])
    fitted = StoredFit(run).edges().set_index(["parent", "child"])
    assert set(EDGES) <= set(rows.index) and rows["gain_nats"].dropna().is_monotonic_decreasing
    only_fitted = rows[rows["found_by"] == "DISCO"]
    assert len(only_fitted) and only_fitted["gain_nats"].isna().all() and not only_fitted["decided"].any()
    assert only_fitted["ocs"].to_dict() == pytest.approx(fitted.loc[only_fitted.index, "ocs"].to_dict())
    decided = {edge: f"{edge[0]} {'→' if row['decided'] else '—'} {edge[1]}" for edge, row in rows.iterrows()}
    assert rows["edge"].to_dict() == decided
    assert "2 searches ended within 10 nats of it" in texts(unfold(app, "graph_curves"))


def test_filters_drive_the_table_and_the_graph_and_are_undone(drawn):
    run = refined(truth=None)
    app = searched(run)
    assert edges_shown(app) == set(EDGES) == set(drawn[-1].edges)
    app.toggle(key=f"graph_only_decided_{run.id}").set_value(True).run()
    assert edges_shown(app) == set(EDGES) - {("x3", "x4")} == set(drawn[-1].edges)
    app.select_slider(key=f"graph_least_gain_{run.id}").set_value(100).run()
    assert edges_shown(app) == {*EDGES[:2], EDGES[3]} == set(drawn[-1].edges)
    app.slider(key=f"graph_least_share_{run.id}").set_value(90).run()
    assert edges_shown(app) == set(EDGES[:2]) == set(drawn[-1].edges) and "**5 edges**, 2 drawn" in texts(app)
    assert list(drawn[-1]) == ORDER  # the nodes stay
    app.button(key="graph_show_all").click().run()
    assert edges_shown(app) == set(EDGES) and app.button(key="graph_show_all").disabled


def test_of_many_edges_the_strongest_are_drawn_and_the_picked_one(drawn):
    names = [f"x{k}" for k in range(1, 14)]
    pairs = [(one, other) for at, one in enumerate(names) for other in names[at + 1 :]]
    run = refine_by_hand(finished_run(13, truth=None), names, pairs)
    app = searched(run)
    assert len(edges_shown(app)) == 78 and set(drawn[-1].edges) == set(pairs[:60])
    assert "**78 edges**, 60 drawn" in texts(app)
    app.session_state["shared_picked_edge"] = {run.id: pairs[-1]}
    app.run()
    assert set(drawn[-1].edges) == {*pairs[:60], pairs[-1]}
    app.slider(key=f"graph_strongest_{run.id}_78").set_value(78).run()
    assert set(drawn[-1].edges) == set(pairs) and "**78 edges** among" in texts(app)
    app.slider(key=f"graph_strongest_{run.id}_78").set_value(9).run()
    refine_by_hand(run, names, pairs[:74])  # as when a search has found others
    assert app.run().slider(key=f"graph_strongest_{run.id}_74").value == 9


def test_a_known_truth_judges_the_edges(drawn):
    run = refined()
    app = searched(run)
    told = {(u, v): values["verdict"] for u, v, values in drawn[-1].edges(data=True)}
    assert told[("x1", "x2")] == "true" and told[("x1", "x4")] == "extra" and told[("x4", "x5")] == "missing"
    assert frame_with(app, "direction_nats")["truth"].tolist() == ["true", "true", "true", "extra", "extra"]
    app.select_slider(key=f"graph_least_gain_{run.id}").set_value(200).run()
    told = {(u, v): values["verdict"] for u, v, values in drawn[-1].edges(data=True)}
    assert ("x1", "x4") not in told and told[("x4", "x5")] == "missing"  # an edge hidden by a filter is not missing
    assert {edge for edge, verdict in told.items() if verdict == "missing"}.isdisjoint(EDGES)


def test_teaching_hides_the_truth_until_it_is_asked_for():
    app = opened(refined(teaching=True), PAGE)
    assert "truth" not in frame_with(app, "direction_nats")
    assert not any(found.key == "graph_lines" for found in app.segmented_control)
    app.button(key="truth_reveal").click().run()
    assert "truth" in frame_with(app, "direction_nats") and not app.exception


def test_a_run_that_was_never_fitted_shows_its_refinement_alone_and_other_pages_lead_to_it():
    run = create_run(finished_run(6).table(), Settings(), name="bare")
    refine_by_hand(run, ORDER, EDGES)
    (of_an_older_version(run).path / "refined_moves.csv").unlink()
    app = opened(run, PAGE)
    assert not any("graph_view" in found.key for found in app.segmented_control)
    assert edges_shown(app) == set(EDGES) and "The order before and after the search" not in _boxes(app)
    assert "The order before and after the search" in _boxes(opened(refined(), PAGE))
    assert any("Searched · bare" in option for option in box(app, "run_picker").options)
    app = opened(run, "pages/ordering/page.py")
    assert {"empty_lead_on", "empty_to_graph"} <= {found.key for found in app.button}
    app = opened(run, "pages/train/page.py")
    assert app.button(key="resume_fit").label == "Fit it" and not any(found.key == "smoothing" for found in app.slider)


def _boxes(app):
    return [box.label for box in app.expander]


def test_without_a_run_the_table_can_be_searched_and_an_old_address_leads_here(started):
    app = opened(page=PAGE)
    assert [found.key for found in app.button if "lead_on" in str(found.key)]
    assert drafted("refine", poisson()).title[0].value == "Graph"
    app = drafted("graph", poisson())
    assert "`t.csv` · 90 rows × 3 columns" in texts(app)
    app.button(key="quick_look").click().run()
    assert not app.exception and [run.id for run, *_ in started] == [app.query_params["run"]]
    assert "No run is open" not in texts(app)


def test_files_hold_the_edges_shown(monkeypatch):
    written = written_when_asked(monkeypatch)
    searched(refined())
    tables = ("_edges.csv", "_verdicts.csv")
    files = {name.rsplit(".", 1)[-1]: text for name, text in written.items() if not name.endswith(tables)}
    assert set(files) == {"svg", "html", "csv", "graphml", "dot", "json"}
    assert '"method": "likelihood refinement"' in files["json"]
    lines = [line for line in files["csv"].splitlines() if not line.startswith("# DISCO ")]
    assert len(lines) == len(EDGES) + 1 and "gain_nats" in lines[0] and "verdict" not in lines[0]


@pytest.mark.timed
def test_the_page_tells_the_range_beside_the_button(monkeypatch):
    monkeypatch.setattr(refine_forecast, "crowding", lambda device: 1.0)
    for pairs, is_long in ((20, False), (5000, True)):
        done = Computation(state="done", result=Trial(1000, 10, pairs, 12, 9.0, pace=1.0, threads=1))
        monkeypatch.setattr(Slow, "begin", lambda slow, done=done: slow.keep(done))
        app = opened(finished_run(4), PAGE)
        (said,) = [caption.value for caption in app.caption if "The search takes about" in caption.value]
        assert ("Fewer columns or rows make it shorter. Set Bootstrap tables" in said) == is_long
        assert not app.error


@pytest.mark.timed
def test_the_page_tells_that_the_memory_is_too_small(monkeypatch):
    done = Computation(state="done", result=Trial(1000, 10, 20, 12, 9.0, pace=1.0, threads=1))
    monkeypatch.setattr(Slow, "begin", lambda slow: slow.keep(done))
    monkeypatch.setattr("pages.shared.work.fit_start.free_bytes", lambda device: 10_000_000)
    (said,) = opened(finished_run(4), PAGE).error
    assert said.value == "It needs about 62 MB of memory, but 10 MB are free. Use fewer columns or rows."
