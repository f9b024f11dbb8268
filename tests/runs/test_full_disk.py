"""A full or read-only disk: one sentence, exit status 2, and a run whose status is true."""

import errno
import os

import pytest

from disco.__main__ import main
from disco.errors import InputError
from disco.files import append_bytes
from disco.paper.settings import Settings
from disco.runs import create_run, find_runs, list_runs, runs_root
from disco.subjects import FIT, REFINE
from disco.subjects.fit import events as losses
from disco.subjects.fit.execution import execute
from disco.work import jobs

pytestmark = pytest.mark.usefixtures("single_threaded")

TINY = {"width": 8, "hidden_layers": 2, "joint_epochs": 3, "projection_epochs": 2, "noise_levels": 2}
SETTINGS = Settings.of("paper", **TINY)
FIT_ARGUMENTS = ["--preset", "paper", *(word for name, value in TINY.items() for word in ("--set", f"{name}={value}"))]
REFINE_ARGUMENTS = ["--starts", "1", "--restarts", "0", "--bootstrap", "0"]


class Full:
    """A disk that accepts a number of writes, then none."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, after: int, number: int = errno.ENOSPC) -> None:
        self.left, self.number, self.refused = after, number, 0
        for name in ("replace", "rename", "fsync"):
            monkeypatch.setattr(os, name, self.counted(getattr(os, name)))

    def counted(self, real):
        def call(*arguments, **named):
            self.left -= 1
            if self.left < 0:
                self.refused += 1
                raise OSError(self.number, os.strerror(self.number), str(arguments[0]))
            return real(*arguments, **named)

        return call


@pytest.fixture
def counts(small_table, tmp_path) -> str:
    small_table[["a", "b", "c"]].to_csv(tmp_path / "counts.csv", index=False)
    return str(tmp_path / "counts.csv")


def assert_true_and_tidy(where) -> None:
    """No run reads as running, and nothing incomplete is left."""
    for run in list_runs():
        assert not run.status(FIT).active and not run.status(REFINE).active
        assert [path.name for path in run.path.rglob("*.tmp")] == []
    assert find_runs()[1] == [] and not [path for place in (runs_root(), where) for path in place.glob(".making-*")]


@pytest.mark.parametrize("after", [0, 1, 4, 8, 10, 12, 14, 18, 24, 30, 36])
@pytest.mark.parametrize("command", ["fit", "refine"])
def test_a_disk_that_fills_at_any_moment_costs_one_sentence(counts, tmp_path, monkeypatch, capsys, command, after):
    out = ["--out", str(tmp_path / "out")]
    fit, refine = ["fit", counts, *FIT_ARGUMENTS], ["refine", "--counts", counts, *REFINE_ARGUMENTS]
    typed = [*(fit if command == "fit" else refine), *out]
    with monkeypatch.context() as patch:
        disk = Full(patch, after)
        status = main(typed)
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("disco: ")]
    assert status == (2 if told else 0) and len(told) <= 1
    assert_true_and_tidy(tmp_path)
    if told:
        assert disk.refused and "No space left on device" in told[0]
        again = [*typed, "--resume"] if command == "fit" else typed
        assert main(again) == 0  # once there is space, it resumes or starts
    assert [run.status(FIT).state for run in list_runs()] == ["done" if command == "fit" else "unfitted"]


def test_the_end_that_cannot_be_written_reads_as_interrupted(small_table, monkeypatch):
    run = create_run(small_table, SETTINGS, name="full", device="cpu")
    with monkeypatch.context() as patch:

        def fills(event) -> bool:
            Full(patch, 0)
            return True

        with pytest.raises(InputError, match="No space left on device"):
            execute(run, callback=fills)
    assert (
        run.written_status(FIT).state == "running"
        and run.status(FIT).state == "interrupted"
        and run.status(FIT).resumable
    )


@pytest.mark.parametrize("file", ["lock", "status.json", "table.parquet", ".queue"])
def test_what_cannot_be_written_keeps_a_start_from_beginning(small_table, file):
    """A folder is in the place of a file, which has the effect of a missing write permission."""
    run = create_run(small_table, SETTINGS, name="blocked", device="cpu")
    place = runs_root() / file if file == ".queue" else run.path / file
    if file == ".queue":
        place.write_text("")
    else:
        place.unlink(missing_ok=True)
        place.mkdir()
    if file == "table.parquet":
        with pytest.raises(InputError, match=file):
            execute(run)
        assert run.status(FIT).state == "failed"
        return
    with pytest.raises(InputError, match="cannot be written"):
        jobs.start(run, FIT)
    assert not run.status(FIT).active and not run.alive


def test_files_that_nothing_depends_on_may_fail(small_table, monkeypatch):
    run = create_run(small_table, SETTINGS, name="whole", device="cpu")
    for name in ("events.jsonl", "worker.log"):
        os.mkfifo(run.path / name)  # a writer would wait for a reader
    execute(run)
    assert run.status(FIT).state == "done"
    append_bytes(run.path / "nowhere" / "file", b"lost")
    (run.path / "events.jsonl").unlink()
    (run.path / "events.jsonl").mkdir()
    losses.rewind(run, "joint", 1)
    with open(os.devnull, "ab") as nowhere, jobs._log(run) as log:
        assert os.fstat(log.fileno()).st_rdev == os.fstat(nowhere.fileno()).st_rdev
