"""Where the current user's runs are, and what this user may do: the one thing that the engine knows of users.

The default is a single local user, with all runs and no limits. `disco serve` installs a subclass for many users.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import platformdirs

from disco.errors import InputError

USERS = "users"  # in the common folder of runs: one folder of runs per user of a server
USER_ID = re.compile(r"[0-9a-f]{32}")


class Limits:
    """Limits of the current user, here none. A check raises an InputError if the limit is exceeded."""

    may_skip_queue: ClassVar[bool] = True

    def check_new_run(self) -> None:
        """Check the number of runs and their disk space."""

    def check_table(self, rows: int, columns: int) -> None:
        """Check the size of a table."""

    def check_new_job(self, is_counted: bool) -> None:
        """Check the disk space and, if `is_counted`, the number of jobs."""

    def watch(self, end: Callable[[str], object]) -> Callable[[str], str]:
        """Watch the job of this process; returns a function (stage → why it must end, empty while it may continue).

        `end` is called with the reason if the process does not end by itself soon.
        """
        return lambda stage: ""


class Space:
    """The runs of a single local user.

    Attributes:
        worker: the module that works on a run in its own process, with the command line of `disco.work.jobs`.
        is_shared: whether this process may serve several users.
    """

    worker = "disco.subjects"
    is_shared = False

    def user_id(self) -> str:
        """The id of the current user; empty if there is only one."""
        return ""

    def runs_root(self) -> Path:
        """The folder of the current user's runs, created if needed; InputError if it cannot be, or without a user."""
        return common_root()

    def may_write(self, run_path: Path, by_link: bool = False) -> bool:
        """Whether the current user may change a run, which a link opened or not."""
        return True

    def linked(self, run_id: str) -> Path | None:
        """The folder of another user's run that an id shows; None if there is none."""
        return None

    def limits(self) -> Limits:
        """The limits of the current user."""
        return Limits()

    def environment(self) -> dict[str, str]:
        """The environment variables of a process that works for the current user."""
        return {"DISCO_RUNS": str(common_root())}


_current = Space()


def install(space: Space) -> None:
    """Replace the space of this process."""
    global _current
    _current = space


def current() -> Space:
    """The space of this process."""
    return _current


def runs_root() -> Path:
    """The folder of the current user's runs, created if needed; InputError if it cannot be, or without a user."""
    return _current.runs_root()


def common_root() -> Path:
    """The folder of everything, created if needed: $DISCO_RUNS, or a data folder of the system's user."""
    chosen = os.environ.get("DISCO_RUNS")
    root = Path(chosen).expanduser() if chosen else Path(platformdirs.user_data_dir("disco", appauthor=False)) / "runs"
    return created(root).resolve()


def created(root: Path) -> Path:
    """A folder of runs, created if needed; InputError if it cannot be."""
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder of runs {root} cannot be created ({error.strerror}); set DISCO_RUNS.") from error
    return root


def owner_of(run_path: Path) -> str | None:
    """The id of the user in whose folder a run lies; None if there is only one user."""
    parent = run_path.parent
    return parent.name if parent.parent.name == USERS and USER_ID.fullmatch(parent.name) else None
