"""The trash: the runs that the current user deleted last, in a hidden folder of the user's folder of runs."""

import os
import shutil
import time
from pathlib import Path

from disco.errors import InputError
from disco.files import folder_bytes
from disco.runs.folder import Run
from disco.space import runs_root

MOST = 10  # runs


def discard(run: Run) -> None:
    """Move a run to the trash, and remove the oldest there if these are too many; errors as `Run.delete`."""
    run.delete(_folder() / f"{time.time_ns()}-{run.id}")
    for path in _paths()[MOST:]:
        shutil.rmtree(path, ignore_errors=True)


def discarded() -> tuple[list[Path], int]:
    """The folders of the runs in the trash, the last one first, and the bytes of all."""
    return _paths(), folder_bytes(_folder())


def restore(path: Path) -> Run:
    """Move a run of the trash back to where it was; an `InputError` if it cannot be."""
    target = runs_root() / path.name.partition("-")[2]
    if os.path.lexists(target):
        raise InputError(f"There is a run {target.name} already: delete or rename its folder first.")
    try:
        path.rename(target)
    except OSError as error:
        raise InputError(f"{path.name} cannot be restored ({error.strerror}).") from error
    return Run(target)


def empty() -> None:
    """Remove the runs in the trash from disk."""
    try:
        shutil.rmtree(_folder())
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{error.filename} cannot be removed ({error.strerror}).") from error


def _folder() -> Path:
    return runs_root() / ".trash"


def _paths() -> list[Path]:
    return sorted(_folder().glob("*-*"), reverse=True)
