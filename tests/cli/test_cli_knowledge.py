"""--knowledge: kept in the run, and in every result that is made of it."""

import json
import shutil

import networkx as nx
import pytest
from job_world import SHORT
from made_up import of_an_older_version

from disco.__main__ import main
from disco.errors import InputError
from disco.knowledge import Knowledge
from disco.runs import list_runs, open_run
from disco.subjects.fit import network_cache, results
from disco.subjects.fit.candidates import read_candidates
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement.refined import read_refined

pytestmark = pytest.mark.usefixtures("single_threaded")

REFINE = ["--starts", "1", "--restarts", "0", "--bootstrap", "2"]


@pytest.fixture
def world(small_table, tmp_path):
    """A table, its columns, and knowledge against the order in which they stand; files of both in a folder."""
    small_table.to_csv(tmp_path / "counts.csv", index=False)
    names = list(small_table.columns)
    rules = Knowledge([[names[-1]], names[1:-1]], [(names[-1], names[1])], [(names[-1], names[2])])
    (tmp_path / "k.json").write_text(json.dumps(rules.to_dict()))
    return tmp_path, names, rules


def holds(names, order, edges):
    place = {name: at for at, name in enumerate(order)}
    assert all(place[names[-1]] < place[name] for name in names[1:-1])
    pairs = set(zip(edges["parent"], edges["child"], strict=True))
    assert (names[-1], names[1]) in pairs and (names[-1], names[2]) not in pairs


def test_a_fit_and_all_that_is_made_of_it_keep_to_the_knowledge(world, capsys):
    folder, names, rules = world
    fit = ["fit", str(folder / "counts.csv"), "--out", str(folder / "run"), *SHORT]
    assert main([*fit, "--knowledge", str(folder / "k.json")]) == 0
    printed, run = capsys.readouterr().out, open_run(folder / "run")
    assert run.knowledge() == rules and "Knowledge: 2 tiers, 1 required rule, 1 forbidden rule." in printed
    assert "against the scores" in printed and ", required\n" in printed
    for edges in (StoredFit(run).edges(), StoredFit(run).edges(9.0), StoredFit(run).edges(-9.0)):
        holds(names, StoredFit(run).order, edges)
    variant = "constant-clipped"
    results.save_variant(run, network_cache.fitted(run).recover(criterion="constant"), variant)
    holds(names, StoredFit(run, variant).order, StoredFit(run, variant).edges())

    assert main(["graph", str(folder / "run"), "--parents", "cam", "--format", "json"]) == 0
    graph = nx.node_link_graph(json.loads(capsys.readouterr().out), edges="edges")
    assert graph.edges[names[-1], names[1]]["rule"] == "required" and not graph.has_edge(names[-1], names[2])
    assert graph.graph["knowledge"] == str(rules)
    assert set(read_candidates(run, "cam")["rule"]) >= {"required", "forbidden", "fixed"}

    assert main(["refine", str(folder / "run"), *REFINE]) == 0
    printed = capsys.readouterr().out
    assert ", required, local stability" in printed and "Knowledge: 2 tiers" in printed
    holds(names, read_refined(run).order, read_refined(run).edges)

    assert main(["pack", str(folder / "run"), "--out", str(folder / "run.zip")]) == 0
    shutil.rmtree(folder / "run")
    assert main(["unpack", str(folder / "run.zip")]) == 0
    (again,) = [run for run in list_runs() if run.path.exists()]
    assert again.knowledge() == rules
    holds(names, read_refined(again).order, read_refined(again).edges)


def test_a_run_has_the_knowledge_that_it_was_made_with(world, capsys):
    folder, names, rules = world
    refine = ["refine", "--counts", str(folder / "counts.csv"), "--out", str(folder / "run"), *REFINE]
    assert main([*refine, "--knowledge", str(folder / "k.json")]) == 0
    run = open_run(folder / "run")
    holds(names, read_refined(run).order, read_refined(run).edges)
    assert main(refine) == 0  # the same run, with its own knowledge
    holds(names, read_refined(run).order, read_refined(run).edges)
    capsys.readouterr()
    (folder / "other.txt").write_text(f"/knowledge\nrequiredirect\n{names[0]} {names[1]}\n")
    for command in (refine, ["refine", str(folder / "run"), *REFINE]):
        assert main([*command, "--knowledge", str(folder / "other.txt")]) == 2
        assert f"was created with other knowledge ({rules})" in capsys.readouterr().err


def test_knowledge_of_a_run_is_checked_when_it_is_read(world, capsys):
    folder, names, _ = world
    refine = ["refine", "--counts", str(folder / "counts.csv"), "--out", str(folder / "run"), *REFINE]
    assert main([*refine, "--knowledge", str(folder / "k.json")]) == 0
    path = of_an_older_version(open_run(folder / "run")).path / "refined_edges.csv"
    path.write_text(path.read_text().replace('"required"', '"wanted"'))
    with pytest.raises(InputError, match="'wanted' is not one of free, forbidden, required, fixed"):
        read_refined(open_run(folder / "run"))
    for text in ("{", json.dumps({"tiers": [["nowhere"]]}), "[" * 100_000):
        (folder / "run" / "knowledge.json").write_text(text)
        with pytest.raises(InputError, match=r"knowledge.json is damaged: .*create a new run"):
            open_run(folder / "run").knowledge()
        assert main(["refine", str(folder / "run"), *REFINE]) == 2 and "is damaged" in capsys.readouterr().err
        assert main(["pack", str(folder / "run"), "--out", str(folder / "bad.zip")]) == 2
        assert "knowledge.json is damaged" in capsys.readouterr().err and not (folder / "bad.zip").exists()


def test_knowledge_that_cannot_be_kept_stops_before_anything_is_made(world, capsys):
    folder, names, _ = world
    for text, words in (
        ({"required": [[names[0], "nowhere"]]}, '"nowhere", which is not a column'),
        ({"required": [[names[0], names[1]], [names[1], names[0]]]}, "closes the cycle"),
    ):
        (folder / "k.json").write_text(json.dumps(text))
        counts = str(folder / "counts.csv")
        for command in (["fit", counts, *SHORT], ["refine", "--counts", counts]):
            assert main([*command, "--out", str(folder / "run"), "--knowledge", str(folder / "k.json")]) == 2
            assert words in capsys.readouterr().err and not (folder / "run").exists()
