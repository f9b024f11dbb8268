"""Too little memory ends in one sentence, whether the shell limits it or it runs out on the way."""

import errno
import resource
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from made_up import finished_run
from pyarrow import parquet

from disco.__main__ import main
from disco.errors import InputError
from disco.subjects import FIT
from disco.subjects.fit.results import StoredFit
from disco.subjects.table import command as check
from disco.work.recording import ending

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("which", "most", "option"),
    [
        (resource.RLIMIT_AS, 2_000_000_000, "2.0 GB of memory (ulimit -v)"),
        (resource.RLIMIT_DATA, 400_000_000, "0.4 GB of memory (ulimit -d)"),
    ],
)
def test_a_limit_of_the_shell_is_said_before_anything_is_read(tmp_path, which, most, option):
    done = subprocess.run(
        [sys.executable, "-m", "disco", "check", str(tmp_path / "absent.csv")],
        cwd=ROOT,
        preexec_fn=lambda: resource.setrlimit(which, (most, most)),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    assert f"this shell leaves {option}" in done.stderr and "needed: set ulimit" in done.stderr


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ImportError("libtorch_cpu.so: failed to map segment from shared object"),
        OSError("Could not find 'libllvmlite.so'. Original exception: libllvmlite.so: failed to map segment from it"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you"),
    ],
    ids=["numbers", "a library", "a compiler", "a process", "tensors"],
)
def test_memory_that_runs_out_gets_one_sentence(monkeypatch, capsys, error):
    def run(arguments):
        raise error

    monkeypatch.setattr(check, "run", run)
    assert main(["check", "counts.csv"]) == 2
    said = capsys.readouterr().err
    assert said == (
        "disco: the memory ran out: end other programs, raise a limit set by ulimit, or give fewer rows or columns.\n"
    )
    assert ending(error, FIT)["error"] == "The fit ran out of memory: use fewer columns or rows."
    monkeypatch.setattr(check, "run", lambda arguments: exec("raise ImportError('no module of this name')"))
    with pytest.raises(ImportError, match="no module"):
        main(["check", "counts.csv"])


def test_a_file_of_a_run_is_not_called_damaged_for_lack_of_memory(monkeypatch):
    run = finished_run(3)

    def full(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(pd, "read_csv", full)
    monkeypatch.setattr(parquet.ParquetFile, "read", full)
    for read in (StoredFit(run).edges, run.table):
        with pytest.raises(InputError, match="needs more memory than is free: end other programs, restore the file"):
            read()
