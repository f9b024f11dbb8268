"""A run is made completely or not at all, also when two processes want the same one."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from job_world import PATIENCE, few_threads, wait

from disco.__main__ import main
from disco.errors import InputError
from disco.paper.settings import Settings
from disco.runs import create_run, find_runs, list_runs, making, open_run, runs_root
from disco.runs.locks import Lock
from disco.subjects import REFINE

assert few_threads  # used by every test here

ROOT = Path(__file__).resolve().parents[2]
KILLED = """
import os, signal, sys
import pandas as pd
from disco.runs import create_run, making
from disco.paper.settings import Settings

def dies(*arguments, **named):
    os.kill(os.getpid(), signal.SIGKILL)

owner, name = sys.argv[1].split(".")
setattr({"making": making, "os": os}[owner], name, dies)
table = pd.DataFrame({"a": list(range(40)), "b": [k % 5 for k in range(40)]})
create_run(table, Settings(), name="killed", folder=sys.argv[2] or None)
"""


@pytest.mark.parametrize(
    ("where", "folder"), [("making.write_counts", ""), ("making.write_json", "own"), ("os.rename", "")]
)
def test_a_maker_that_is_killed_leaves_no_run(small_table, tmp_path, where, folder):
    own = str(tmp_path / folder) if folder else ""
    ended = subprocess.run([sys.executable, "-c", KILLED, where, own], cwd=ROOT, check=False, timeout=PATIENCE)
    assert ended.returncode == -signal.SIGKILL
    place = tmp_path if folder else runs_root()
    assert len(list(place.glob(".making-*"))) == 1 and find_runs() == ([], [])
    run = create_run(small_table, Settings(), name="next", folder=Path(own) if folder else None)
    assert not list(place.glob(".making-*")) and list_runs() == [run]


def test_what_a_living_maker_fills_stays(tmp_path):
    living, dead, young = (tmp_path / f".making-{name}" for name in ("living", "dead", "young"))
    for path in (living, dead, young):
        path.mkdir()
    lock = Lock.take(living / "lock")
    Lock.take(dead / "lock").release()
    making.remove_unfinished(tmp_path)
    assert living.exists() and young.exists() and not dead.exists()
    os.utime(young, (0, 0))  # its maker died before taking the lock
    making.remove_unfinished(tmp_path)
    assert not young.exists()
    lock.release()


def test_a_folder_of_ones_own_may_be_there_already(small_table, tmp_path, monkeypatch):
    for name in ("empty", "linked", "alone"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "linked")
    (tmp_path / "empty" / ".making-left").mkdir()
    os.utime(tmp_path / "empty" / ".making-left", (0, 0))
    assert create_run(small_table, Settings(), name="x", folder=tmp_path / "empty").path == tmp_path / "empty"
    assert create_run(small_table, Settings(), name="y", folder=tmp_path / "link").path == tmp_path / "linked"
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # nothing can be made beside it
    run = create_run(small_table, Settings(), name="z", folder=tmp_path / "alone")
    assert run.path == tmp_path / "alone" and not list(run.path.glob(".*")) and len(list_runs()) == 3
    assert open_run(run.path).table().equals(small_table)


def test_two_makers_of_one_folder_do_not_mix(small_table, tmp_path, monkeypatch):
    """The second starts while the first writes its table."""
    write, others = making.write_counts, []

    def slowly(path: Path, counts: pd.DataFrame) -> None:
        monkeypatch.setattr(making, "write_counts", write)
        others.append(create_run(small_table[["a", "b"]], Settings(), name="quick", folder=tmp_path / "out"))
        write(path, counts)

    monkeypatch.setattr(making, "write_counts", slowly)
    with pytest.raises(InputError, match="not empty"):
        create_run(small_table, Settings(), name="slow", folder=tmp_path / "out")
    assert list_runs() == others and list(others[0].table()) == ["a", "b"] and not list(tmp_path.glob(".making-*"))


def test_of_two_refinements_of_a_run_one_works_and_the_other_gets_a_sentence(small_table, tmp_path, capsys):
    small_table.to_csv(tmp_path / "counts.csv", index=False)
    run = create_run(small_table, Settings(), name="twice", folder=tmp_path / "out", device="cpu")
    typed = ["refine", str(run.path), "--bootstrap", "100000"]
    command = [sys.executable, "-m", "disco", *typed]
    first, second = (
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in "ab"
    )
    wait(lambda: first.poll() is not None or second.poll() is not None)
    refused, working = (first, second) if first.poll() is not None else (second, first)
    told = refused.communicate(timeout=PATIENCE)[1].strip().splitlines()
    assert refused.returncode == 2 and "already queued or running" in told[-1], told
    wait(lambda: run.status(REFINE).state == "running")
    assert working.poll() is None and run.alive
    for other in (typed, ["fit", str(tmp_path / "counts.csv"), "--out", str(run.path), "--resume"]):
        assert main(other) == 2 and "already queued or running" in capsys.readouterr().err
    working.send_signal(signal.SIGINT)
    assert "stopped;" in working.communicate(timeout=PATIENCE)[1] and working.returncode == 130
    assert run.status(REFINE).state == "cancelled"
    assert time.time() > (run.status(REFINE).finished_at or 0) > 0


def test_rows_left_out_are_recorded_and_checked(small_table):
    run = create_run(small_table, Settings(), name="left", rows_left_out=((3, 3), (17, 19)))
    assert open_run(run.id).rows_left_out == ((3, 3), (17, 19))
    path = run.path / "settings.json"
    values = json.loads(path.read_text())
    for wrong in ([[3]], [[3, 2]], [[0, 2]], [[3, 4], [4, 5]], [["3", "4"]], "3", [3, 4]):
        path.write_text(json.dumps({**values, "rows_left_out": wrong}))
        with pytest.raises(InputError, match="rows_left_out"):
            open_run(run.path)
    del values["rows_left_out"]  # as older versions wrote it
    path.write_text(json.dumps(values))
    assert open_run(run.path).rows_left_out == ()
