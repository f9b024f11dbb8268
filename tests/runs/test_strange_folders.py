"""Folders of runs with anything in them: wrong settings and statuses, links, tickets. Other runs are not affected."""

import json
import os
import shutil
from pathlib import Path

import pytest

from disco.__main__ import main
from disco.errors import InputError
from disco.paper.settings import Settings
from disco.runs import create_run, find_runs, open_run, runs_root
from disco.runs.locks import held, note
from disco.runs.status import unasked
from disco.subjects import FIT
from disco.work import turns

TINY = Settings.of("paper", width=8, hidden_layers=2, joint_epochs=3, projection_epochs=2, noise_levels=2)

WRONG_SETTINGS = {
    "created": [None, 5, "yesterday", "0001-01-01T00:00:00", "9999-12-31T23:59:59-14:00", [], "2026" * 100_000],
    "format": [None, "1", True, 0, -1, 1.5, 10**400, float("inf"), [1]], "device": [None, 1, "tpu", "../../x"],
    "name": [None, 5, ["a"]], "source": [None, 5, {}], "id": [None, 5], "teaching": [None, "yes", 2],
    "settings": [None, 5, [], {"width": "wide"}, {"folds": 10**9}, {"seed": 2**60}, {"tau_z": 10**400}, {"depth": 3}],
}  # fmt: skip # a table


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in WRONG_SETTINGS.items() for value in values]
)
def test_settings_of_a_wrong_type_are_told_and_the_folder_can_be_deleted(small_table, field, value):
    good, bad = (create_run(small_table, TINY, name=name) for name in ("good", "bad"))
    path = bad.path / "settings.json"
    text = json.dumps({**json.loads(path.read_text()), field: value}).replace("Infinity", "1e400")
    path.write_text(text)
    runs, (unreadable,) = find_runs()
    assert runs == [good] and unreadable.name == bad.id and unreadable.deletable
    assert "settings.json" in unreadable.reason and len(unreadable.reason) < 500
    assert field in unreadable.reason or field == "settings"
    with pytest.raises(InputError, match=r"settings\.json"):
        open_run(bad.id)
    with pytest.raises(InputError, match=r"settings\.json"):
        open_run(bad.path)
    assert main(["graph", bad.id]) == 2
    unreadable.delete()
    assert find_runs() == ([good], [])


WRONG_STATUS = {
    "state": [5, None, "asleep", ["done"]], "stage": [None, 5, "screen"],
    "progress": [None, -1, 2, float("inf"), "half"], "eta": ["soon", -1, [1]], "done": [None, 1.5, -1, 10**400],
    "device": [5, "../../../x"], "error": [5, {}], "versions": [None, [1], {"disco": 5}],
    "estimate": [5, {"seconds": None}, {"seconds": 0}, {"seconds": 1, "by_stage": {"joint": "x"}}],
    "best_epochs": [5, {"joint": 5}, {"joint": ["x"]}], "queued_at": [None, "now", -1],
}  # fmt: skip # a table


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in WRONG_STATUS.items() for value in values]
)
def test_a_status_of_a_wrong_type_reads_as_failed_with_the_reason(small_table, field, value):
    run = create_run(small_table, TINY, name="odd")
    path = run.path / "status.json"
    path.write_text(json.dumps({**unasked(FIT).to_dict(), field: value}).replace("Infinity", "1e400"))
    status = run.status(FIT)
    assert status.state == "failed" and status.resumable
    assert "status.json" in status.error and (field in status.error or field == "estimate")
    assert run.update(FIT, state="queued").state == "queued"  # rewritten completely
    assert run.status(FIT).state == "interrupted"


def test_what_is_no_run_is_told_and_links_are_only_unlinked(small_table, tmp_path):
    good = create_run(small_table, TINY, name="good")
    root = runs_root()
    (root / "gone").symlink_to(tmp_path / "nowhere")
    (root / "round").symlink_to(root / "round")
    (root / "top").symlink_to("/")
    (root / "up").symlink_to(root)
    (root / "thesis").mkdir()
    (root / "thesis" / "chapter.txt").write_text("do not touch")
    (root / "empty").mkdir()
    (root / "red\x1b[31m\n").mkdir()
    os.mkdir(os.fsencode(root) + b"/\xff")
    (root / "notes.txt").write_text("no folder")
    os.mkfifo(root / "pipe")
    runs, unreadable = find_runs()
    assert runs == [good] and len(unreadable) == 8
    assert all(one.name.isprintable() and one.reason.isprintable() and one.reason for one in unreadable)
    for one in unreadable:
        if one.name == "thesis":
            with pytest.raises(InputError, match="other content than a run"):
                one.delete()
        else:
            one.delete()
    assert Path("/").exists() and (root / "thesis" / "chapter.txt").exists() and open_run(good.id) == good
    assert [one.name for one in find_runs()[1]] == ["thesis"]


def test_names_are_shown_without_control_characters(small_table):
    run = create_run(small_table, TINY, name="red \x1b[31m\x00 \u202e end", source="a\nb")
    assert run.name.isprintable() and open_run(run.id).name == run.name and run.source == "a\ufffdb"
    assert len(create_run(small_table, TINY, name="x" * 10_000).name) == 200


def test_damaged_tickets_and_locks_hold_up_nobody(small_table):
    run = create_run(small_table, TINY, name="waits", device="cpu")
    lock = run.take({"host": 5, "pid": -1, "signals": "yes", "work": "fit"})
    assert note(run.lock_path) == {"work": "fit"}
    turns.add_ticket(run, "cpu", 10.0, FIT)
    queue = turns.ticket_of(run, "cpu", 10.0).parent
    for number, content in enumerate((b"", b"\x00/x", b"\xff\xfe", b"/" + b"x" * 100_000, b"/", b"../..")):
        (queue / f"{number:020d}-x").write_bytes(content)
    os.mkfifo(queue / "00000000000000000007-pipe")
    (queue / "00000000000000000008-folder").mkdir()
    assert turns.wait_of(run, "cpu") == turns.Wait()
    lock.release()
    assert turns.waiting("cpu") == []
    os.mkfifo(run.path / "pipe")
    assert not held(run.path / "pipe") and note(run.path / "pipe") == {}
    shutil.rmtree(queue)
    queue.write_text("no folder")
    assert turns.waiting("cpu") == []
    with pytest.raises(InputError, match="cannot be written"):
        turns.add_ticket(run, "cpu", 10.0, FIT)
