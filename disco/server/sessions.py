"""The user of a session, and the readers of its downloads."""

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from disco.errors import InputError
from disco.server import streamlit_internals, users
from disco.server.middleware import ADMIN, ROLE_HEADER, USER_HEADER
from disco.server.users import User

_USER, _ROLE = "disco_user", "disco_role"
HEADERS = {USER_HEADER: _USER, ROLE_HEADER: _ROLE}  # for `server.trustedUserHeaders`


def session_user() -> User:
    """The user of this thread's session; InputError without one."""
    info = streamlit_internals.session_user()
    user_id = info.get(_USER)
    if not isinstance(user_id, str):
        raise InputError("Nobody is logged in here: load the page again.")
    return User(user_id, info.get(_ROLE) == ADMIN)


class Downloads:
    """Who may read the files that Streamlit stores for buttons and figures.

    A file's address is a hash of its content, and Streamlit serves it to everybody with the address.
    """

    def __init__(self) -> None:
        self._readers: defaultdict[str, set[str]] = defaultdict(set)
        self._lock = threading.Lock()

    def watch(self) -> None:
        """Record for which user Streamlit stores each file."""
        streamlit_internals.watch_files(self._stored, self._deleted, _bound)

    def _stored(self, file: str) -> None:
        user = users.current()
        with self._lock:
            self._readers[file] |= {user.id} if user is not None else set()

    def _deleted(self, file: str) -> None:
        with self._lock:
            self._readers.pop(file, None)

    def may_read(self, user: User, file: str) -> bool:
        """Whether a file, as named in its address, was made for a user."""
        with self._lock:
            return user.id in self._readers.get(file.partition(".")[0], ())


def _bound(create: Callable[[], Any]) -> Callable[[], Any]:
    user = users.current()

    def create_for_user() -> Any:
        users.act_for(user)
        return create()

    return create_for_user
