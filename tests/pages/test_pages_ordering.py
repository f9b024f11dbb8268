"""The Ordering page, booted through app.py."""

import json
import re
from functools import partial
from types import SimpleNamespace

import pandas as pd
import pytest
from app_world import booted, box, texts
from made_up import finished_run, of_an_older_version, refine_by_hand
from streamlit.testing.v1 import AppTest

from disco import runs
from disco.files import write_frame
from disco.paper.settings import Settings
from disco.subjects import FIT
from disco.subjects.fit import network_cache, results
from disco.subjects.fit.execution import execute
from disco.subjects.fit.results import StoredFit
from pages.ordering import sections
from pages.shared.graph import downloads

PAGE = "pages/ordering/page.py"


def opened(run: runs.Run | None = None, page: str = PAGE) -> AppTest:
    return booted(page.split("/")[1], **({} if run is None else {"run": run.id}))


def section(app: AppTest, name: str) -> AppTest:
    """Open a section of Ordering."""
    app.segmented_control(key="ordering_section").set_value(name).run()
    assert not app.exception, app.exception
    return app


@pytest.fixture
def fitted_run(small_table) -> runs.Run:
    """A tiny fit with networks."""
    tiny = Settings.of("paper", joint_epochs=2, projection_epochs=2, width=8, folds=2)
    run = runs.create_run(small_table[["a", "b", "c"]], tiny, name="tiny")
    execute(run)
    assert run.status(FIT).state == "done"
    return run


def test_an_order_that_the_search_contradicts_says_so():
    run = refine_by_hand(finished_run(6), ["x6", "x5", "x4", "x3", "x2", "x1"])
    (said,) = [box.value for box in opened(run).warning]
    assert said.startswith("**Order: unclear.** ") and "the ends of all 5 edges the other way round" in said
    assert "the other way round" not in texts(opened(refine_by_hand(run)))


def test_a_run_shows_its_steps():
    app = opened(finished_run(6, truth=None))
    assert "Order, CSV" in [button.proto.label for button in app.get("download_button")]
    assert downloads.placed(["x2", "x1"]).to_dict("list") == {"position": [1, 2], "node": ["x2", "x1"]}
    assert len(app.metric) == 4 and app.metric[0].value == "x6"
    app.slider[0].set_value(3).run()
    assert not app.exception and app.metric[0].value == "x4"
    app.button(key="step_forth").click().run()
    assert app.metric[0].value == "x3"
    (found,) = [box.value for kind in ("success", "info", "warning") for box in getattr(app, kind)]
    assert re.search(
        r"Order: (clear|partly clear|unclear)\.\*\* The folds agree on the position of \d of \d nodes with parents",
        found,
    )
    assert "truth" not in app.segmented_control(key="ordering_section").options
    charts = {name: [c.key for c in section(app, name).get("plotly_chart")] for name in ("steps", "criteria", "why")}
    drawn = {"steps": ["order_ranking", "step_scores"], "criteria": ["order_ranking", "criteria"]}
    assert charts == {**drawn, "why": ["order_ranking"]}  # only the open section
    assert any("networks" in info.value for info in app.info)  # which this run lacks


def test_what_knowledge_and_experiments_cost_the_order():
    """Where another node than the first was taken out, its rank and the first stand in a table."""
    free, bound, tried = (of_an_older_version(finished_run(5, truth=None)) for _ in range(3))
    for run in (free, bound):
        (run.path / "knowledge.json").write_text('{"tiers": [["x1"], ["x5"]]}')
    ccs = pd.read_csv(bound.path / "ccs.csv")
    ccs.loc[(ccs["step"] == 1) & ccs["chosen"].astype(bool), "score"] = ccs["score"].max() + 1
    ccs.to_csv(bound.path / "ccs.csv", index=False)
    assert "changed none of the 4 steps" in texts(opened(free))
    app = opened(bound)
    assert any("At 1 of 4 steps" in box.label for box in app.expander)
    assert app.dataframe[0].value.iloc[0][["step", "node", "rank"]].tolist() == [1, "x5", 5]
    write_frame(tried.path / "ocs.csv", StoredFit(tried).ocs.assign(rule="free", source="experiment"))
    assert "experiments changed none of the 4 steps." in texts(opened(tried))


def test_play_goes_on_by_itself_and_stops_at_the_end(monkeypatch):
    from pages.ordering import step_player

    clock = iter(range(0, 10_000, 2))
    monkeypatch.setattr(step_player.time, "monotonic", lambda: float(next(clock)))
    app = opened(finished_run(4, truth=None))
    app.button(key="step_play").click().run()
    seen = [app.metric[0].value]
    for _ in range(6):
        app.run()
        seen.append(app.metric[0].value)
    assert not app.exception and seen[-1] == "x2" and "x3" in seen and not app.session_state["ordering_playing"]


def test_a_click_in_the_ranked_picture_opens_the_step(monkeypatch):
    run = finished_run(6, truth=None)
    result = SimpleNamespace(order=StoredFit(run).order, steps=range(5), run=run, variant=results.own_variant(run))
    opened_steps, picked = [], []
    monkeypatch.setattr(sections, "_to_step", lambda result, step: opened_steps.append(step))
    monkeypatch.setattr(sections.canvas, "pick", picked.append)
    for node in (*StoredFit(run).order, "<b>", None):
        monkeypatch.setattr(sections.figure, "clicked", lambda key, node=node: node)
        sections._open_clicked(result)
    assert opened_steps == [5, 4, 3, 2, 1] and picked == StoredFit(run).order[1:]  # the first node was never removed


def test_of_a_long_order_a_part_is_drawn_and_the_search_goes_to_a_node(monkeypatch):
    monkeypatch.setattr(sections, "MOST_RANKED", 8)
    monkeypatch.setattr(sections, "_ROWS_IN_SIGHT", 6)
    app = opened(finished_run(30, truth=None))

    def drawn() -> list[str]:
        (chart,) = [found for found in app.get("plotly_chart") if found.key == "order_ranking"]
        return json.loads(chart.proto.spec)["layout"]["yaxis"]["ticktext"]

    assert [drawn()[0], drawn()[-1], len(drawn())] == ["1  x1", "8  x8", 8]
    box(app, "ordering_search").set_value("x20").run()
    assert drawn().index("<b>20  x20</b>") == 5 and len(drawn()) == 8
    box(app, "ordering_search").set_value("x30").run()
    assert [drawn()[0], drawn()[-1]] == ["25  x25", "<b>30  x30</b>"]
    app.slider[0].set_value(3).run()
    assert not app.exception and [drawn()[0], drawn()[-1]] == ["3  x3", "10  x10"]
    assert len(opened(finished_run(8, truth=None)).slider) == 1  # a short order has only the slider of its steps


def test_the_largest_file_of_a_fit_is_read_only_where_it_is_drawn_and_pages_say_which_rows_it_used():
    run = finished_run(5, truth=None)
    (run.path / "criteria.csv").unlink()
    run.update(FIT, notes=["The 600 rows without an intervention were used."])
    for page in ("ordering", "parents", "graph", "train"):
        app = booted(page, run=run.id)
        assert not app.error and (app.get("plotly_chart") or page in ("graph", "train")), page
        assert ("600 rows without an intervention were used" in texts(app)) or page == "graph"


def test_curvature_and_another_criterion_from_the_networks(fitted_run):
    app = section(opened(fitted_run), "why")
    assert any("variance within ranks" in caption.value for caption in app.caption)
    section(app, "again").button(key="variant_constant-admissible").click().run()
    for _ in range(100):
        app.run()
        if "constant-admissible" in results.variants(fitted_run):
            break
    app.run()
    assert not app.exception and "constant-admissible" in results.variants(fitted_run)
    app.button(key="variant_show_constant-admissible").click().run()
    assert not app.exception and app.session_state["shared_variant"] == {fitted_run.id: "constant-admissible"}
    assert any("same order" in caption.value for caption in app.caption)


def test_the_curvature_gives_the_score_that_was_saved(fitted_run):
    from disco.subjects.fit.figures import row_curvature as by_rank

    ccs = StoredFit(fitted_run).ccs
    first = ccs[ccs["step"] == 1]
    for node, scores in first.groupby("node"):
        frame = network_cache.fitted(fitted_run).curvature(node, first["node"].unique())
        within = by_rank.parts(frame, fitted_run.settings.min_level_rows, admissible_only=False).within
        assert within == pytest.approx(scores["score"].mean(), rel=1e-3, abs=1e-9)


def test_a_recovery_can_be_cancelled(fitted_run):
    from pages.shared.compute import background
    from pages.shared.result import fit

    job = background.Computation()
    job.cancel()
    job.do(partial(fit.recover, [(fitted_run, "ccs-admissible")]), "It could not be done")
    assert job.state == "stopped" and "ccs-admissible" not in results.variants(fitted_run)
    assert job.stage == "ordering" and job.progress > 0
