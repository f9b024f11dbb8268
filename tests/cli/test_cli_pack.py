"""disco pack and disco unpack: a run as one ZIP and back."""

import os

import pytest
from made_up import finished_run, of_an_older_version

from disco.__main__ import main
from disco.files import HOMES
from disco.reports.bundled import example
from disco.reports.packing import pack
from disco.runs import list_runs


def test_a_run_goes_there_and_back(tmp_path, monkeypatch, capsys):
    run = of_an_older_version(finished_run(5))
    monkeypatch.chdir(tmp_path)
    (run.path / "networks.safetensors").write_bytes(b"\2\0\0\0\0\0\0\0{}")
    assert main(["pack", run.id]) == 0 and capsys.readouterr().out == f"{run.id}.zip\n"
    assert main(["pack", str(run.path), "--out", "small.zip", "--without-networks"]) == 0
    assert (tmp_path / "small.zip").read_bytes() == pack(run, networks=False) != pack(run)
    kept = (tmp_path / f"{run.id}.zip").read_bytes()
    assert main(["pack", run.id]) == 2 and "already exists" in capsys.readouterr().err
    assert kept == (tmp_path / f"{run.id}.zip").read_bytes() == pack(run)
    run.delete()
    assert main(["unpack", f"{run.id}.zip"]) == 0 and capsys.readouterr().out.endswith(f"Run: {run.path}\n")
    assert list_runs() == [run] and pack(run) == kept
    assert main(["unpack", str(HOMES[0] / "datasets" / "example.zip")]) == 0 and example() in list_runs()


@pytest.mark.parametrize("what", ["missing", "folder", "pipe", "no zip"])
def test_what_cannot_be_opened_is_one_sentence(what, tmp_path, capsys):
    path = tmp_path / "file"
    {"missing": lambda: None, "folder": path.mkdir, "pipe": lambda: os.mkfifo(path), "no zip": path.touch}[what]()
    assert main(["unpack", str(path)]) == 2 and main(["pack", str(path)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and all(line.startswith("disco: ") and line.endswith(".") for line in said)
    assert list_runs() == []
