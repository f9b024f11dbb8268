"""The selectors on Parents and Graph, booted through app.py."""

import pandas as pd
import pytest
from app_world import box, forget_results, kept, numbers, texts, wait_until_computed
from made_up import HOSTILE, candidates, finished_run, ordering
from test_pages_ordering import opened

from disco.paper.ocs import select
from disco.paper.settings import Settings
from disco.runs import Run, digests
from disco.selectors import cam, evidence, selection
from disco.simulate import Design, simulate
from disco.subjects.fit import results
from disco.subjects.fit.candidates import compute_candidates, read_candidates
from disco.subjects.fit.figures import selectors as figures
from disco.subjects.fit.results import StoredFit
from pages.shared.evidence.evidence_words import SAME_ROWS

PAGE = "pages/parents/page.py"
ORDER = [f"x{k}" for k in range(1, 9)]


@pytest.fixture
def run() -> Run:
    """Scores made by hand along the true order of a table with known causes."""
    return of_design()


def of_design(settings: Settings | None = None) -> Run:
    known = simulate(Design(nodes=8, rows=500, k=2, seed=4))
    names = dict(zip(known.order, ORDER, strict=True))
    truth = [(names[edge.parent], names[edge.child]) for edge in known.truth.itertuples()]
    return finished_run(ORDER, settings=settings, truth=truth, table=known.table.rename(columns=names)[ORDER])


def shown(app, run: Run, selector: str):
    return app.segmented_control(key=f"selector_{run.id}").set_value(selector).run()


def part(app, name: str):
    """Open a part of the page."""
    return app.segmented_control(key="parents_section").set_value(name).run()


def compute(app, selector: str, where: str = "shown"):
    """Press the button, wait for the thread, and rerun."""
    app.button(key=f"selecting_{where}_{selector}").click().run()
    wait_until_computed()
    return app.run()


@pytest.fixture(autouse=True)
def no_jobs():
    forget_results()


def test_ocs_is_shown_at_first_and_the_others_are_offered(run):
    app = opened(run, PAGE)
    assert app.segmented_control(key=f"selector_{run.id}").value == "ocs" and app.slider
    shown(app, run, "cam")
    assert not app.exception and not app.slider and "CAM has not been computed" in texts(app)
    keys = [button.key for button in app.button if button.key and button.key.startswith("selecting_")]
    assert keys == ["selecting_shown_cam"]
    shown(app, run, "ocs").switch_page("pages/graph/page.py").run()
    assert app.slider and "as this run was fitted" not in texts(app)
    app.switch_page(PAGE)
    shown(app.run(), run, "cam").switch_page("pages/graph/page.py")
    assert "Shown: the edges by OCS, as this run was fitted." in texts(app.run()) and app.slider
    app.switch_page(PAGE)
    app = compute(part(shown(app.run(), run, "ocs"), "Two selectors"), "evidence", "beside")
    assert read_candidates(run, "evidence") is not None and numbers(app)["Both"].isdigit() and SAME_ROWS in texts(app)


@pytest.mark.parametrize("selector", ["cam", "evidence"])
def test_a_selector_is_computed_kept_and_follows_its_cut(selector, run):
    app = compute(shown(opened(run, PAGE), run, selector), selector)
    part(app, "Candidates")
    assert not app.exception
    expected = {"cam": cam.edges, "evidence": evidence.edges}[selector](run.table(), ORDER)
    pd.testing.assert_frame_equal(read_candidates(run, selector), expected, check_dtype=False)
    assert kept(app) == expected["selected"].sum() > 0
    assert len(app.dataframe[0].value) == int(expected["selected"].sum())
    cut = {"cam": 1e-12, "evidence": 20.0}[selector]
    app.select_slider(key=f"cut_{selector}_{run.id}").set_value(cut).run()
    fewer = selection.recut(expected, selector, cut)["selected"].sum()
    assert kept(app) == fewer != expected["selected"].sum()
    assert len(app.dataframe[0].value) == fewer
    app.toggle(key=f"selector_every_{selector}").set_value(True).run()
    assert len(app.dataframe[0].value) == len(expected)
    next(button for button in app.button if button.label.startswith("Back to")).click().run()
    assert kept(app) == expected["selected"].sum()


def test_candidates_that_were_read_before_their_digest_was_written_are_read_again(run):
    count = compute_candidates(run, "cam")["selected"].sum()
    whole = digests.read(run.path)
    digests.write(run.path, {name: digest for name, digest in whole.items() if name != "parents_cam.csv"})
    app = shown(opened(run, PAGE), run, "cam")
    assert "CAM has not been computed" in texts(app)
    digests.write(run.path, whole)
    assert kept(app.run()) == count > 0


def test_two_selectors_are_counted_and_scored(run):
    found = {name: compute_candidates(run, name) for name in ("cam", "evidence")}
    app = part(opened(run, PAGE), "Two selectors")
    by_ocs = selection.of_ocs(StoredFit(run).ocs, *StoredFit(run).thresholds)
    for pair in (("ocs", "evidence"), ("cam", "evidence")):
        one, other = (by_ocs if name == "ocs" else found[name] for name in pair)
        kept = (one[one["selected"]], other[other["selected"]])
        chosen = [set(zip(edges["parent"], edges["child"], strict=True)) for edges in kept]
        words = [selection.WORDS[name].name for name in pair]
        assert numbers(app)["Both"] == str(len(chosen[0] & chosen[1]))
        assert numbers(app)[f"Only {words[0]}"] == str(len(chosen[0] - chosen[1]))
        assert numbers(app)[f"Only {words[1]}"] == str(len(chosen[1] - chosen[0]))
        true = set(zip(run.truth()["parent"], run.truth()["child"], strict=True))
        for name, edges in zip(words, chosen, strict=True):
            f1 = 2 * len(edges & true) / (len(edges) + len(true))
            assert float(numbers(app)[f"F1 of {name}"]) == pytest.approx(f1, abs=5e-3)
        table = app.dataframe[-1].value
        assert set(zip(table["parent"], table["child"], strict=True)) == chosen[0] | chosen[1]
        assert (table["selected_by"] == "both").sum() == len(chosen[0] & chosen[1])
        app.selectbox(key=f"compared_0_{run.id}").set_value("cam").run()
    app.selectbox(key=f"compared_0_{run.id}").set_value("evidence").run()  # the same one twice swaps the two
    assert app.selectbox(key=f"compared_1_{run.id}").value == "cam" and not app.exception
    shown(app, run, "cam").select_slider(key=f"cut_cam_{run.id}").set_value(1e-12).run()
    strict = selection.recut(found["cam"], "cam", 1e-12)["selected"].sum()
    assert int(numbers(app)["Both"]) + int(numbers(app)["Only CAM"]) == strict


def test_what_a_selector_refuses_is_a_sentence_and_hostile_names_are_data():
    run = finished_run(30, truth=None)  # 60 rows
    app = compute(shown(opened(run, PAGE), run, "pcm"), "pcm")
    assert not app.exception and "too many for 30 rows" in app.error[0].value
    run = finished_run(HOSTILE)
    compute_candidates(run, "cam")
    app = shown(opened(run, PAGE), run, "cam")
    assert "None is kept at this cut-off." in texts(app)
    app.select_slider(key=f"cut_cam_{run.id}").set_value(0.2).run()
    assert not app.exception and "<script>" not in texts(app).replace("`<script>alert(1)</script>`", "")


def test_agreement_stands_in_causal_order_and_tells_by_shape():
    order = ["c", "b", "a", "<b>d</b>"]
    table = pd.DataFrame({"parent": ["a", "c", "b"], "child": ["<b>d</b>", "b", "a"]})
    table = table.assign(score_one=[1.0, 2, 3], score_other=[1.0, 2, 3], selected_by=["both", "one", "other"])
    truth = pd.DataFrame({"parent": ["c"], "child": ["b"]})
    fig = figures.agreement(table, order, "ocs", "cam", truth)
    marks = [trace for trace in fig.data if trace.name.split(" (")[0] in ("both", "only OCS", "only CAM")]
    assert len({trace.marker.symbol for trace in marks}) == 3
    assert list(fig.layout.xaxis.categoryarray)[:3] == order[:3] == list(fig.layout.yaxis.categoryarray)[:3]
    assert "&lt;b&gt;d" in fig.layout.xaxis.categoryarray[3] and "agree on 1 of 3 edges" in fig.layout.title.text
    assert [trace.x[0] for trace in marks][1:] == ["b", "a"]


def test_cuts_count_as_the_selector_does(run):
    for selector, choices in (("cam", (1e-8, 1e-3, 0.2)), ("evidence", (0.0, 5.0, 20.0))):
        found = compute_candidates(run, selector)
        fig = figures.cuts(found, selector, choices[1], choices)
        expected = [int(selection.recut(found, selector, cut)["selected"].sum()) for cut in choices]
        assert list(fig.data[0].y) == expected and fig.data[1].y[0] == expected[1] and len(set(expected)) > 1


def test_graph_shows_the_selector_that_the_run_was_fitted_with():
    page = "pages/graph/page.py"
    run = of_design(Settings.of("paper", joint_epochs=1, projection_epochs=1, width=8, selector="cam"))
    found = compute_candidates(run, "cam")
    edges = selection.edges(found, StoredFit(run).ocs, StoredFit(run).thresholds[0])
    results._frames(run.path, ORDER, StoredFit(run).ccs, StoredFit(run).criteria, StoredFit(run).ocs, edges)
    assert StoredFit(run).graph().number_of_edges() == len(edges)
    app = opened(run, page)
    assert not app.slider and any(part.value.startswith(f"**{len(edges)} edge") for part in app.markdown)
    assert "Shown: the edges by CAM, p < 0.001, as this run was fitted." in texts(app)
    box(app, "graph_search").set_value("x5").run()
    assert not app.exception
    other = ORDER[::-1]  # along another order it was not computed
    folder = run.path / "variants" / "constant-clipped"
    folder.mkdir(parents=True)
    scores = candidates(other)
    results._frames(folder, other, *ordering(other), scores, select(scores, 2.0, 1.0), run.path)
    app = opened(run, page)
    app.segmented_control(key=f"variant_{run.id}").set_value("constant-clipped").run()
    assert not app.exception and app.slider and "CAM has not been computed along this order" in texts(app)
