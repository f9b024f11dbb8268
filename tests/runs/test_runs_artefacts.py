"""A run's artefacts: kept, dismissed with a reason, and heeded by every reader of its results."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_up import of_an_older_version

from disco.__main__ import main
from disco.errors import InputError
from disco.files import read_frame
from disco.hidden.all_artefacts import begun, looked_for
from disco.paper.settings import Settings
from disco.progress import Sketch
from disco.refine import Choice, refine
from disco.refine.refinement_result import withheld
from disco.reports import all_results as found
from disco.reports.packing import pack
from disco.runs import artefacts, create_run, origin
from disco.runs.folder import Run
from disco.simulate import Design, simulate
from disco.subjects import stamps
from disco.subjects.graph.provenance import about
from disco.subjects.refinement import refining
from disco.subjects.refinement.refined import agree, dismiss, read_refined, save
from disco.table.artefacts import ARTEFACTS
from disco.table.edits import AddKinds
from disco.table.finding import Finding

QUICK = Choice(starts=1, restarts=0, bootstrap=0, folds=0)


@pytest.fixture(scope="module")
def deep() -> pd.DataFrame:
    return simulate(Design(nodes=8, rows=1500, k=2, depth=0.6, seed=4)).table


@pytest.fixture(scope="module")
def raw(deep):
    return refine(deep, QUICK, dismissed=ARTEFACTS)


def refined_run(table, raw):
    run = create_run(table, Settings(), name="deep")
    save(run.path, raw, QUICK)
    return run


def test_nothing_is_decided_while_a_depth_stands(deep, raw):
    assert raw.edges["decided"].any() and not raw.found.artefacts
    run = refined_run(deep, raw)
    (told,) = artefacts.of(run).standing
    read = read_refined(run)
    assert told.kind == "depth" and read.found.artefacts == (str(told),) == found.read(run, found.REFINED).artefacts
    assert not read.edges["decided"].any() and about(run, "a method")["artefacts"] == str(told)
    before = stamps.refinement(run)
    artefacts.dismiss(run, {"depth": " plots of\n one size "})
    assert stamps.refinement(run) > before
    (more,) = artefacts.of(run).standing
    assert more.kind == "common" and not read_refined(run).edges["decided"].any()  # looked for once no depth stands
    artefacts.dismiss(run, {"common": "so it is"})
    assert read_refined(run).edges["decided"].equals(raw.edges["decided"])
    gone = about(run, "a method")
    assert gone["dismissed"].startswith(f"{told.message} Dismissed: plots of one size") and "artefacts" not in gone
    artefacts.dismiss(run, {"depth": ""})
    assert not read_refined(run).edges["decided"].any()


def decisions(edges):
    return edges[["parent", "child", "decided", "source"]].astype(str).sort_values(["parent", "child"]).values.tolist()


def shown_everywhere(run, capsys):
    """The edges' file, which decides what a reader, an export, the console and a packed run decide."""
    written = pd.read_csv(run.path / "refined_edges.csv", keep_default_na=False)
    assert main(["graph", run.id, "--graph", "refined"]) == 0
    exported = pd.read_csv(io.StringIO(capsys.readouterr().out), comment="#", keep_default_na=False)
    exported = exported.reindex(columns=["parent", "child", "decided", "source"], fill_value="")
    exported["decided"] = exported["decided"] == 1
    assert decisions(written) == decisions(read_refined(run).edges) == decisions(exported)
    with zipfile.ZipFile(io.BytesIO(pack(run))) as packed:
        (name,) = [name for name in packed.namelist() if name.endswith("refined_edges.csv")]
        assert packed.read(name) == (run.path / "refined_edges.csv").read_bytes()
    return written


def test_no_file_of_a_run_contradicts_what_is_shown(deep, raw, capsys):
    """A run with a depth: before the depth is dismissed, after, and when it counts again."""
    run = create_run(deep, Settings(), name="deep")
    assert main(["refine", run.id, "--starts", "1", "--restarts", "0", "--bootstrap", "0", "--folds", "0"]) == 0
    assert capsys.readouterr().out.count(" undecided") > len(raw.edges)  # each of them, and the heading
    assert decisions(raw.edges) != decisions(read_refined(run).edges)
    before = shown_everywhere(run, capsys)
    assert not before["decided"].any() and (before["source"] == "").all()
    assert before["class_decides"].tolist() == raw.edges["decided"].tolist()
    dismiss(run, {"depth": "The plots are of one size.", "common": "And of one soil."})
    during = shown_everywhere(run, capsys)
    assert during["decided"].tolist() == raw.edges["decided"].tolist() == (during["source"] == "class").tolist()
    changed = ["decided", "source"]
    pd.testing.assert_frame_equal(during.drop(columns=changed), before.drop(columns=changed), check_exact=True)
    dismiss(run, {"depth": "", "common": ""})
    pd.testing.assert_frame_equal(shown_everywhere(run, capsys), before, check_exact=True)


def test_the_file_of_a_run_that_is_shown_to_read_stays(deep, raw, monkeypatch):
    run = refined_run(deep, raw)
    before = {path.name: path.read_bytes() for path in run.path.iterdir() if path.is_file()}
    monkeypatch.setattr(Run, "is_read_only", True)
    with pytest.raises(InputError, match="is shown to you to read"):
        dismiss(run, {"depth": "All plots are equal."})
    assert before.items() <= {path.name: path.read_bytes() for path in run.path.iterdir() if path.is_file()}.items()


def test_a_file_of_an_older_version_agrees_after_a_dismissal(deep, raw):
    """It has no column `class_decides` and says that directions are decided; they are read as undecided."""
    run = of_an_older_version(refined_run(deep, raw))
    path = run.path / "refined_edges.csv"
    pd.read_csv(path, keep_default_na=False).drop(columns="class_decides").to_csv(path, index=False)
    assert not read_refined(run).edges["decided"].any()
    agree(run)
    written = pd.read_csv(path, keep_default_na=False)
    assert not written["decided"].any() and written["class_decides"].tolist() == raw.edges["decided"].tolist()
    dismiss(run, {"depth": "All plots are equal.", "common": "And their soil."})
    assert pd.read_csv(path)["decided"].tolist() == raw.edges["decided"].tolist()


def test_python_says_it_too(deep):
    told = refine(deep, QUICK)
    assert told.notes[0].startswith("Totals explain") and not told.edges["decided"].any()


def test_knowledge_still_decides(raw):
    sources = ["knowledge", *["class"] * (len(raw.edges) - 1)]
    ruled = raw.having(edges=raw.edges.assign(source=sources, decided=True))
    decided = withheld(ruled, [Finding("depth", "So.", "Do.")]).edges["decided"].tolist()
    assert decided == [True, *[False] * (len(raw.edges) - 1)]


def test_a_run_of_an_older_version_is_looked_at_once(deep, raw):
    run = refined_run(deep, raw)
    (run.path / artefacts.FILE).unlink()
    assert [one.kind for one in artefacts.of(run).standing] == ["depth"]
    assert json.loads((run.path / artefacts.FILE).read_text())["found"][0]["kind"] == "depth"


def finding(**changes):
    told = {"kind": "relation", "message": "So.", "advice": "Do.", "columns": ["V1"], **changes}
    return json.dumps({"found": [told], "hidden": {}, "dismissed": {}})


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", '{"found": 1, "dismissed": {}}', '{"found": [{}], "dismissed": {}}'),
        *(finding(columns=["no such column"]), finding(columns=7), finding(kind="deep"), finding(message=1)),
    ],
)
def test_a_damaged_file_is_made_anew(deep, raw, text):
    run = refined_run(deep, raw)
    (run.path / artefacts.FILE).write_text(text)
    assert [one.kind for one in artefacts.of(run).standing] == ["depth"]


def hidden_table():
    """Two kinds of rows, a sum, and rows that are there twice."""
    random = np.random.default_rng(1)
    means = np.where(random.integers(2, size=(800, 1)) == 1, 9, 3)
    table = pd.DataFrame(random.poisson(means, (800, 6)), columns=list("abcdef")).assign(sum=lambda t: t.a + t.b)
    return pd.concat([table, table[:400]], ignore_index=True)


def kinds_and_columns(told):
    return [(one.kind, one.without, one.message if one.kind == "kinds" else "") for one in told.found]


def test_a_run_is_judged_alike_when_it_is_made_and_when_something_is_dismissed_later(monkeypatch):
    table, why = hidden_table(), {"repeated": "They are one another's twins."}
    run, before = (
        create_run(table, Settings(), name="later"),
        create_run(table, Settings(), name="at once", dismissed=why),
    )
    assert [one.kind for one in artefacts.of(run).found] == ["relation", "repeated"]
    artefacts.dismiss(run, why)
    assert kinds_and_columns(artefacts.of(run)) == kinds_and_columns(artefacts.of(before))
    assert [(one.kind, one.without) for one in artefacts.of(run).found[:3]] == [
        ("relation", ("sum",)),
        ("repeated", ()),
        ("kinds", ()),
    ]
    assert (run.path / artefacts.FILE).read_text() == (before.path / artefacts.FILE).read_text()
    monkeypatch.setattr(Run, "table", None)  # what was found is not looked for again
    artefacts.dismiss(run, {"repeated": ""})
    assert [one.kind for one in artefacts.of(run).standing] == ["relation", "repeated"]
    artefacts.dismiss(run, why)
    assert [one.kind for one in artefacts.of(run).standing] == ["relation", "kinds"]


def test_a_reason_is_kept_while_nothing_hidden_is_looked_for(deep):
    run = create_run(deep, Settings(), name="deep", dismissed={"depth": "One size.", "common": "One soil."})
    told = artefacts.of(run)
    assert list(told.dismissed) == ["depth", "common"]
    artefacts.dismiss(run, {"depth": ""})
    assert [one.kind for one in artefacts.of(run).found] == ["depth"] and not artefacts.of(run).dismissed
    artefacts.dismiss(run, {"depth": "One size."})
    assert artefacts.of(run) == told


def test_what_an_older_version_did_not_look_for_is_looked_for(monkeypatch):
    run = create_run(hidden_table(), Settings(), name="older", dismissed={"repeated": "They are twins."})
    path, told = run.path / artefacts.FILE, artefacts.of(run)
    older = json.loads(path.read_text())
    beside = {"kind": "covariate", "message": "A column goes with all.", "advice": "Declare it."}
    found = [{name: one[name] for name in ("kind", "message", "advice")} for one in older["found"]]
    path.write_text(json.dumps({"found": [*found, beside], "dismissed": older["dismissed"]}))
    now = artefacts.of(run)  # what was left aside is not in the run
    assert [one.kind for one in now.found] == ["relation", "repeated", "kinds", "covariate"]
    assert kinds_and_columns(now)[:3] == kinds_and_columns(told)[:3] and "hidden" in json.loads(path.read_text())


def test_the_first_work_on_a_run_searches_for_what_is_due():
    table = hidden_table()
    run = create_run(table, Settings(), name="begun", spoilt=begun(table, reasons={"relation": "It is meant."}))
    assert not artefacts.of(run).due  # copies stand
    artefacts._stored(run, replace(artefacts.of(run), reasons={"repeated": "They are twins."}))
    artefacts.dismiss(run, {"relation": "It is meant."})  # at once: the work searches
    assert artefacts.of(run).due and not artefacts.of(run).standing
    refining._tell(run, Sketch(run.nodes, [(*run.nodes[:2], 9.0)], [tuple(run.nodes[:2])]))
    assert not refining.so_far(run).edges["decided"].any()
    stages = []

    def watch(event):
        stages.append((event.progress, event.stage))
        if event.stage == "artefacts":  # the result is there, without the directions of the class
            written = read_frame(run.path / "refined_edges.csv", ("parent",))
            assert len(written) and not written["decided"].any()

    result = refining.refine_run(run, QUICK, callback=watch)
    assert stages == sorted(stages, key=lambda stage: stage[0]) and stages[-1][1] == "artefacts"
    assert [one.kind for one in artefacts.of(run).standing] == ["kinds"] and not artefacts.of(run).due
    assert len(result.found.artefacts) == 1 and not refining.read_refined(run).edges["decided"].any()


def test_a_run_that_is_shown_to_read_is_looked_at_once(deep, monkeypatch):
    run = create_run(deep, Settings(), name="deep")
    (run.path / artefacts.FILE).unlink()
    monkeypatch.setattr(Run, "is_read_only", True)
    read = []
    monkeypatch.setattr(
        artefacts, "looked_for", lambda *given, **more: read.append(given) or looked_for(*given, **more)
    )
    assert artefacts.of(run) == artefacts.of(Run(run.path)) and len(read) == 1
    assert not (run.path / artefacts.FILE).exists()


def test_only_what_was_found_can_be_dismissed(deep, small_table):
    for table, there in ((deep, "it has depth"), (small_table, "it has none")):
        run = create_run(table, Settings(), name="a run", dismissed={"near": "no effect"})
        assert not artefacts.of(run).dismissed
        with pytest.raises(InputError, match=f"no artefact 'near' to dismiss; {there}"):
            artefacts.dismiss(run, {"near": "a reason"})


def test_the_kinds_of_a_million_rows_are_read_again(small_table):
    told = origin.Origin(origin.FromFile("counts.csv"), (AddKinds("AB" * 600_000),))
    assert origin.of(create_run(small_table, Settings(), name="long", origin=told)) == told
