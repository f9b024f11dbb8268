"""A refinement that was interrupted continues from its file."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from refine_world import ALONE, PRICE, QUICK, all_pairs, design_of, evidence_of, searched

from disco.errors import FitStopped
from disco.refine import Choice, refine
from disco.refine.node_scores import Scores
from disco.refine.resume import Memory
from disco.simulate import Design, simulate


@pytest.fixture(scope="module")
def known():
    """As few rows as give several searches and edges."""
    return simulate(Design(nodes=8, rows=800, k=2, family="nb-softplus", seed=1))


@pytest.fixture(scope="module")
def whole_choice():
    return Choice(starts=2, restarts=2, bootstrap=5, folds=2, seed=3)


@pytest.fixture(scope="module")
def reported():
    """The steps that the uninterrupted refinement reports."""
    return []


@pytest.fixture(scope="module")
def uninterrupted(known, whole_choice, reported):
    return refine(known.table, whole_choice, order=list(known.table.columns), callback=reported.append)


@pytest.fixture(scope="module")
def steps(uninterrupted, reported):
    """How many steps it reports."""
    return len(reported)


@pytest.fixture(scope="module")
def remembered(known, tmp_path_factory):
    """The file of a finished refinement."""
    memory = tmp_path_factory.mktemp("remembered") / "refining.json"
    refine(known.table, ALONE, memory=memory)
    return memory.read_text()


def test_stops_and_goes_on_from_finished_searches(known, tmp_path):
    memory, choice = tmp_path / "refining.json", dataclasses.replace(ALONE, restarts=2)
    seen = []

    def stop_in_restarts(step):
        seen.append(step)
        return not (step.stage == "search" and step.done == 1)

    with pytest.raises(FitStopped):
        refine(known.table, choice, callback=stop_in_restarts, memory=memory)
    rest = []
    resumed = refine(known.table, choice, callback=rest.append, memory=memory)
    assert {step.done for step in rest if step.stage == "search"} == {1, 2}  # from the restarts on
    whole = refine(known.table, choice)
    assert resumed.score == pytest.approx(whole.score, abs=0.05)
    assert resumed.starts["start"].tolist() == whole.starts["start"].tolist()
    progress = [step.progress for step in seen]
    assert progress == sorted(progress)


def test_memory_of_another_table_is_left_alone(known, tmp_path):
    memory = tmp_path / "refining.json"
    refine(known.table, QUICK, memory=memory)
    other = refine(known.table.head(500), QUICK, memory=memory)
    assert other.score > refine(known.table, QUICK).score  # fewer rows, fewer nats to lose


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.8, 0.99])  # in the screen, searches, evidence and draws
def test_an_interruption_changes_nothing_to_the_last_bit(known, whole_choice, uninterrupted, steps, tmp_path, share):
    memory, order, left = tmp_path / "refining.json", list(known.table.columns), iter(range(int(share * steps)))

    def goes_on(step):
        return next(left, None) is not None

    with pytest.raises(FitStopped):
        refine(known.table, whole_choice, order=order, memory=memory, callback=goes_on)
    found = refine(known.table, whole_choice, order=order, memory=memory)
    for name in ("edges", "starts", "orders", "moves"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(uninterrupted, name), check_exact=True)
    same = ("order", "best", "score", "candidates", "fits", "notes")
    assert [getattr(found, name) for name in same] == [getattr(uninterrupted, name) for name in same]


def test_evidence_does_not_depend_on_the_way_to_the_graph(known, uninterrupted):
    """The same graph, evaluated by scores that have made other fits before."""
    names = list(known.table.columns)
    parents = [tuple(sorted(names.index(one) for one in uninterrupted.graph().predecessors(name))) for name in names]
    design = design_of(known.table, dtype=np.float32)
    candidates = all_pairs(len(names))
    found = []
    for seed in (0, 1):
        scores = Scores(design, candidates, odds=PRICE)
        searched(scores, np.random.default_rng(seed).permutation(len(names)).tolist())
        found.append(evidence_of(scores.replace(tolerance=1e-4), parents))
    pd.testing.assert_frame_equal(*found, check_exact=True)


def test_another_exposure_is_another_refinement(known, tmp_path):
    memory, table = tmp_path / "refining.json", known.table
    refine(table, ALONE, memory=memory)
    depth = np.random.default_rng(0).lognormal(0, 0.5, len(table))
    exposed = {"table": table.assign(depth=depth), "choice": ALONE, "roles": {"depth": "exposure"}}
    expected = refine(**exposed).score
    assert refine(**exposed, memory=memory).score == expected


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: kept.update(first=5), lambda kept: kept["first"].update(order=["x"]),
        lambda kept: kept["first"].update(prior=[None] * 6), lambda kept: kept["first"].update(prior=[1.0] * 5),
        lambda kept: kept["first"].update(prior=[*[1.0] * 5, ["x"]]),
        lambda kept: kept["first"].update(candidates=[[99]]),
        lambda kept: kept["starts"][0].update(parents=[[1], [0], *[[]] * 6]), lambda kept: kept.update(starts={}),
        lambda kept: kept["starts"][0].update(score="high"), lambda kept: kept.pop("drawn"),
        lambda kept: kept.update(drawn={"bootstrap 0": [[0, 1, 2]]}), lambda kept: kept.update(made=None),
    ],
)  # fmt: skip # a table
def test_a_damaged_memory_counts_as_none(remembered, tmp_path, damage):
    stored = json.loads(remembered)
    assert _content(remembered, tmp_path).ends
    damage(stored)
    content = _content(json.dumps(stored), tmp_path)
    assert content.first is None and content.ends == content.drawn == {}


def test_a_memory_that_is_no_record_counts_as_none(remembered, tmp_path):
    assert not _content("[" * 100_000, tmp_path, key=json.loads(remembered)["key"]).ends


def _content(text, tmp_path, key=None) -> Memory:
    memory = tmp_path / "refining.json"
    memory.write_text(text)
    return Memory.of(memory, key or json.loads(text)["key"], [f"x{number}" for number in range(1, 9)])


def test_a_file_of_an_older_version_is_gone_on_from(known, tmp_path, steps, whole_choice, uninterrupted):
    """It kept the searches under a wider screen, and how many fits the evidence took."""
    memory, order, left = tmp_path / "refining.json", list(known.table.columns), iter(range(int(0.99 * steps)))
    goes_on = lambda step: next(left, None) is not None  # noqa: E731
    with pytest.raises(FitStopped):
        refine(known.table, whole_choice, order=order, memory=memory, callback=goes_on)
    kept = json.loads(memory.read_text())
    names, first = ("first", "starts", "drawn", "made"), kept["starts"][0]
    assert set(kept) == {"key", *names} and set() < set(kept["drawn"]) < set(kept["made"])
    kept["starts"].append({**first, "start": "wider screen 1", "score": first["score"] + 100})
    kept["made"] = {name: count for name, count in kept["made"].items() if count} | {"wider screen 1": 9, "evidence": 9}
    memory.write_text(json.dumps(kept))
    found = refine(known.table, whole_choice, order=order, memory=memory)
    pd.testing.assert_frame_equal(found.edges, uninterrupted.edges, check_exact=True)
    assert (found.best, found.fits) == (uninterrupted.best, uninterrupted.fits)
