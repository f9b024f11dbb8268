"""A run as one ZIP and back; what a stranger may put into such a ZIP is refused with a sentence and leaves nothing."""

import io
import json
import os
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_up import of_an_older_version
from safetensors.numpy import save

from disco import runs
from disco.errors import InputError
from disco.files import HOMES
from disco.graph.result import GraphResult
from disco.paper.settings import Settings
from disco.refine import Choice, refine
from disco.reports import packing
from disco.reports.packing import pack, unpack
from disco.runs import Run, create_run
from disco.subjects import COMPARE, FIT, REFINE
from disco.subjects.comparison import compared
from disco.subjects.comparison.compared import MethodResult
from disco.subjects.fit.events import read_events
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement.refined import read_refined
from disco.subjects.refinement.refined import save as save_refined
from disco.table.roles import Roles

EXAMPLE = (HOMES[0] / "datasets" / "example.zip").read_bytes()
Files = dict[str, bytes]


def files_of(data: bytes) -> Files:
    """The files of a ZIP by their names in the run's folder."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def zipped(files: Files, top: str = "run/", kind: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        for name, data in files.items():
            archive.writestr(top + name, data)
    return buffer


def refused(file: io.BytesIO, *words: str) -> str:
    """The sentence of a ZIP that cannot be opened; nothing of it is left."""
    with pytest.raises(InputError) as told:
        unpack(file)
    said = str(told.value)
    assert said.startswith("This run cannot be opened: ") and said.endswith(".") and "\n" not in said
    assert ".making-" not in said and all(word in said for word in words), said
    assert runs.find_runs() == ([], []) and not list(runs.runs_root().glob(".making-*"))
    return said


# There and back ------------------------------------------------------------------------------------------------------


def test_a_run_comes_back_as_it_was():
    run = unpack(io.BytesIO(EXAMPLE))
    run.rename("Another  name\n")
    (run.path / "networks.safetensors").write_bytes(save({"a": np.zeros(2)}))
    kept = pack(run)
    run.delete()
    back = unpack(io.BytesIO(kept))
    assert back == run and back.id == run.id and back.name == "Another name" and pack(back) == kept
    assert files_of(kept).keys() - files_of(pack(back, networks=False)).keys() == {"networks.safetensors"}
    assert (
        StoredFit(back).edges().equals(StoredFit(runs.open_run(run.id)).edges()) and len(read_refined(back).edges) > 20
    )


def test_a_run_of_an_earlier_version_opens():
    run = unpack(io.BytesIO(Path(__file__).with_name("run-of-2026-11-22.zip").read_bytes()))
    assert run.status(FIT).state == run.status(REFINE).state == "done"
    assert StoredFit(run).order == ["x1", "x4", "x3", "x5", "x2"] and len(StoredFit(run).edges()) == 4
    refined = read_refined(run)
    assert refined is not None and len(refined.edges) == 5 and refined.fits == 1018
    assert StoredFit(unpack(io.BytesIO(pack(run)))).order == StoredFit(run).order


def test_everything_that_a_refinement_writes_comes_back(rng):
    given = np.where(rng.random(300) < 0.5, "drug", "control")
    a = rng.poisson(np.where(given == "drug", 8, 3))
    table = pd.DataFrame({"a": a, "b": rng.poisson(1 + a), "given": given})
    run, choice = (
        create_run(table, Settings(), name="trial", roles=Roles({"given": "context"})),
        Choice(1, 0, bootstrap=2, folds=0),
    )
    save_refined(run.path, refine(run.table(), choice, order=["b", "a"], roles=run.adjustment), choice)
    run.update(REFINE, state="done")
    written = {path.name for path in run.path.glob("refined*")}
    assert {"refined_tables.csv", "refined_contexts.csv", "refined_moves.csv", "refined_orders.csv"} <= written
    assert written <= files_of(pack(run)).keys()


def test_a_second_copy_gets_an_id_of_its_own():
    first, second = unpack(io.BytesIO(EXAMPLE)), unpack(io.BytesIO(EXAMPLE))
    assert first.id != second.id and {first.id, second.id} == {run.id for run in runs.list_runs()}
    assert json.loads((second.path / "settings.json").read_text())["id"] == second.id
    link = runs.runs_root() / first.id
    first.delete()
    link.symlink_to(second.path)  # a link has the name too
    assert unpack(io.BytesIO(EXAMPLE)).id not in (first.id, second.id)


@pytest.mark.parametrize("run_id", ["../../evil", "", ".hidden", "a/b", "x" * 150, 7])
def test_an_id_that_is_none_is_replaced(run_id):
    files = files_of(EXAMPLE)
    files["settings.json"] = json.dumps({**json.loads(files["settings.json"]), "id": run_id}).encode()
    if run_id == 7:
        refused(zipped(files), "settings.json is damaged", "id is 7")
        return
    run = unpack(zipped(files))
    assert run.path.parent == runs.runs_root() and run.id.startswith("example-poisson-20-")


@pytest.mark.parametrize("top", ["", "another name/", "Übung (1)/"])
def test_a_zip_may_have_been_made_anew(top):
    """By another program: without a folder, or with one of another name; empty folders in it are no harm."""
    run = unpack(zipped({**files_of(EXAMPLE), "variants/": b"", "variants/ccs-clipped/": b""}, top))
    assert StoredFit(run).order and run.id.startswith("example-poisson-20-")


def test_what_is_not_finished_stays_behind(small_table):
    run = create_run(small_table, Settings(), name="unfinished")
    (run.path / "checkpoint.safetensors").write_bytes(b"state")
    (run.path / "worker.log").write_text("said")
    (run.path / "events.jsonl").write_text("{}\n")
    run.update(FIT, state="cancelled", progress=0.4, host="somewhere")
    run.update(REFINE, state="cancelled", choice=vars(Choice()))
    kept = pack(run)
    assert files_of(kept).keys() == {"settings.json", "table.parquet", "status.json", "artefacts.json"}
    run.delete()
    back = unpack(io.BytesIO(kept))
    assert back.status(FIT).state == "unfitted" and back.status(REFINE).state == "none" and not back.status(FIT).host
    assert back.table().equals(small_table)


def test_a_refinement_that_is_made_again_is_packed_as_it_was():
    run = unpack(io.BytesIO(EXAMPLE))
    run.update(REFINE, state="cancelled")
    kept = pack(run)
    assert "refining_status.json" not in files_of(kept) and "refined.json" in files_of(kept)
    assert unpack(io.BytesIO(kept)).status(REFINE).state == "done"


def test_a_run_that_is_worked_on_is_not_packed():
    run = unpack(io.BytesIO(EXAMPLE))
    lock = run.take()
    with pytest.raises(InputError, match="is in use: wait until its work is done, or cancel it"):
        pack(run)
    lock.release()
    assert files_of(pack(run)) == {**files_of(EXAMPLE), "artefacts.json": (run.path / "artefacts.json").read_bytes()}


@pytest.mark.parametrize("name", ["order.csv", "refined.json"])
def test_a_damaged_run_is_not_packed_but_named(name):
    """Else its owner would learn of the damage when the run itself is gone."""
    run = unpack(io.BytesIO(EXAMPLE))
    (run.path / name).write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match="could not be opened again: .*copy its folder") as told:
        pack(run)
    assert name.partition(".")[0] in str(told.value) and "disco-" not in str(told.value)


def test_a_link_out_of_the_folder_is_not_packed(tmp_path):
    run = unpack(io.BytesIO(EXAMPLE))
    (tmp_path / "secret").write_text("parent,child\n")
    (run.path / "truth.csv").unlink()
    (run.path / "truth.csv").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="truth.csv is a link: replace it by the file or folder itself"):
        pack(run)


def test_a_run_too_large_to_be_opened_again_is_not_packed(monkeypatch):
    run = unpack(io.BytesIO(EXAMPLE))
    for limit in ("MOST_PACKED", "MOST_UNPACKED"):
        with monkeypatch.context() as patch:
            patch.setattr(packing, limit, 50_000)
            with pytest.raises(InputError, match="too large to be opened again"):
                pack(run)


# From a stranger -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "../evil.txt", "../../../../tmp/evil", "/etc/evil", "lock", "worker.log", "checkpoint.safetensors", "evil.py",
        "refining.json", "variants/../order.csv", "variants/evil/order.csv", "a/b/c.csv", "order.csv/x",
        "settings.json/", "C:\\evil", "..\\evil", "truth.CSV", "__MACOSX/._order.csv", "parents_ocs.csv", "x\x1b[31m",
        "compare/../x/result.json", "compare/magic/result.json", "compare/sort-mean/run.py",
    ],
)  # fmt: skip # a list to read as one
@pytest.mark.parametrize("top", ["", "run/"])
def test_only_files_of_a_run_are_unpacked(name, top, tmp_path):
    said = refused(zipped({**files_of(EXAMPLE), name: b""}, top), "which is not a file of a run")
    assert said.isprintable() and sorted(path.name for path in tmp_path.iterdir()) == ["runs"]


def test_names_beside_the_one_folder_are_refused():
    both = zipped({**{f"run/{name}": data for name, data in files_of(EXAMPLE).items()}, "../x": b""}, "")
    refused(both, "which is not a file of a run")
    refused(zipped(files_of(EXAMPLE), "../"), "which is not a file of a run")
    refused(zipped(files_of(EXAMPLE), "/tmp/"), "which is not a file of a run")


def test_links_and_devices_are_refused():
    for kind in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR):
        buffer = zipped(files_of(EXAMPLE))
        with zipfile.ZipFile(buffer, "a") as archive:
            entry = zipfile.ZipInfo("run/name.txt")
            entry.external_attr = (kind | 0o777) << 16
            archive.writestr(entry, "/etc/passwd")
        refused(buffer, "its name.txt is a link or something else, not a file")


def test_a_file_twice_is_refused():
    buffer = zipped(files_of(EXAMPLE))
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("run/order.csv", b"")
    refused(buffer, "it has order.csv twice")


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_rare_compressions_are_refused(kind):
    refused(zipped(files_of(EXAMPLE), kind=kind), "its compression is not supported")


def test_an_encrypted_file_is_refused():
    data = bytearray(zipped(files_of(EXAMPLE)).getvalue())
    data[data.index(b"PK\1\2") + 8] |= 1
    refused(io.BytesIO(data), "is encrypted")


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(packing.shutil, "copyfileobj", pytest.fail)
    refused(zipped({**files_of(EXAMPLE), "truth.csv": bytes(5_000_000)}), "truth.csv unpacks to more than 200 times")
    monkeypatch.setattr(packing, "MOST_UNPACKED", 100_000)
    refused(zipped(files_of(EXAMPLE)), "it unpacks to more than 0 MB")
    monkeypatch.setattr(packing, "MOST_PACKED", 50_000)
    refused(zipped(files_of(EXAMPLE)), "more than 0 MB")


def test_a_file_that_lies_about_its_size_is_cut_and_refused():
    """Its list says 100 bytes, the packed data hold 100 MB: no more than what it says is written."""
    data = bytearray(zipped({"truth.csv": bytes(100_000_000), **files_of(EXAMPLE)}).getvalue())
    at = data.index(b"PK\1\2")
    struct.pack_into("<I", data, at + 24, 100)
    refused(io.BytesIO(data), "damaged")


def test_many_files_are_refused_before_they_are_listed(monkeypatch):
    many = zipped({f"{number}": b"" for number in range(501)})
    refused(many, "it packs 501 files, more than 500")
    more = zipped({f"{number}": b"" for number in range(3000)})
    monkeypatch.setattr(zipfile, "ZipFile", pytest.fail)
    refused(more, "it packs more than 500 files")


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    return data[:30_000] + bytes([data[30_000] ^ 255]) + data[30_001:]


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"PK\5\6" + bytes(18), b"no zip" * 1000, b"PK\5\6", cut(EXAMPLE), flipped(EXAMPLE)]
)
def test_what_is_no_zip_is_refused(data):
    refused(io.BytesIO(data))


def state_of(name: str, **changes: object) -> Callable[[Files], None]:
    """A change of a JSON file."""
    return lambda files: files.update({name: json.dumps({**json.loads(files[name]), **changes}).encode()})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda files: files.pop("settings.json"), "it has no settings.json"),
        (lambda files: files.pop("table.parquet"), "table.parquet is missing"),
        (lambda files: files.pop("edges.csv"), "has no result yet"),
        (lambda files: files.update({"training.json": b"{}"}), "training.json is damaged"),
        (lambda files: files.update({"table.parquet": b"PAR1"}), "cannot be read as Parquet"),
        (lambda files: files.update({"networks.safetensors": b"\x80\x04."}), "networks.safetensors cannot be read"),
        (lambda files: files.update({"variants/constant-clipped/edges.csv": files["edges.csv"]}), "is missing"),
        (state_of("settings.json", format=2), "written by a newer version of DISCO"),
        (state_of("status.json", state="running"), "its fit is running, not done"),
        (state_of("status.json", state="unfitted"), "it has results of an unfinished fit"),
        (state_of("refining_status.json", state="queued"), "its likelihood search is queued, not done"),
        (state_of("refined.json", score="high"), "refined.json is damaged"),
        (lambda files: files.update({"truth.csv": b"mother,child\n"}), "truth.csv is damaged"),
    ],
)  # fmt: skip # one line for each
def test_what_no_run_can_hold_is_refused(change, said):
    files = files_of(EXAMPLE)
    change(files)
    refused(zipped(files), said)


def test_what_counts_as_absent_is_left_out():
    damaged = {"parents_cam.csv": b"x", "refined_check.json": b"{}", "events.jsonl": b"{torn", "name.txt": b"\xff"}
    run = unpack(zipped({**files_of(EXAMPLE), **damaged}))
    assert not (run.path / "parents_cam.csv").exists() and not (run.path / "refined_check.json").exists()
    assert len(read_events(run)) == 0 and run.name == "Example: Poisson 20"


def test_a_full_disk_is_told(monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(packing.shutil, "copyfileobj", full)
    with pytest.raises(InputError, match="No space left on device"):
        unpack(io.BytesIO(EXAMPLE))
    assert runs.find_runs() == ([], []) and not list(runs.runs_root().glob(".making-*"))


CSV = (*"order ccs criteria ocs edges".split(), *(f"refined_{name}" for name in "order starts orders nodes".split()))


@pytest.mark.parametrize("name", [f"{name}.csv" for name in CSV])
def test_a_file_that_lost_its_rows_is_refused(name):
    files = files_of(EXAMPLE)
    refused(zipped({**files, name: files[name].partition(b"\n")[0] + b"\n"}), name)


def test_another_order_that_lost_its_rows_is_refused():
    files = files_of(EXAMPLE)
    variant = {f"variants/constant-clipped/{name}.csv": files[f"{name}.csv"] for name in CSV[:5]}
    unpack(zipped({**files, **variant})).delete()
    for name in variant:
        refused(zipped({**files, **variant, name: variant[name].partition(b"\n")[0] + b"\n"}), name.split("/")[-1])


def test_a_table_that_lost_rows_is_refused():
    files, buffer = files_of(EXAMPLE), io.BytesIO()
    table = pd.read_parquet(io.BytesIO(files["table.parquet"]))
    table.head(100).to_parquet(buffer, index=False)
    refused(zipped({**files, "table.parquet": buffer.getvalue()}), "it has 100 rows, but settings.json says 2,000")


def test_what_no_reader_foresaw_is_one_sentence(monkeypatch):
    monkeypatch.setattr(packing, "_check", lambda folder: {}["odd\n"])
    refused(io.BytesIO(EXAMPLE), "its content is damaged (KeyError: 'odd")


# A new name ----------------------------------------------------------------------------------------------------------


def test_a_run_is_renamed_while_it_is_worked_on_and_gets_its_name_back(small_table):
    run = create_run(small_table, Settings(), name="first")
    settings, lock = (run.path / "settings.json").read_bytes(), run.take()
    run.rename("  second\n name ")
    assert run.name == Run(run.path).name == "second name" and runs.list_runs()[0].name == "second name"
    assert (run.path / "settings.json").read_bytes() == settings and run.id == Run(run.path).id
    lock.release()
    run.rename(" \t")
    assert run.name == "first" and not (run.path / "name.txt").exists()
    with pytest.raises(InputError, match="The name has 201 characters; the limit is 200"):
        run.rename("x" * 201)


@pytest.mark.parametrize(
    "damage",
    [
        *(lambda path, data=data: path.write_bytes(data) for data in (b"\xff\xfe", b"x" * 5000, b"", b" \n")),
        *(Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")),
    ],
)
def test_a_damaged_name_is_none(small_table, damage):
    run = create_run(small_table, Settings(), name="first")
    damage(run.path / "name.txt")
    assert run.name == "first"


def test_a_name_is_shown_without_what_controls_a_terminal(small_table):
    run = create_run(small_table, Settings(), name="first")
    run.rename("a\x1b[31mb\x00\ud800")
    assert run.name.isprintable() and Run(run.path).name == run.name and run.name.startswith("a")


# Compared methods ----------------------------------------------------------------------------------------------------


def compared_run() -> Run:
    """A run with two methods beside it, one of which failed."""
    run = unpack(io.BytesIO(EXAMPLE))
    nodes = run.nodes
    scores = pd.DataFrame({"parent": nodes[:1], "child": nodes[1:2], "score": [1.0]})
    result = GraphResult.of(
        nodes, [(nodes[0], nodes[1])], undirected=[(nodes[2], nodes[1])], order=nodes, scores=scores
    )
    compared.save(run, MethodResult("sort-mean", "done", {"by": "mean"}, 2.0, 60.0, found=result))
    compared.save(run, MethodResult("sort-excess", "failed", {}, 2.0, 60.0, "It failed."))
    (run.path / "compare/sort-mean/log.txt").write_text("not packed")
    compared.write_table(run)
    return run


def test_compared_methods_come_back_without_their_logs():
    run = compared_run()
    before, kept = compared.read_all(run), files_of(pack(run))
    assert "compare/sort-mean/scores.csv" in kept and not any(name.endswith("log.txt") for name in kept)
    run.delete()
    back = unpack(zipped(kept))
    found = compared.read_all(back)
    assert [(one.method, one.state, one.note) for one in found] == [(one.method, one.state, one.note) for one in before]
    assert found[0].found.nodes == before[0].found.nodes and found[0].found.pairs == before[0].found.pairs
    assert (back.path / "compare.csv").read_bytes() == kept["compare.csv"] and back.status(COMPARE).state == "done"


def test_the_result_of_a_former_method_is_left_out():
    run = compared_run()
    files = files_of(pack(run))
    run.delete()
    former = {f"compare/search-nb/{name}": files[f"compare/sort-mean/{name}"] for name in compared.FILES}
    back = unpack(zipped({**files, **former}))
    assert compared.names(back) == ["sort-mean", "sort-excess"] and not (back.path / "compare/search-nb").exists()


def test_a_strange_comparison_is_refused():
    run = of_an_older_version(compared_run())
    files = files_of(pack(run))
    run.delete()
    order = files["compare/sort-mean/order.csv"]
    for name, data, why in (
        ("compare/sort-mean/order.csv", order.replace(b'"', b'"x', 1), "order.csv is damaged"),
        ("compare/sort-mean/edges.csv", b"parent,child,undirected\n", "it has 0 edges, but result.json says 2"),
        ("compare/sort-mean/order.csv", b"position,node\n", "it has no rows"),
        ("compare/sort-mean/scores.csv", b"parent,child,score\n", "it has no rows"),
    ):
        refused(zipped({**files, name: data}), why)
    strange = unpack(zipped({**files, "compare.csv": b"=cmd()"}))
    assert (strange.path / "compare.csv").read_bytes() == files["compare.csv"]
