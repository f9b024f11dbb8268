"""The runs of a folder, and entries that cannot be opened, with the reason."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from disco import space
from disco.errors import InputError, printable
from disco.runs.folder import Run
from disco.runs.locks import held
from disco.space import USERS, common_root, runs_root

_TRACES = ("settings.json", "status.json", "table.parquet")  # a folder with one of these was a run
_LONGEST_ID = 120
_NO_ID = re.compile(r"[/\\\0]|^\.|^$")


@dataclass(frozen=True)
class Unreadable:
    """A folder or link in the folder of runs that cannot be opened as a run.

    Attributes:
        name: its name, without control characters.
        reason: why it cannot be opened, one sentence.
        deletable: whether it was a run, is empty, or is a link; only the link itself is removed.
    """

    path: Path
    name: str
    reason: str
    deletable: bool

    def delete(self) -> None:
        """Delete the folder with all its content, or only the link; an `InputError` if it has other files."""
        if not self.deletable or held(self.path / "lock"):
            why = "a process is working on it" if self.deletable else "it has other content than a run"
            raise InputError(f"{self.path} was not removed: {why}.")
        try:
            if self.path.is_symlink():
                self.path.unlink()
            else:
                shutil.rmtree(self.path)
        except OSError as error:
            raise InputError(f"{self.path} cannot be removed ({error.strerror or error}).") from error


def open_run(path_or_id: str | Path) -> Run:
    """A run by its id in a URL, or by its folder. On a server, an id may also be a link to another user's run."""
    if isinstance(path_or_id, str) and is_kept(path_or_id):
        folder = space.current().linked(path_or_id)
        return _run(runs_root() / path_or_id) if folder is None else _run(folder, path_or_id)
    path = Path(path_or_id)
    if space.current().is_shared:  # a path could lead to another user's run
        raise InputError(f"There is no run {printable(str(path_or_id), _LONGEST_ID)}.")
    try:
        is_there = path.is_dir()
    except (OSError, ValueError):  # not a valid path, for example with a NUL
        is_there = False
    if not is_there:
        raise InputError(f"There is no run {printable(str(path_or_id), _LONGEST_ID)}.")
    return Run(path)


def is_kept(run_id: str) -> bool:
    """Whether the folder of runs has a folder or link with that name, which must not be a path; or it is a link."""
    if len(run_id) > _LONGEST_ID or _NO_ID.search(run_id):
        return False
    return os.path.lexists(space.current().linked(run_id) or runs_root() / run_id)


def list_runs() -> list[Run]:
    """All readable runs of the folder of runs, newest first."""
    return find_runs()[0]


def find_runs(root: Path | None = None) -> tuple[list[Run], list[Unreadable]]:
    """All runs of a folder, newest first, and entries that cannot be opened, by name."""
    where = runs_root() if root is None else Path(root)
    readable: dict[Path, Run] = {}
    unreadable = []
    for path in _folders(where):
        try:
            run = _run(path)
        except InputError as error:
            unreadable.append(_described(path, str(error)))
            continue
        readable[run.path] = run
    runs = sorted(readable.values(), key=lambda run: (run.created.timestamp(), run.id), reverse=True)
    return runs, sorted(unreadable, key=lambda entry: entry.name)


def _folders(where: Path) -> Iterator[Path]:
    """The folders and links there, except users' folders and hidden ones: runs being created, or the queue."""
    users = common_root() / USERS
    try:
        with os.scandir(where) as entries:
            for entry in entries:
                if where / entry.name == users:
                    continue
                if not entry.name.startswith(".") and (entry.is_symlink() or entry.is_dir(follow_symlinks=False)):
                    yield where / entry.name
    except OSError as error:
        raise InputError(f"The folder of runs {where} cannot be read ({error.strerror}); set DISCO_RUNS.") from error


def _run(path: Path, shown_as: str = "") -> Run:
    """The run of a folder or link in the folder of runs; InputError with the reason if it is not a run."""
    if not path.name.isprintable() or len(path.name) > _LONGEST_ID:
        raise InputError("Its name is too long, or has characters not allowed in an address: rename the folder.")
    try:
        if path.is_symlink() and not path.is_dir():
            raise InputError("It is a link to a folder that does not exist: delete the link, or restore the folder.")
        return Run(path, shown_as)
    except (OSError, RuntimeError) as error:  # a cycle of links is a RuntimeError
        raise InputError(f"It cannot be opened: {getattr(error, 'strerror', None) or error}.") from error


def _described(path: Path, reason: str) -> Unreadable:
    deletable = path.is_symlink()
    with contextlib.suppress(OSError):
        deletable = deletable or any(os.path.lexists(path / name) for name in _TRACES) or not any(path.iterdir())
    short = reason.replace(f"{os.path.realpath(path)}{os.sep}", "")  # the list shows its name above
    return Unreadable(path, printable(path.name, _LONGEST_ID), printable(short, 400), deletable)
