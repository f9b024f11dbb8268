"""The trash: a deleted run can be restored, the oldest is removed, and each user has a trash."""

import pytest
from made_up import finished_run

from disco.errors import InputError
from disco.runs import Run, list_runs, trash


def test_a_deleted_run_is_restored_where_it_was():
    run = finished_run(4, "first")
    run.rename("second")
    files = {path.name for path in run.path.iterdir()}
    trash.discard(run)
    (path,), taken = trash.discarded()
    assert list_runs() == [] and taken > 0 and Run(path).name == "second"
    restored = trash.restore(path)
    assert (restored, restored.id, restored.name) == (run, run.id, "second") and trash.discarded() == ([], 0)
    assert {path.name for path in restored.path.iterdir()} == files and list_runs() == [run]


def test_a_run_in_its_place_or_a_removed_folder_is_a_sentence():
    run = finished_run(4, "first")
    trash.discard(run)
    ((path,), _) = trash.discarded()
    run.path.mkdir()
    with pytest.raises(InputError, match="already"):
        trash.restore(path)
    run.path.rmdir()
    trash.empty()
    with pytest.raises(InputError, match="cannot be restored"):
        trash.restore(path)
    trash.empty()


def test_the_trash_keeps_the_last_runs(monkeypatch):
    monkeypatch.setattr(trash, "MOST", 2)
    made = [finished_run(4, name) for name in "abc"]
    for run in made:
        trash.discard(run)
    assert [Run(path).name for path in trash.discarded()[0]] == ["c", "b"]


def test_each_user_has_a_trash(lab):
    with lab.asked_by("ada"):
        trash.discard(finished_run(4, "first"))
    with lab.asked_by("bob"):
        assert trash.discarded() == ([], 0)
        trash.empty()
    with lab.asked_by("ada"):
        assert len(trash.discarded()[0]) == 1
