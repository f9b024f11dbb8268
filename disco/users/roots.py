"""The current user's folder of runs."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from disco.errors import InputError, printable
from disco.files import read_json, unwritten, write_json

VARIABLE = "DISCO_USER"  # of a process that works for one user of a server
FOLDER = "users"
_ID = re.compile(r"[0-9a-f]{32}")
_ADMIN = "admin"
INVITE = "invite"  # prefix of the methods by which guests enter
_RECORD, _LONGEST_NAME, _LONGEST_CHOSEN, _MOST_BYTES = "user.json", 100, 40, 1 << 12


@dataclass(frozen=True)
class User:
    """A user of a server; `id` names their folder, and an admin may see and end everybody's work."""

    id: str
    is_admin: bool = False

    @property
    def name(self) -> str:
        """The display name."""
        return name_of(self.id)


_asks: Callable[[], User] | None = None
_acting_for: ContextVar[User | None] = ContextVar("_acting_for", default=None)


def serve(asks: Callable[[], User]) -> None:
    """Make this process a server of many users, whose folders no other account of the machine can read.

    Args:
        asks: returns the user for whom the calling thread works; raises an InputError without one.

    Raises:
        InputError: the folder of users cannot be created, or not be closed to others.
    """
    global _asks
    folder = _created(common_root() / FOLDER)
    try:
        folder.chmod(0o700)  # also if it existed
    except OSError as error:
        raise unwritten(folder, error) from error
    _asks = asks


def is_served() -> bool:
    """Whether runs belong to users."""
    return _asks is not None or bool(os.environ.get(VARIABLE))


def user() -> User | None:
    """The user for whom this thread or process works; None without a server. InputError on a server without a user."""
    if _asks is not None:
        return _acting_for.get() or _asks()
    user_id, _, role = os.environ.get(VARIABLE, "").partition(" ")
    return User(_checked(user_id), role == _ADMIN) if user_id else None


def told(owner: User | None) -> dict[str, str]:
    """The environment variables of a process that works for a user."""
    user = {} if owner is None else {VARIABLE: f"{owner.id} {_ADMIN}" if owner.is_admin else owner.id}
    return {"DISCO_RUNS": str(common_root()), **user}


def act_for(owner: User | None) -> None:
    """Let the rest of this thread's context work for a user."""
    _acting_for.set(owner)


@contextmanager
def acting_for(owner: User) -> Iterator[None]:
    """Work for a user without a session."""
    token = _acting_for.set(owner)
    try:
        yield
    finally:
        _acting_for.reset(token)


def common_root() -> Path:
    """The folder of everything, created if needed: $DISCO_RUNS, or a data folder of the system's user."""
    chosen = os.environ.get("DISCO_RUNS")
    root = Path(chosen).expanduser() if chosen else Path(platformdirs.user_data_dir("disco", appauthor=False)) / "runs"
    return _created(root).resolve()


def runs_root() -> Path:
    """The folder of the current user's runs; created if needed.

    Raises:
        InputError: it cannot be created; or this is a server, and the thread has no user.
    """
    owner, root = user(), common_root()
    return root if owner is None else _created(_folder(root, owner.id))


def enter(method: str, identity: str, name: str) -> str:
    """The id of a user, whose folder is created at the first visit; InputError if it cannot be written.

    Args:
        method: of authentication; the same identity by another method is another user.
        identity: unique to this user. No path contains it.
        name: shown to others.
    """
    user_id = known_as(method, identity)
    folder = _created(_folder(common_root(), user_id))
    if not (folder / _RECORD).exists():
        try:
            write_json(folder / _RECORD, {"name": printable(name, _LONGEST_NAME), "way": method})
        except OSError as error:
            raise unwritten(folder, error) from error
    return user_id


def known_as(method: str, identity: str) -> str:
    """The id of a user; it reveals nothing of the identity."""
    return hashlib.sha256(f"{method}\n{identity}".encode()).hexdigest()[:32]


def is_known(user_id: str) -> bool:
    """Whether a user has visited."""
    return bool(_ID.fullmatch(user_id)) and (_folder(common_root(), user_id) / _RECORD).is_file()


def name_of(user_id: str) -> str:
    """The name of a user; the beginning of the id if it cannot be read."""
    name = _record(user_id).get("name")
    return printable(name, _LONGEST_NAME) if isinstance(name, str) and name.strip() else f"user {user_id[:6]}"


def is_guest(user_id: str) -> bool:
    """Whether a user came by an invitation, without a name."""
    return str(_record(user_id).get("way")).startswith(INVITE)


def rename(guest: User, name: str) -> None:
    """Set the name that a guest chose, marked so that nobody can impersonate another user.

    Raises:
        InputError: it is not a name, the user is not a guest, or it cannot be written.
    """
    chosen = printable(" ".join(name.split()), _LONGEST_CHOSEN)
    if not chosen:
        raise InputError("A name needs at least one letter.")
    if not is_guest(guest.id):
        raise InputError("Your name comes from where you logged in.")
    file = _folder(common_root(), guest.id) / _RECORD
    try:
        write_json(file, {**_record(guest.id), "name": f"{chosen} ({guest.id[:4]})"})
    except OSError as error:
        raise unwritten(file.parent, error) from error


def _record(user_id: str) -> dict[str, Any]:
    """The stored record of a user; empty if it cannot be read."""
    try:
        return read_json(_folder(common_root(), user_id) / _RECORD, _MOST_BYTES)
    except (OSError, ValueError, InputError):
        return {}


def everyone() -> list[str]:
    """The ids of all users who have visited."""
    folder = common_root() / FOLDER
    return sorted(path.name for path in folder.iterdir() if is_known(path.name)) if folder.is_dir() else []


def root_of(user_id: str) -> Path:
    """The folder of a user's runs; InputError if there is no such user."""
    return _folder(common_root(), _checked(user_id))


def owner_of(run_path: Path) -> str | None:
    """The id of the user in whose folder a run lies; None if there is one user only."""
    parent = run_path.parent
    return parent.name if parent.parent.name == FOLDER and _ID.fullmatch(parent.name) else None


def _checked(user_id: str) -> str:
    if not _ID.fullmatch(user_id):
        raise InputError("There is no such user.")
    return user_id


def _folder(root: Path, user_id: str) -> Path:
    return root / FOLDER / user_id


def _created(root: Path) -> Path:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder of runs {root} cannot be created ({error.strerror}); set DISCO_RUNS.") from error
    return root
