"""The users of a server, and the one for whom a thread or process works."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disco.errors import InputError, printable
from disco.files import read_json, unwritten, write_json
from disco.space import USER_ID, USERS, common_root, created

INVITE = "invite"  # prefix of the sign-in methods of guests
_RECORD, _LONGEST_NAME, _LONGEST_CHOSEN, _MOST_BYTES = "user.json", 100, 40, 1 << 12


@dataclass(frozen=True)
class User:
    """A user of a server; InputError if the id cannot be one. An admin may see and end everybody's work."""

    id: str
    is_admin: bool = False

    def __post_init__(self) -> None:
        if not USER_ID.fullmatch(self.id):
            raise InputError("There is no such user.")

    @property
    def folder(self) -> Path:
        """The folder of their runs."""
        return users_root() / self.id

    @property
    def name(self) -> str:
        """The display name; the beginning of the id if it cannot be read."""
        name = self._record().get("name")
        return printable(name, _LONGEST_NAME) if isinstance(name, str) and name.strip() else f"user {self.id[:6]}"

    @property
    def is_guest(self) -> bool:
        """Whether they came by an invitation, without a name."""
        return str(self._record().get("way")).startswith(INVITE)

    def rename(self, name: str) -> None:
        """Set the name that a guest chose, marked so that nobody can impersonate another user.

        Raises:
            InputError: it is not a name, the user is not a guest, or it cannot be written.
        """
        chosen = printable(" ".join(name.split()), _LONGEST_CHOSEN)
        if not chosen:
            raise InputError("A name needs at least one letter.")
        if not self.is_guest:
            raise InputError("Your name comes from where you logged in.")
        self._write({**self._record(), "name": f"{chosen} ({self.id[:4]})"})

    def _record(self) -> dict[str, Any]:
        """What is stored; empty if it cannot be read."""
        try:
            return read_json(self.folder / _RECORD, _MOST_BYTES)
        except (OSError, ValueError, InputError):
            return {}

    def _write(self, record: dict[str, Any]) -> None:
        try:
            write_json(self.folder / _RECORD, record)
        except OSError as error:
            raise unwritten(self.folder, error) from error


_identify: Callable[[], User] | None = None
_acting_for: ContextVar[User | None] = ContextVar("_acting_for", default=None)


def identify_by(identify: Callable[[], User]) -> None:
    """Set the function that returns the user for whom the calling thread works; it raises an InputError without one."""
    global _identify
    _identify = identify


def current() -> User | None:
    """The user for whom this thread works; None without a server. InputError on a server without a user."""
    return None if _identify is None else _acting_for.get() or _identify()


def act_for(user: User | None) -> None:
    """Let the rest of this thread's context work for a user."""
    _acting_for.set(user)


@contextmanager
def acting_for(user: User) -> Iterator[None]:
    """Work for a user without a session."""
    token = _acting_for.set(user)
    try:
        yield
    finally:
        _acting_for.reset(token)


def users_root() -> Path:
    """The folder of all users."""
    return common_root() / USERS


def enter(method: str, identity: str, name: str) -> str:
    """The id of a user, whose folder is created at the first visit; InputError if it cannot be written.

    Args:
        method: of authentication; the same identity by another method is another user.
        identity: unique to this user. No path contains it.
        name: shown to others.
    """
    user = User(user_id(method, identity))
    created(user.folder)
    if not (user.folder / _RECORD).exists():
        user._write({"name": printable(name, _LONGEST_NAME), "way": method})
    return user.id


def user_id(method: str, identity: str) -> str:
    """The id of a user; it reveals nothing of the identity."""
    return hashlib.sha256(f"{method}\n{identity}".encode()).hexdigest()[:32]


def has_visited(user_id: str) -> bool:
    """Whether a user has a folder."""
    return bool(USER_ID.fullmatch(user_id)) and (users_root() / user_id / _RECORD).is_file()


def everybody() -> list[User]:
    """All users who have visited, by id; none as an admin."""
    folder = users_root()
    return [User(path.name) for path in sorted(folder.iterdir()) if has_visited(path.name)] if folder.is_dir() else []
