"""The parts of Graph that show the fitted model, each on a separate page."""

import os
import re

import numpy as np
import pandas as pd
import pytest
from app_world import forget_results, texts, wait_until_computed
from made_up import HOSTILE, edges_of, finished_run, of_an_older_version
from streamlit.testing.v1 import AppTest

from disco import runs
from disco.columns import OF_DIRECTION
from disco.graph.result import GraphResult
from disco.paper.settings import Settings
from disco.refine import Choice, Refined
from disco.subjects import stamps
from disco.subjects.refinement import refined as stored
from pages.graph import checks
from pages.shared.compute import machine
from pages.shared.compute.background import Slow
from pages.shared.compute.cache import results
from pages.shared.evidence import evidence_words
from pages.shared.widgets.names import code

NAMES = ("a", HOSTILE[1], HOSTILE[2], "d")


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setattr(machine, "compiled", lambda: True)


def table(rows=400):
    random = np.random.default_rng(0)
    a = random.poisson(2.0, rows)
    b = random.poisson(0.4 + 0.9 * a)
    c = random.negative_binomial(2, 2 / (2.4 + 0.5 * b))
    return pd.DataFrame(dict(zip(NAMES, (a, b, c, random.integers(0, 2, rows)), strict=True)))


def refined_run(settings=None, fitted=False, frame=None, misfit=0.0) -> runs.Run:
    """A run with a refinement written by hand: a → b → c and a → c, the first edge decided; the misfit of "a"."""
    if fitted:
        run = finished_run(list(NAMES), truth=None)
        frame = run.table()
    else:
        frame = table() if frame is None else frame
        run = runs.create_run(frame, settings or Settings.of("paper"), name="counts only")
    edges = edges_of(
        [
            (NAMES[0], NAMES[1], 120.0, 130.0, 110.0, 30.0, 12.0, 3.0, 0.5, True, "class", True, 1e-50, 1.0, 0.9),
            (NAMES[1], NAMES[2], 24.0, 28.0, 13.0, 1.5, 1.5, -0.2, 0.5, False, "", False, 0.0, 2 / 3, np.nan),
            (NAMES[0], NAMES[2], 20.0, 23.0, 16.0, 19.0, 2.0, 1.0, 0.5, False, "", False, 1e-3, 1.0, 0.5),
        ]
    )
    starts = pd.DataFrame([("by mean", 1, -10.0)], columns=["start", "sweep", "score"])
    nodes = pd.DataFrame({"node": list(frame.columns), "levels": 9, "misfit_nats": 0.0, "misfit_per_row": 0.0})
    nodes.loc[0, ["misfit_nats", "misfit_per_row"]] = misfit, misfit / len(frame)
    found = Refined(GraphResult(list(frame.columns), edges, misfit=nodes), starts, "by mean", -10.0, 3, 7)
    stored.save(run.path, found, Choice(bootstrap=10, folds=3))
    return run


def part(function: str, run: runs.Run, *arguments: str) -> AppTest:
    """One part on a separate page."""

    def page(function, path, arguments):  # noqa: ANN001, ANN202
        from pathlib import Path

        from disco.runs import Run
        from disco.subjects.refinement.refined import read_refined
        from pages.graph import checks
        from pages.shared.evidence import evidence_panel

        run, parts = Run(Path(path)), checks if function == "model_check" else evidence_panel
        refined = read_refined(run)
        if function == "kind_details":
            evidence_panel.neighbours(refined.graph(), *arguments, run, refined)
            evidence_panel.neighbour_numbers(refined.graph(), *arguments, evidence_panel.OF_REFINED)
        getattr(parts, function)(run, refined, *arguments)

    app = AppTest.from_function(page, args=(function, str(run.path), arguments), default_timeout=60).run()
    assert not app.exception, app.exception
    return app


def figures(app: AppTest) -> int:
    return len(app.get("plotly_chart"))


def test_an_edge_has_its_curve_and_evidence():
    app = part("edge_details", refined_run(), NAMES[0], NAMES[1])
    said = texts(app)
    assert "30.0 nats for `a` → `" in said and "9 of 10 bootstrap tables" in said and "3 of 3 fits" in said
    assert "DISCO" not in said and "no hidden common causes" in said
    assert [metric.value for metric in app.metric] == ["120", "30.0", "12.0", "90%", "1.00·10⁻⁵⁰"] and figures(app) == 1


def test_an_open_direction_is_called_so():
    run = refined_run()
    said = texts(part("edge_details", run, NAMES[1], NAMES[2]))
    assert "**Direction:** not known. Only 1.50 nats for `" in said and "2 of 3 fits" in said
    assert "**Not available**: stability." in said and "of 10 bootstrap" not in said
    # Of ten tables, seven can show the edge, and five of these have it.
    assert "71% of the bootstrap tables" in evidence_words.repeats(run, {"bootstrap": 5 / 7, "folds": 1.0})


@pytest.mark.parametrize(
    ("changes", "missed", "words"),
    [
        ({"decided": True}, {}, "**Direction:** known from the counts. 30.0 nats for `a` → `"),
        ({}, {}, "another search that ended nearly as high"), ({"direction_nats": np.nan}, {}, "not computed"),
        ({"direction_nats": 3.0, "robust_nats": 3.0}, {"a": 90.0}, "Only 3.00 nats for"),
        ({"direction_nats": -2.0, "robust_nats": -2.0}, {}, "The counts lean the other way, 2.00 nats for `"),
        ({"robust_nats": 4.0}, {}, "only 4.00 if nodes may have other kinds of distribution"),
        ({"linear_nats": -6.0}, {"a": 90.0}, "with every effect linear the reversed edge gains 6.00"),
        ({"linear_nats": np.nan}, {}, "not computed"), ({}, {"a": 10.0}, "requires 40.0"),
        ({}, {"a": np.nan}, "the misfit of `a` and"), ({}, {"d": 3.0}, "1 of 4 nodes is poorly fitted"),
    ],
)  # fmt: skip # a table
def test_the_first_rule_that_fails_is_named(changes, missed, words):
    run = refined_run()
    found = stored.read_refined(run)
    misfit = found.nodes["node"].map(missed).where(found.nodes["node"].isin(missed), 0.0).astype(float)
    found = found.having(misfit=found.nodes.assign(misfit_nats=misfit, is_poor=~(misfit < 3)))
    row = {**found.edges.iloc[0].to_dict(), "decided": False, **changes}
    assert words in evidence_words.direction(run, found, row)
    older = found.having(misfit=None)
    assert "older version" in evidence_words.direction(run, older, row)


def test_the_evidence_on_a_direction_part_by_part():
    app = part("edge_details", refined_run(misfit=10.0), NAMES[0], NAMES[1])
    rows = app.dataframe[0].value.set_index("part")
    labels = [column.label for column in OF_DIRECTION]
    nats = rows["nats"].to_dict()
    assert labels == list(rows.index)[:-2] and [nats[label] for label in labels[:3]] == [30.0, 12.0, 3.0]
    assert rows["nats"].tolist()[-2:] == [10.0, 0.0]
    assert rows.loc[f"Misfit of {NAMES[0]}, the parent", "asked"] == "direction ≥ 40.0"


def test_misfit_forwards_and_turned_is_measured_once_when_asked(monkeypatch):
    from disco.likelihood import misfit

    asked, original = [], misfit.misfits

    def counted(design, pairs, **more):  # noqa: ANN001, ANN202
        asked.append(pairs)
        return original(design, pairs, **more)

    monkeypatch.setattr(misfit, "misfits", counted)
    app = part("edge_details", refined_run(), NAMES[1], NAMES[2])
    assert not asked
    app.button(key="refined_reversed_misfit").click().run()
    assert not app.exception
    app.run()
    found = app.dataframe[-1].value
    assert found["node"].tolist() == [NAMES[1], NAMES[2]] and list(found) == ["node", "forwards", "reversed"]
    assert (found[["forwards", "reversed"]].to_numpy() >= 0).all()
    # b and c, then their other parents: a of b, b and a of c; if the edge is reversed, c joins the parents of b.
    assert asked == [[(0, [2]), (1, [2, 0])], [(0, [2, 1]), (1, [2])]]
    assert "refined_reversed_misfit" not in {button.key for button in app.button}


def test_the_misfit_of_a_node_and_what_it_means():
    app = part("kind_details", refined_run(misfit=44.0), NAMES[0])
    assert {metric.label: metric.value for metric in app.metric} == {"Misfit, nats": "44.0", "Misfit per row": "0.110"}
    assert "its arrows are hypotheses" in texts(app)
    good = part("kind_details", refined_run(), NAMES[0])
    assert good.metric[0].value == "0" and "hypotheses" not in texts(good)
    run = refined_run(misfit=np.nan)
    assert "hypotheses" in texts(part("kind_details", run, NAMES[0]))
    (of_an_older_version(run).path / "refined_nodes.csv").unlink()
    assert not part("kind_details", run, NAMES[0]).metric


def test_the_fit_of_the_run_is_quoted_where_there_is_one():
    run = refined_run(fitted=True)
    assert "DISCO's result has this edge: OCS" in texts(part("edge_details", run, NAMES[0], NAMES[1]))
    assert "without an edge between them" in texts(part("edge_details", run, NAMES[1], NAMES[2]))


def test_an_edge_that_is_not_there():
    run = refined_run()
    assert "no edge" in texts(part("edge_details", run, NAMES[1], NAMES[0]))


def test_a_node_in_words_with_its_neighbours():
    run = refined_run()
    app = part("kind_details", run, NAMES[2])
    assert "Over\\-dispersed" in texts(app) and "Given its parents" in texts(app)
    assert app.dataframe[0].value["node"].tolist() == [NAMES[1], NAMES[0]]  # strongest first
    assert app.dataframe[0].value["is"].tolist() == ["not known"] * 2 and figures(app) == 1
    assert f"{code(NAMES[1])}: higher where {code(NAMES[2])} is higher." in texts(app)
    assert "**Causes**" not in texts(app) and "**Effects**" not in texts(app)
    two = part("kind_details", run, "d")
    assert "Two values only" in texts(two) and figures(two) == 0 and "no parents" in texts(two)


def test_causes_and_effects_are_told_in_the_units_of_the_table():
    frame = table()
    frame[NAMES[2]] = np.random.default_rng(1).poisson(8 / (1 + frame[NAMES[1]]))
    run = refined_run(frame=frame)
    said = texts(part("kind_details", run, NAMES[1]))
    assert "**Causes** (1 column)" in said and "**Effects**" not in said and "**Joined to it" in said
    assert f"{code(NAMES[2])}: lower where {code(NAMES[1])} is higher." in said
    told = f"Where {code('a')} goes from 0 to 4, the mean of {code(NAMES[1])} goes from "
    low, high = re.search(re.escape(told) + r"([\d.]+) to ([\d.]+)\.(?:\s|$)", said).groups()
    assert 0 < float(low) < 1 and 3 < float(high) < 5  # 0.4 + 0.9 a
    assert "**Effects** (1 column)" in texts(part("kind_details", run, "a"))
    alone = part("kind_details", run, "d")
    assert "No column is joined to it" in texts(alone) and not alone.dataframe


def test_levels_are_called_levels():
    frame = table().iloc[:, :3]
    run = refined_run(Settings.of("paper", transform="quantile", levels=4), frame=frame)
    assert figures(part("edge_details", run, NAMES[0], NAMES[1])) == 1
    app = part("kind_details", run, NAMES[1])
    assert "not counts" in texts(app) and figures(app) == 0


def test_only_the_node_is_fitted_once_for_its_curves_and_once_for_its_kind(monkeypatch):
    from disco.likelihood.model import Model

    asked = []
    original = Model.of

    def counted(part, parents, **more):  # noqa: ANN001, ANN202
        asked.append(list(part.columns))
        return original(part, parents, **more)

    monkeypatch.setattr(Model, "of", counted)
    run = refined_run()
    part("edge_details", run, NAMES[0], NAMES[1])
    part("edge_details", run, NAMES[0], NAMES[1])
    part("kind_details", run, NAMES[1])
    part("kind_details", run, NAMES[1])
    own, effect = [NAMES[1], NAMES[0]], [NAMES[2], NAMES[1], NAMES[0]]
    assert asked == [own, effect, own]
    sizes = {
        key[0].rpartition(".")[2]: size for key, size in results._sizes.items() if str(run.path) in map(str, key[1])
    }
    assert {"_curves", "kind"} <= set(sizes) and sizes["_curves"] + sizes["kind"] < 50_000  # without the fitted model
    before = stamps.refinement(run)
    stored.save(run.path, stored.read_refined(run), Choice(bootstrap=10))  # refined again
    os.utime(run.path / "refined.json", ns=(before + 10**9, before + 10**9))  # later, on a coarse clock too
    part("edge_details", run, NAMES[0], NAMES[1])
    assert asked == [own, effect, own, own]


@pytest.fixture
def quick(monkeypatch):
    """A model check with few tables."""
    from disco.likelihood.model_check import check

    monkeypatch.setattr(checks, "check", lambda *given, **more: check(*given, simulations=3, folds=2, **more))


def check_of(run: runs.Run) -> Slow:
    from pages.graph import checks

    return checks.check_of(run, stored.read_refined(run))


@pytest.mark.parametrize("graphs", [["empty", "DISCO", "likelihood"], ["empty", "likelihood"]])
def test_the_check_runs_apart_outlives_the_server_and_ends_with_its_refinement(quick, graphs):
    run = refined_run(fitted="DISCO" in graphs)
    app = part("model_check", run)
    assert figures(app) == 0
    app.button(key="refined_check").click().run()
    wait_until_computed()
    job = check_of(run).find()
    assert job.state == "done" and job.result.scores["graph"].tolist() == graphs, job.error
    forget_results()
    kept = check_of(run).result
    for name in ("columns", "pairs", "margins", "scores", "differences"):
        pd.testing.assert_frame_equal(getattr(kept, name), getattr(job.result, name), check_dtype=False)
    assert (kept.unseen, kept.simulations, kept.note) == (job.result.unseen, job.result.simulations, job.result.note)
    again = part("model_check", run)
    assert figures(again) == 4 and not [button for button in again.button if button.key == "refined_check"]
    again.segmented_control(key="refined_statistic").set_value("zeros").run()
    again.selectbox(key="refined_margin_node").set_value(NAMES[1]).run()
    assert not again.exception
    (run.path / "refined_check.json").write_text("{torn")
    forget_results()
    assert check_of(run).find() is None
    stored.save_check(run, job.result)
    stored.save(run.path, stored.read_refined(run), Choice(bootstrap=10))
    assert check_of(run).find() is None
