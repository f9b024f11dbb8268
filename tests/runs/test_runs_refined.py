"""A refinement in a run folder: misfit and the worst case are read back, older refinements are read as such."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_up import finished_run, of_an_older_version, refine_by_hand

from disco.errors import InputError
from disco.files import read_frame
from disco.graph.result import Note
from disco.paper.settings import Settings
from disco.refine import Choice, refine
from disco.refine.refinement_result import EARLY, EDGE_COLUMNS, POOR
from disco.runs import create_run
from disco.subjects import REFINE
from disco.subjects.refinement.refined import choice_of, read_refined, save
from disco.work import jobs

EDGES = [("x1", "x2"), ("x2", "x4"), ("x1", "x3")]


def made(**more):
    return refine_by_hand(finished_run(4), edges=EDGES, **more)


def test_misfit_and_evidence_come_back():
    run = made(misfit={"x2": 44.0, "x3": float("nan")})
    found = read_refined(run)
    assert found.nodes["node"].tolist() == ["x1", "x2", "x3", "x4"]
    assert found.nodes["misfit_nats"].fillna(-1).tolist() == [0.0, 44.0, -1.0, 0.0]
    assert found.nodes["misfit_per_row"][1] == pytest.approx(44 / 60)
    assert list(found.edges) == list(EDGE_COLUMNS) and found.edges["robust_nats"].notna().all()
    assert found.graph().nodes["x2"]["misfit_nats"] == 44.0
    save(run.path, found.having(misfit=None), Choice())
    assert read_refined(run).nodes is None and not (run.path / "refined_nodes.csv").exists()


def test_notes_come_back_with_their_kinds():
    run = made()
    notes = Note("In words that may change.", EARLY), Note("And more.")
    save(run.path, read_refined(run).having(notes=notes), Choice())
    back = read_refined(run)
    assert back.notes == notes and [note.kind for note in back.notes] == [EARLY, ""] and back.is_early
    head = json.loads((run.path / "refined.json").read_text())
    del head["kinds"]  # as older versions wrote it
    for early in ("The search was ended early, after 1 search.", "3 of 4 columns are poorly fitted."):
        (run.path / "refined.json").write_text(json.dumps({**head, "notes": [early]}))
        assert [note.kind for note in read_refined(run).notes] == [EARLY if "early" in early else POOR]


def test_a_poor_fit_of_an_older_refinement_is_its_misfit_alone():
    run = of_an_older_version(made(misfit={"x2": 44.0, "x3": float("nan"), "x1": 2.9}))
    path = run.path / "refined_nodes.csv"
    nodes = pd.read_csv(path)
    assert read_refined(run).nodes["is_poor"].tolist() == nodes["is_poor"].tolist() == [False, True, True, False]
    nodes.assign(is_poor=[True, False, True, False]).to_csv(path, index=False)
    assert read_refined(run).nodes["is_poor"].tolist() == [True, False, True, False]
    nodes.drop(columns="is_poor").to_csv(path, index=False)
    assert read_refined(run).nodes["is_poor"].tolist() == [False, True, True, False]


NEWER = ("robust_nats", "linear_nats", "spread_nats", "source", "class_decides")


def older(run, directions):
    """A refinement as an older version wrote it: an edge that could not be reversed alone counted as decided."""
    (of_an_older_version(run).path / "refined_nodes.csv").unlink()
    path = run.path / "refined_edges.csv"
    edges = read_frame(path, ("parent", "child")).drop(columns=[*NEWER])
    is_turned = [value is not None for value in directions]
    edges.assign(reversible=is_turned, direction_nats=directions, decided=True).to_csv(path, index=False)
    return read_refined(run)


def test_in_an_older_refinement_nothing_is_decided_without_direction_evidence():
    found = older(made(), [20.0, None, 7.0])
    assert found.edges["decided"].tolist() == found.edges["class_decides"].tolist() == [True, False, True]
    assert list(found.edges) == list(EDGE_COLUMNS) and found.edges["robust_nats"].isna().all()
    assert found.nodes is None and found.graph().number_of_edges() == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda nodes: nodes.iloc[1:], "lacks a column"),
        (lambda nodes: nodes.assign(node="x1"), "row 2 repeats the node of an earlier row"),
        (lambda nodes: nodes.assign(misfit_nats="much"), "is not a finite number"),
        (lambda nodes: nodes.assign(node=["x1", "x2", "x3", "zz"]), "not a column of the table"),
        (lambda nodes: nodes.drop(columns="misfit_nats"), "no column misfit_nats"),
    ],
)
def test_a_damaged_list_of_nodes_is_one_sentence(change, words):
    run = of_an_older_version(made())
    path = run.path / "refined_nodes.csv"
    change(pd.read_csv(path)).to_csv(path, index=False)
    with pytest.raises(InputError, match=words) as error:
        read_refined(run)
    assert "refined_nodes.csv" in str(error.value) and "refine the run again" in str(error.value)


def test_that_tables_were_searched_anew_is_kept_where_it_waits_and_where_it_is_done():
    run = made(choice=Choice(redone=True))
    assert choice_of(run)["redone"] is True
    jobs.enqueue(run, REFINE, Choice(redone=True)).release()
    assert run.status(REFINE).error is None and run.status(REFINE).choice["redone"] is True


def test_the_end_of_every_search_is_kept():
    random = np.random.default_rng(0)
    a = random.poisson(2.0, 300)
    table = pd.DataFrame({"b": random.poisson(0.5 + a), "a": a, "c": random.poisson(1.0, 300)})
    choice = Choice(starts=1, restarts=2, bootstrap=2, folds=0)
    result = refine(table, choice)
    ends = result.orders.groupby("start")["node"].apply(list)
    assert set(ends.index) == set(result.starts["start"]) and len(ends) == 3
    assert ends[result.best] == result.order and all(sorted(order) == ["a", "b", "c"] for order in ends)
    run = create_run(table, Settings.of("paper"), name="ends")
    save(run.path, result, choice)
    pd.testing.assert_frame_equal(read_refined(run).orders, result.orders)
    pd.testing.assert_frame_equal(read_refined(run).tables, result.tables)
    shares = result.tables.groupby(["parent", "child"]).size() / 2
    for edge in result.edges.itertuples():
        assert edge.bootstrap == shares.get((edge.parent, edge.child), 0)
    save(run.path, replace(result, orders=None, tables=None), choice)  # nothing of an older one may stay
    assert read_refined(run).orders is None and read_refined(run).tables is None
