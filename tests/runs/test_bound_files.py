"""The files of a run belong together: none is taken that was changed, or comes from another run of the same shape."""

import dataclasses
import hashlib
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_up import finished_run, of_an_older_version, refine_by_hand

from disco.errors import InputError
from disco.files import write_bytes
from disco.graph.result import GraphResult
from disco.knowledge import Knowledge
from disco.paper.fitted_networks import Variant
from disco.paper.settings import Settings
from disco.refine import Choice
from disco.refine.prior import BEFORE
from disco.reports.packing import pack, unpack
from disco.runs import Run, artefacts, create_run, digests, origin
from disco.subjects import stamps
from disco.subjects.comparison import compared
from disco.subjects.comparison.compared import MethodResult
from disco.subjects.fit import results
from disco.subjects.fit.candidates import compute_candidates, read_candidates
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement import refined
from disco.subjects.refinement.refined import dismiss, read_check, read_refined, save_check
from disco.table.roles import Roles

NODES = ["x1", "x2", "x3", "x4"]
TINY = Settings.of("paper", joint_epochs=1, projection_epochs=1, width=8)
OTHER = "constant-clipped"
READERS: dict[str, Callable[[Run], object]] = {
    "table.parquet": lambda run: run.table(),
    "order.csv": lambda run: StoredFit(run).order,
    "ccs.csv": lambda run: StoredFit(run).ccs,
    "criteria.csv": lambda run: StoredFit(run).criteria,
    "ocs.csv": lambda run: StoredFit(run).ocs,
    "edges.csv": lambda run: StoredFit(run).edges(),
    f"variants/{OTHER}/ocs.csv": lambda run: StoredFit(run, OTHER).ocs,
    **{f"refined_{name}.csv": read_refined for name in ("order", "edges", "starts", "nodes", "moves", "tables")},
    "compare/sort-mean/edges.csv": lambda run: compared.read_one(run, "sort-mean"),
}


def made(seed: int) -> Run:
    """A run with every kind of result; with another seed, another table in the same columns."""
    from disco.likelihood.model_check import check

    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.poisson(3.0, (60, 4)), columns=NODES).assign(x4=lambda table: table["x1"] + table["x2"])
    run = refine_by_hand(finished_run(NODES, f"run {seed}", TINY, table=table))
    graphs = pd.DataFrame({"table": [1, 2], "parent": ["x1", "x2"], "child": [f"x{3 + seed % 2}", "x3"]})
    result = dataclasses.replace(read_refined(run), tables=graphs, fits=seed)
    refined.save(run.path, result.having(edges=result.edges.assign(gain_nats=rng.random(3))), Choice(bootstrap=2))
    own = GraphResult.of(NODES, [("x1", f"x{2 + seed % 2}")], order=NODES)
    compared.save(run, MethodResult("sort-mean", "done", {"by": "mean"}, 1.0, 60.0, found=own))
    again = StoredFit(run).ocs.assign(ocs=rng.random(len(StoredFit(run).ocs)))
    results.save_variant(run, Variant(StoredFit(run).order, StoredFit(run).ccs, StoredFit(run).criteria, again), OTHER)
    results._frames(
        run.path, StoredFit(run).order, StoredFit(run).ccs, StoredFit(run).criteria, again, StoredFit(run).edges()
    )
    compute_candidates(run, "cam")
    save_check(run, check(table, {"empty": {}, "refined": {"x2": ["x1"]}}, prior=BEFORE, simulations=3))
    return Run(run.path)


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> tuple[Path, Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCO_RUNS", str(tmp_path_factory.mktemp("both")))
        return made(1).path, made(2).path


@pytest.fixture
def run(both, tmp_path) -> Run:
    shutil.copytree(both[0], tmp_path / "copy")
    return Run(tmp_path / "copy")


def assert_whole(run: Run) -> None:
    run = Run(run.path)
    for read in READERS.values():
        read(run)
    assert len(read_candidates(run, "cam")) == 6 and read_check(run) is not None and artefacts.of(run).found


def test_no_flipped_bit_is_taken(run):
    rng = np.random.default_rng(0)
    assert_whole(run)
    for name, read in READERS.items():
        whole = (run.path / name).read_bytes()
        for bit in rng.integers(8 * len(whole), size=60 if name == "table.parquet" else 8):
            flipped = bytearray(whole)
            flipped[bit // 8] ^= 1 << bit % 8
            (run.path / name).write_bytes(flipped)
            with pytest.raises(InputError, match=f"{Path(name).name} is damaged: it was changed, or belongs to anoth"):
                read(Run(run.path))
        (run.path / name).write_bytes(whole)
    assert_whole(run)


@pytest.mark.parametrize("name", READERS)
def test_no_file_of_another_run_is_taken(run, both, name):
    if (both[1] / name).read_bytes() == (run.path / name).read_bytes():  # such as an order, which both have
        return
    shutil.copyfile(both[1] / name, run.path / name)
    with pytest.raises(InputError, match=f"{Path(name).name} is damaged: it was changed, or belongs to another run"):
        READERS[name](Run(run.path))
    READERS[name](of_an_older_version(run))  # nothing tells it there


ADDED = {
    "refined_contexts.csv": read_refined,
    "knowledge.json": lambda run: run.knowledge(),
    "roles.json": lambda run: run.with_roles(),
    "compare/sort-mean/scores.csv": lambda run: compared.read_one(run, "sort-mean"),
}


@pytest.mark.parametrize("name", ADDED)
def test_no_file_is_taken_where_none_was_written(run, name):
    (run.path / name).write_text("{}")
    with pytest.raises(InputError, match=f"{Path(name).name} is damaged: it was changed, or belongs to another run"):
        ADDED[name](Run(run.path))


@pytest.mark.parametrize("name", [name for name in READERS if name.startswith("refined_")])
def test_no_part_of_a_refinement_is_missed_in_silence(run, name):
    """Without its bootstrap tables or its poorly fitted nodes, a graph would look surer than it is."""
    (run.path / name).unlink()
    with pytest.raises(InputError, match=f"{name} is missing: restore the file, or refine the run again"):
        read_refined(Run(run.path))


@pytest.mark.parametrize(
    ("pattern", "reader"),
    [("[!st]*", "ocs.csv"), ("refined*", "refined_edges.csv"), ("compare/sort-mean/*", "compare/sort-mean/edges.csv")],
)
def test_no_whole_result_of_another_run_is_taken(run, both, pattern, reader):
    for path in both[1].glob(pattern):
        if path.is_file() and path.name not in ("artefacts.json", "lock"):
            shutil.copyfile(path, run.path / path.relative_to(both[1]))
    with pytest.raises(InputError, match="is damaged: it belongs to the table of another run"):
        READERS[reader](Run(run.path))


def test_what_can_be_made_again_is_made_again(run, both):
    before = artefacts.of(run)
    for name in ("artefacts.json", "refined_check.json", "parents_cam.csv"):
        shutil.copyfile(both[1] / name, run.path / name)
    run = Run(run.path)
    assert read_check(run) is None and read_candidates(run, "cam") is None
    assert [one.message for one in artefacts.of(run).found] == [one.message for one in before.found]
    compute_candidates(run, "cam")
    assert len(read_candidates(run, "cam")) == 6


def test_roles_knowledge_and_origin_are_bound(small_table):
    table = small_table.assign(site=["a", "b"] * 150)
    given = {"roles": Roles({"site": "covariate"}), "knowledge": Knowledge(forbidden=[("a", "b")])}
    run = create_run(table, Settings(), name="bound", origin=origin.Origin(origin.FromFile("t.csv")), **given)
    assert set(run.digests) == {"table.parquet", "roles.json", "beside.parquet", "knowledge.json", "origin.json"}
    for name, read in (
        ("roles.json", lambda run: run.roles),
        ("beside.parquet", lambda run: run.with_roles()),
        ("knowledge.json", lambda run: run.knowledge()),
    ):
        whole = (run.path / name).read_bytes()
        (run.path / name).write_bytes(whole.replace(b"a", b"c", 1))
        with pytest.raises(InputError, match=f"{name} is damaged: it was changed"):
            read(Run(run.path))
        (run.path / name).write_bytes(whole)
    (run.path / "origin.json").write_text((run.path / "origin.json").read_text().replace("t.csv", "u.csv"))
    assert origin.of(run) is None


def test_what_the_program_rewrites_stays_its_own(run, monkeypatch):
    stamp, edges = stamps.refinement(run), (run.path / "refined_edges.csv").read_bytes()
    assert not read_refined(run).edges["decided"].any()
    dismiss(run, {"relation": "It is meant."})
    run.rename("another name")
    run.set_truth(pd.DataFrame({"parent": ["x1"], "child": ["x2"]}))
    compute_candidates(run, "cam")
    assert_whole(run)
    assert stamps.refinement(run) > stamp and (run.path / "refined_edges.csv").read_bytes() != edges
    (run.path / "refined_edges.csv").write_bytes(edges.replace(b"x1", b"x2", 1))
    with pytest.raises(InputError, match="refined_edges.csv is damaged: it was changed"):
        read_refined(run)


def test_a_stop_between_the_head_and_the_edges_leaves_a_refinement(run, monkeypatch):
    def stopped(path: Path, data: bytes, **how: bool) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(refined, "write_bytes", stopped)
    with pytest.raises(KeyboardInterrupt):
        dismiss(run, {"relation": "It is meant."})
    assert_whole(run)
    monkeypatch.setattr(refined, "write_bytes", write_bytes)
    refined.agree(run)
    assert_whole(run)


def test_a_run_is_bound_again_after_a_refinement_and_in_a_zip(run):
    refine_by_hand(run)
    assert read_refined(run).tables is None
    opened = unpack(io.BytesIO(pack(run)))
    assert opened.digests == run.digests and opened.id != run.path.name
    StoredFit(opened).ocs, StoredFit(opened, OTHER).ocs, read_refined(opened), compared.read_one(opened, "sort-mean")
    assert digests.read(opened.path)["ocs.csv"] == digests.of(run.path / "ocs.csv")


def test_a_file_is_hashed_once_until_it_changes(run, monkeypatch):
    read, hashed = hashlib.file_digest, []
    monkeypatch.setattr(hashlib, "file_digest", lambda file, how: hashed.append(file.name) or read(file, how))
    for _ in range(3):
        Run(run.path).table(), StoredFit(Run(run.path)).ocs, Run(run.path).shape
    assert len(hashed) == 3  # the table, the order and its candidates
    os.utime(run.path / "table.parquet", ns=(1, 1))
    Run(run.path).table()
    assert len(hashed) == 4
