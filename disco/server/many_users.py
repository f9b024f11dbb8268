"""The space of a server (`disco.space`): each user has their own runs, within limits; an admin reaches all."""

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from disco import space
from disco.errors import InputError
from disco.files import unwritten
from disco.server import shares, users
from disco.server.user_limits import UserLimits
from disco.server.users import User

VARIABLE = "DISCO_USER"  # of a process that works for one user: their id, role and limits


class ManyUsers(space.Space):
    """The runs of the current user of a server."""

    worker = "disco.server.user_worker"
    is_shared = True

    def __init__(self, user_limits: UserLimits) -> None:
        self.user_limits = user_limits

    def user_id(self) -> str:
        return _user().id

    def runs_root(self) -> Path:
        return space.created(_user().folder)

    def may_write(self, run_path: Path, by_link: bool = False) -> bool:
        return self.runs_root() in run_path.parents or (_user().is_admin and not by_link)

    def linked(self, run_id: str) -> Path | None:
        return shares.linked(run_id)

    def limits(self) -> space.Limits:
        return space.Limits() if _user().is_admin else self.user_limits

    def environment(self) -> dict[str, str]:
        user = {**asdict(_user()), "limits": asdict(self.user_limits)}
        return {**super().environment(), VARIABLE: json.dumps(user)}


def _user() -> User:
    user = users.current()
    if user is None:
        raise InputError("Nobody is logged in here: load the page again.")
    return user


def serve(identify: Callable[[], User], limits: UserLimits) -> None:
    """Make this process a server of many users, whose folders no other account of the machine can read.

    Args:
        identify: returns the user for whom the calling thread works; raises an InputError without one.

    Raises:
        InputError: the folder of users cannot be created, or not be closed to others.
    """
    folder = space.created(users.users_root())
    try:
        folder.chmod(0o700)  # also if it existed
    except OSError as error:
        raise unwritten(folder, error) from error
    users.identify_by(identify)
    space.install(ManyUsers(limits))


def work_for_one() -> None:
    """Let this process work for the user in its environment (`ManyUsers.environment`)."""
    values = json.loads(os.environ[VARIABLE])
    user, limits = User(values["id"], values["is_admin"]), UserLimits(**values["limits"])
    users.identify_by(lambda: user)
    space.install(ManyUsers(limits))
