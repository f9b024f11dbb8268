"""A run's folder: written completely, read back exactly, found again, never affected by its neighbours."""

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from disco import files
from disco.errors import FitStopped, InputError
from disco.estimator import DISCO
from disco.files import plain, read_frame, write_bytes, write_frame
from disco.paper.settings import Settings
from disco.progress import Event
from disco.runs import Run, create_run, list_runs, open_run, runs_root
from disco.runs.locks import Lock, held
from disco.subjects import FIT
from disco.subjects.fit import CHECKPOINT, results
from disco.subjects.fit import events as losses
from disco.subjects.fit.events import read_events
from disco.subjects.fit.execution import execute
from disco.subjects.fit.results import StoredFit

TINY = {"width": 8, "hidden_layers": 2, "joint_epochs": 3, "projection_epochs": 2, "noise_levels": 2}
NAMES = ["<script>alert(1)</script>", 'quo"te, comma', "NA", "line\nbreak\r", "größe"]


@pytest.fixture
def tiny() -> Settings:
    return Settings.of("paper", **TINY)


def named(table: pd.DataFrame) -> pd.DataFrame:
    return table.set_axis(NAMES, axis=1)


def finished(table: pd.DataFrame, settings: Settings, **options) -> Run:
    run = create_run(table, settings, name="tiny", device="cpu", **options)
    execute(run)
    return run


def test_the_largest_scores_of_a_thousand_nodes_are_within_the_limit_of_a_file(tmp_path, monkeypatch):
    steps, third = np.arange(1000, 0, -1), 1e-3 / 3  # as many digits as a number has
    wide = pd.DataFrame({"step": 1000, "node": [f"gene {step:013}" for step in steps], "fold": 3})
    write_frame(tmp_path / "criteria.csv", wide.assign(**{f"criterion {k}": third for k in range(4)}))
    row = (tmp_path / "criteria.csv").stat().st_size / len(wide)
    assert row < files._ROW_BYTES and row * 3 * steps.sum() < files._MOST_FRAME_BYTES
    monkeypatch.setattr(files, "_FRAME_BYTES", 1000)
    assert len(read_frame(tmp_path / "criteria.csv", ["node"], most=1000)) == 1000
    with pytest.raises(ValueError, match="larger than"):
        read_frame(tmp_path / "criteria.csv", ["node"])


def test_a_run_holds_what_the_estimator_found(small_table, small_truth, tiny):
    table = named(small_table)
    run = finished(table, tiny, source="a test")
    model = DISCO(device="cpu", **tiny.to_dict()).fit(table)
    again = open_run(run.id)
    assert (
        again == run and again.source == "a test" and again.settings == tiny and StoredFit(again).order == model.order_
    )
    for stored, found in (
        (StoredFit(again).ccs, model.ccs_),
        (StoredFit(again).criteria, model.criteria_),
        (StoredFit(again).ocs, model.ocs_),
    ):
        pd.testing.assert_frame_equal(stored, found, check_dtype=False, check_exact=True)
    for tau_z, pi_min in ((None, None), (0.5, 1 / 3), (-9.0, 1.0)):
        edges, graph = StoredFit(again).edges(tau_z, pi_min), StoredFit(again).graph(tau_z, pi_min)
        assert set(graph.edges) == set(zip(edges["parent"], edges["child"], strict=True))
        assert set(graph.edges) == set(model.graph(tau_z, pi_min).edges)
    assert len(StoredFit(again).edges(-9.0, 1.0)) == 10
    pd.testing.assert_frame_equal(again.table(), table)
    assert results.training(again)["joint"]["epochs"] == 3


def test_its_files_are_those_promised_and_readable(small_table, small_truth, tiny):
    run = finished(small_table, tiny, truth=small_truth)
    wanted = "settings.json status.json training.json events.jsonl table.parquet networks.safetensors lock".split()
    wanted += "digests.json artefacts.json truth.csv order.csv ccs.csv criteria.csv ocs.csv edges.csv".split()
    assert {path.name for path in run.path.iterdir()} == set(wanted)
    columns = {
        "order": ["position", "node"],
        "ccs": ["step", "remaining", "node", "fold", "score", "chosen"],
        "ocs": ["fold", "parent", "child", "ocs", "curvature", "z"],
        "edges": ["parent", "child", "ocs", "frequency", "z"],
    }
    for name, expected in columns.items():
        assert pd.read_csv(run.path / f"{name}.csv").columns.tolist() == expected
    assert pd.read_csv(run.path / "order.csv")["position"].tolist() == [1, 2, 3, 4, 5]
    pd.testing.assert_frame_equal(run.truth(), small_truth)
    status = json.loads((run.path / "status.json").read_text())
    assert status["state"] == "done" and status["progress"] == 1 and status["device"] == "cpu"
    assert {"disco", "python", "torch", "numpy"} <= set(status["versions"])
    assert status["rows_used"] == 300 and status["error"] is None and status["seconds"] > 0


def test_losses_have_one_line_a_fold_an_epoch(small_table, tiny):
    run = finished(small_table, tiny)
    events = read_events(run)
    expected = {("joint", epoch, fold) for epoch in (1, 2, 3) for fold in (1, 2, 3)}
    expected |= {("projection", epoch, fold) for epoch in (1, 2) for fold in (1, 2, 3)}
    assert set(zip(events["stage"], events["epoch"], events["fold"], strict=True)) == expected
    assert len(events) == len(expected) and events["train"].notna().all()
    for line in (run.path / "events.jsonl").read_text().splitlines():
        assert list(json.loads(line)) == ["epoch", "stage", "fold", "train", "validation"]
    assert "NaN" not in (run.path / "events.jsonl").read_text()


def test_a_loss_still_being_written_is_left_out(tmp_path):
    run, path = SimpleNamespace(path=tmp_path), tmp_path / "events.jsonl"
    assert losses.read_events(run).empty
    losses.append(run, Event("joint", 1, 9, 0.1, train=(1.0, float("nan")), validation=(float("nan"),) * 2))
    with open(path, "a") as file:
        file.write('{"epoch": 2, "stage": "joi')
    assert losses.read_events(run)["epoch"].tolist() == [1]
    losses.rewind(run, "joint", 2)
    losses.append(run, Event("joint", 2, 9, 0.2, train=(0.5, 0.7)))
    found = losses.read_events(run)
    assert found["epoch"].tolist() == [1, 2, 2] and found["fold"].tolist() == [1, 1, 2]
    assert found["validation"].isna().all()
    losses.rewind(run, "joint", 1)
    assert losses.read_events(run).empty


def test_rewinding_forgets_what_is_done_again(tmp_path):
    run, path = SimpleNamespace(path=tmp_path), tmp_path / "events.jsonl"
    for stage, epochs in (("joint", 3), ("projection", 4)):
        for epoch in range(1, epochs + 1):
            losses.append(run, Event(stage, epoch, epochs, 0.0, train=(1.0, 2.0)))
    path.write_bytes(path.read_bytes() + path.read_bytes()[:40] + b"\n[1]\n{}\n{torn")
    losses.rewind(run, "ordering", 1)
    assert len(losses.read_events(run)) == 14
    losses.rewind(run, "projection", 3)
    assert losses.read_events(run).groupby("stage")["epoch"].max().to_dict() == {"joint": 3, "projection": 2}
    losses.rewind(run, "joint", 1)
    assert losses.read_events(run).empty


def test_a_stopped_fit_goes_on_and_equals_an_uninterrupted_one(small_table, tiny):
    whole = finished(small_table, tiny)
    run = create_run(small_table, tiny, name="stopped", device="cpu")
    for stage, done in (("joint", 2), ("projection", 1), ("ordering", 2)):
        with pytest.raises(FitStopped):
            execute(run, callback=lambda event, stop=(stage, done): (event.stage, event.done) != stop)
        status = run.status(FIT)
        assert status.state == "cancelled" and status.resumable and status.stage == stage
        assert (run.path / CHECKPOINT).exists()
    execute(run)
    assert run.status(FIT).state == "done" and not (run.path / CHECKPOINT).exists()
    pd.testing.assert_frame_equal(read_events(run), read_events(whole))
    for name in ("order.csv", "ccs.csv", "criteria.csv", "ocs.csv", "edges.csv", "networks.safetensors"):
        assert (run.path / name).read_bytes() == (whole.path / name).read_bytes(), name


def test_a_dead_process_reads_as_interrupted(small_table, tiny):
    run = create_run(small_table, tiny, name="dead", device="cpu")
    assert run.status(FIT).state == "unfitted" and run.status(FIT).resumable
    run.update(FIT, state="queued")
    assert run.status(FIT).state == "interrupted"  # nobody holds its lock
    lock = run.take()
    run.update(FIT, state="running")
    assert run.status(FIT).state == "running" and run.status(FIT).active
    with pytest.raises(InputError, match="already queued or running"):
        execute(run)
    with pytest.raises(InputError, match="cancel it first"):
        run.delete()
    lock.release()
    assert run.status(FIT).state == "interrupted" and run.status(FIT).resumable


def test_a_failure_leaves_its_sentence(small_table, tiny, monkeypatch):
    run = create_run(small_table, tiny, name="fails", device="cuda")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(InputError):
        execute(run)
    assert run.status(FIT).state == "failed" and "no CUDA device" in run.status(FIT).error
    broken = create_run(small_table, tiny, name="breaks", device="cpu")
    monkeypatch.setattr(DISCO, "fit", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        execute(broken)
    assert "ZeroDivisionError" in broken.status(FIT).error


def test_a_done_run_is_not_fitted_again(small_table, tiny):
    run = finished(small_table, tiny)
    with pytest.raises(InputError, match="is done"):
        execute(run)
    assert run.status(FIT).state == "done"


def test_variants_are_kept_beside_the_own_result(small_table, tiny):
    run = finished(small_table, tiny)
    model = DISCO(device="cpu", **tiny.to_dict()).fit(small_table)
    assert results.variants(run) == ["ccs-clipped"] and StoredFit(run, "ccs-clipped").order == StoredFit(run).order
    with pytest.raises(InputError, match="no result for constant-clipped yet"):
        StoredFit(run, "constant-clipped").edges()
    variant = model.recover(criterion="constant")
    for _ in range(2):  # a second time replaces the first
        results.save_variant(run, variant, "constant-clipped")
    assert (
        results.variants(run) == ["ccs-clipped", "constant-clipped"]
        and StoredFit(run, "constant-clipped").order == variant.order
    )
    assert set(StoredFit(run, "constant-clipped").graph(-9.0, 1.0).nodes) == set(small_table)
    with pytest.raises(InputError, match="must be one of"):
        StoredFit(run, "../../ccs-clipped").edges()


def test_runs_are_listed_newest_first_despite_broken_ones(small_table, tiny, tmp_path):
    runs = [create_run(small_table, tiny, name=f"Mäuse & Käfer {number}") for number in range(3)]
    outside = create_run(small_table, tiny, name="outside", folder=tmp_path / "elsewhere")
    for number, run in enumerate([*runs, outside]):
        settings = json.loads((run.path / "settings.json").read_text())
        settings["created"] = f"2026-01-0{number + 1}T00:00:00+00:00"
        (run.path / "settings.json").write_text(json.dumps(settings))
    (runs_root() / "broken").mkdir()
    (runs_root() / "torn").mkdir()
    (runs_root() / "torn" / "settings.json").write_text('{"format": 1, "na')
    (runs_root() / "notes.txt").write_text("not a run")
    (runs_root() / "gone").symlink_to(tmp_path / "nowhere")
    assert list_runs() == [outside, *reversed(runs)]
    assert runs[0].id.startswith("mause-kafer-0-") and open_run(outside.id) == outside
    assert outside.path == tmp_path / "elsewhere"
    outside.delete()
    runs[1].delete()
    assert list_runs() == [runs[2], runs[0]] and not outside.path.exists()


@pytest.mark.parametrize("name", ["../runs", "", "none-such", "/", "a/../b"])
def test_what_is_no_run_is_refused(name):
    runs_root()
    with pytest.raises(InputError):
        open_run(name)


def test_teaching_is_remembered_and_off_in_folders_that_do_not_say(small_table, small_truth, tiny):
    run = create_run(small_table, tiny, name="lesson", truth=small_truth, teaching=True)
    assert open_run(run.id).teaching and not create_run(small_table, tiny, name="other").teaching
    head = json.loads((run.path / "settings.json").read_text())
    del head["teaching"]
    (run.path / "settings.json").write_text(json.dumps(head))
    assert not open_run(run.id).teaching


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_truth_comes_changes_and_goes_while_the_run_is_worked_on(small_table, small_truth, tiny, monkeypatch):
    table = named(small_table)
    run = create_run(table, tiny, name="x")
    lock = run.take()
    edges = pd.DataFrame({"parent": NAMES[:2], "child": NAMES[2:4], "direction": ["known", "unknown"], "more": 1.0})
    run.set_truth(edges)
    assert open_run(run.id).truth().equals(edges.drop(columns="more").astype("str"))
    with pytest.raises(InputError, match='names "a", which is not in the table of the run'):
        run.set_truth(small_truth)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(InputError, match="No space left on device"):
            run.set_truth(edges[:1])
    assert len(run.truth()) == 2 and not list(run.path.glob(".*"))
    run.set_truth(None)
    run.set_truth(None)
    assert run.truth() is None
    lock.release()


def test_a_newer_format_is_refused_and_an_older_one_read(small_table, tiny):
    run = finished(small_table, tiny)
    path = run.path / "settings.json"
    head = json.loads(path.read_text())
    path.write_text(json.dumps({**head, "format": 99}))
    with pytest.raises(InputError, match="newer version of DISCO.*upgrade"):
        open_run(run.id)
    old = {key: head[key] for key in ("format", "settings")}
    del old["settings"]["monitor_every"]  # a setting added later
    path.write_text(json.dumps(old))
    (run.path / "status.json").write_text('{"state": "done", "a field of another version": 1}')
    again = open_run(run.id)
    assert again.settings == replace(tiny, monitor_every=20)  # its value at that time, whatever the default is now
    assert again.status(FIT).state == "done" and StoredFit(again).order == StoredFit(run).order


def test_an_interrupted_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "status.json"
    write_bytes(path, b"old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("power cut")))
    with pytest.raises(OSError):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old" and [found.name for found in tmp_path.glob("*.json*")] == ["status.json"]


def test_frames_keep_names_and_digits(tmp_path):
    numbers = np.random.default_rng(0).normal(size=len(NAMES)) * 1e-7
    frame = pd.DataFrame({"node": NAMES, "score": numbers, "missing": [1.5, *[np.nan] * 4], "step": range(5)})
    write_frame(tmp_path / "a.csv", frame)
    pd.testing.assert_frame_equal(read_frame(tmp_path / "a.csv", ("node",)), frame, check_exact=True, check_dtype=False)
    assert plain({"a": np.float64("nan"), 1: (np.arange(2), "x")}) == {"a": None, "1": [[0, 1], "x"]}


def test_a_lock_is_seen_by_others_and_probes_do_not_disturb(tmp_path):
    path = tmp_path / "lock"
    assert not held(path)
    lock = Lock.take(path)
    assert held(path) and Lock.take(path) is None
    lock.release()
    assert not held(path) and (second := Lock.take(path)) is not None
    second.release()


def test_a_root_that_cannot_be_made_is_told(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DISCO_RUNS", str(tmp_path / "file" / "runs"))
    with pytest.raises(InputError, match="set DISCO_RUNS"):
        runs_root()
    monkeypatch.delenv("DISCO_RUNS")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert runs_root().is_dir() and tmp_path.resolve() in Path(runs_root()).parents
