"""disco next: which node to set in the next experiment."""

import io
import json
from dataclasses import replace

import pandas as pd
import pytest
from made_up import finished_run, refine_by_hand

from disco.__main__ import main
from disco.columns import CLASS, NO_SOURCE
from disco.refine import Choice
from disco.subjects.refinement import refined

EDGES = [("x1", "x2"), ("x2", "x3"), ("x3", "x4")]


def run_with(source, edges=EDGES):
    """A run with a refinement whose directions all have this source."""
    run = refine_by_hand(finished_run(4, truth=None), edges=edges)
    found = refined.read_refined(run)
    told = found.edges.assign(source=source, decided=source != NO_SOURCE, class_decides=source == CLASS)
    refined.save(run.path, replace(found, found=replace(found.found, edges=told)), Choice())
    return run


def test_text_has_the_best_node_first(capsys):
    run = run_with(NO_SOURCE)
    assert main(["next", run.id]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0] == "3 open directions, 8 compatible graphs."
    # The class of the chain, and those of x1 → x2 ← x3 and of x2 → x3 ← x4, of which 1.5 nats speak against the last.
    assert lines[1].startswith("  x3  settles 2.2 (1.2 whatever is hidden), rows per arm ")
    assert lines[2] == "    x2 -- x3, x3 -- x4, x1 -- x2 (in some of the graphs)"
    assert "no hidden common causes" in printed.err


def test_json_and_csv_have_the_same_numbers(capsys):
    run = run_with(NO_SOURCE)
    assert main(["next", str(run.path), "--format", "json", "--nodes", "x1,x3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["open"] == 3 and found["graphs"] == 8 and found["are_all_graphs"] is True
    assert [row["node"] for row in found["nodes"]] == ["x3", "x1"]
    assert main(["next", str(run.path), "--format", "csv", "--nodes", "x1,x3"]) == 0
    rows = pd.read_csv(io.StringIO(capsys.readouterr().out))
    for row in found["nodes"]:
        part = rows[rows["node"] == row["node"]]
        assert (part["settled"] == row["settled"]).all() and len(part) == len(row["pairs"])
        assert part["pair_settled"].tolist() == [pair["settled"] for pair in row["pairs"]]
        assert sum(pair["settled"] for pair in row["pairs"]) == pytest.approx(row["settled"])


@pytest.mark.parametrize(("source", "edges"), [(CLASS, EDGES), (NO_SOURCE, [])])
def test_without_an_open_direction_it_says_so(source, edges, capsys):
    run = run_with(source, edges)
    assert main(["next", run.id]) == 0
    assert capsys.readouterr().out == "No direction is open, so no experiment is needed to settle one.\n"
    assert main(["next", run.id, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"open": 0, "graphs": 1, "are_all_graphs": True, "nodes": []}
    assert main(["next", run.id, "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("node,settled,")


def test_bad_input_is_refused_in_a_sentence(capsys):
    assert main(["next", finished_run(3).id]) == 2
    assert "has no refinement yet; run disco refine." in capsys.readouterr().err
    assert main(["next", run_with(NO_SOURCE).id, "--nodes", "x1,other"]) == 2
    assert 'There is no node "other" to set; the table has x1, x2, x3, x4.' in capsys.readouterr().err


def test_a_node_without_an_edge_settles_nothing(capsys):
    run = run_with(NO_SOURCE, EDGES[:1])
    assert main(["next", run.id, "--nodes", "x4"]) == 0
    assert "Setting these nodes would settle none of them." in capsys.readouterr().out
