"""A server of several users, in one process: the test says who the current user is."""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from disco.errors import InputError
from disco.server import users
from disco.server.users import User

T = TypeVar("T")


@dataclass
class Server:
    """Who is asking, and the users by name."""

    asking: User | None = None
    ids: dict[str, str] = field(default_factory=dict)

    def user(self, name: str, is_admin: bool = False) -> User:
        """A user, known to the server from now on."""
        self.ids[name] = users.enter("test", name, name)
        return User(self.ids[name], is_admin)

    @contextmanager
    def asked_by(self, name: str | None, is_admin: bool = False) -> Iterator[None]:
        """What is done for a user, or for nobody."""
        before, self.asking = self.asking, None if name is None else self.user(name, is_admin)
        try:
            yield
        finally:
            self.asking = before

    def who(self) -> User:
        """As `disco.server.sessions.session_user`."""
        if self.asking is None:
            raise InputError("Nobody is logged in here: load the page again.")
        return self.asking


@dataclass
class Answer:
    """What a web application answered."""

    status: int
    headers: dict[str, str]
    body: str


def apart(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, run in a thread: a browser's test leaves a running loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def ask(
    app: Any,
    path: str,
    peer: str = "127.0.0.1",
    kind: str = "http",
    query: str = "",
    method: str = "GET",
    **headers: str | list[str],
) -> Answer:
    """Ask an ASGI application; `_` in the names of headers stands for `-`."""
    sent: list[dict[str, Any]] = []
    lists = {name: [value] if isinstance(value, str) else value for name, value in headers.items()}
    pairs = [(name.replace("_", "-").encode(), one.encode("latin-1")) for name, many in lists.items() for one in many]
    scope = {
        **{"type": kind, "method": method, "scheme": "http", "http_version": "1.1", "path": path, "root_path": ""},
        **{"raw_path": path.encode(), "query_string": query.encode(), "client": (peer, 1234), "server": ("lab", 80)},
        "headers": [(b"host", b"lab"), *pairs],
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    apart(app(scope, receive, send))
    start = sent[0]
    given = {name.decode().lower(): value.decode("latin-1") for name, value in start.get("headers", ())}
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Answer(start.get("status", start.get("code", 0)), given, body.decode())
