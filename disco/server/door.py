"""Authentication middleware: it identifies the user of every request and connection, and refuses everybody else.

An accepted request carries the user's id in a header of ours, which Streamlit stores with the session
(`server.trustedUserHeaders`); the same header from outside is removed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Protocol

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from disco.errors import InputError
from disco.users.roots import User

USER_HEADER, ROLE_HEADER = "x-disco-user", "x-disco-role"
ADMIN = "admin"
HEALTH = "/health"
_OPEN = (HEALTH, "/_stcore/health")
_CLOSED = ("/_stcore/metrics", "/_stcore/agent", "/_stcore/script-health-check")
_DOWNLOADS = "/media/"
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>DISCO</title><style>body{{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}}
button{{font:inherit;padding:.3rem 1rem}}</style><h1>DISCO</h1><p>{text}</p>{button}</html>"""
_BUTTON = '<form method="post"><button>{}</button></form>'


class Way(Protocol):
    """How users are authenticated; `may_enter_unknown`: unknown users get the app's pages, which ask them to log in."""

    may_enter_unknown: bool

    def who(self, request: HTTPConnection) -> "User | Response | None":
        """The user of a request; None if unknown; or a response to send instead of the app."""


@dataclass(frozen=True)
class Door:
    """The web application behind authentication.

    Attributes:
        may_read: (user, file) → whether a file that the app offers for download was made for the user.
        refused: called with the reason and the refused request.
    """

    app: ASGIApp
    way: Way
    may_read: Callable[[User, str], bool]
    refused: Callable[[str, HTTPConnection], None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] in _OPEN:
            await self.app(scope, receive, send)
            return
        answer = self._answer(scope)
        if answer is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        """The response instead of the app; None if the request may pass, with the user in its headers."""
        request, path = HTTPConnection(scope), scope["path"]
        if path.startswith(_CLOSED):
            return page("There is nothing at this address.", 404)
        try:
            user = self.way.who(request)
        except InputError as error:
            self.refused(str(error), request)
            return page(str(error), 403)
        if isinstance(user, Response):
            return user
        is_download = path.startswith(_DOWNLOADS)
        if user is None and (is_download or not self.way.may_enter_unknown):
            return page("Nobody is logged in here.", 403)
        if user is not None and is_download and not self.may_read(user, path.removeprefix(_DOWNLOADS)):
            self.refused("The file was made for somebody else.", request)
            return page("There is nothing at this address.", 404)
        scope["headers"] = [*_outside(scope["headers"]), *_ours(user)]
        return None


def _outside(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """A request's headers without those that only this middleware may write."""
    ours = (USER_HEADER.encode(), ROLE_HEADER.encode())
    return [(name, value) for name, value in headers if name.lower() not in ours]


def _ours(user: User | None) -> list[tuple[bytes, bytes]]:
    if user is None:
        return []
    role = [(ROLE_HEADER.encode(), ADMIN.encode())] if user.is_admin else []
    return [(USER_HEADER.encode(), user.id.encode()), *role]


def page(text: str, status: int, button: str = "") -> HTMLResponse:
    """A page of one or two sentences, and possibly a button that posts to its own address."""
    form = _BUTTON.format(escape(button)) if button else ""
    return HTMLResponse(_PAGE.format(text=escape(text), button=form), status, {"Cache-Control": "no-store"})
