"""Middleware of the web application: authentication of every request, and security headers of every answer."""

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Protocol

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from disco.errors import InputError
from disco.server.users import User

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
_POLICY = (
    "default-src 'self'; script-src 'self' blob: {hashes}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "frame-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)

Headers = list[tuple[bytes, bytes]]

_SECURITY: Headers = [
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
]


class SignIn(Protocol):
    """How users are authenticated; `may_enter_unknown`: unknown users get the app's pages, which ask them to log in."""

    may_enter_unknown: bool

    def identify(self, request: HTTPConnection) -> "User | Response | None":
        """The user of a request; None if unknown; or a response to send instead of the app."""


@dataclass(frozen=True)
class Authentication:
    """Identifies the user of every request and connection, and refuses everybody else.

    An accepted request carries the user's id in a header of ours, which Streamlit stores with the session
    (`server.trustedUserHeaders`); the same header from outside is removed.

    Attributes:
        may_read: (user, file) → whether a file that the app offers for download was made for the user.
        refused: called with the reason and the refused request.
    """

    app: ASGIApp
    sign_in: SignIn
    may_read: Callable[[User, str], bool]
    refused: Callable[[str, HTTPConnection], None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_checked = scope["type"] in ("http", "websocket") and scope["path"] not in _OPEN
        answer = self._answer(scope) if is_checked else None
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
            user = self.sign_in.identify(request)
        except InputError as error:
            self.refused(str(error), request)
            return page(str(error), 403)
        if isinstance(user, Response):
            return user
        is_download = path.startswith(_DOWNLOADS)
        if user is None and (is_download or not self.sign_in.may_enter_unknown):
            return page("Nobody is logged in here.", 403)
        if user is not None and is_download and not self.may_read(user, path.removeprefix(_DOWNLOADS)):
            self.refused("The file was made for somebody else.", request)
            return page("There is nothing at this address.", 404)
        scope["headers"] = _with_user(scope["headers"], user)
        return None


def _with_user(headers: Headers, user: User | None) -> Headers:
    """A request's headers with the user, and without those that only this middleware may write."""
    names = USER_HEADER.encode(), ROLE_HEADER.encode()
    outside = [(name, value) for name, value in headers if name.lower() not in names]
    if user is None:
        return outside
    values = user.id.encode(), ADMIN.encode()
    return [*outside, *list(zip(names, values, strict=True))[: 1 + user.is_admin]]


def page(text: str, status: int, button: str = "") -> HTMLResponse:
    """A page of one or two sentences, and possibly a button that posts to its own address."""
    form = _BUTTON.format(escape(button)) if button else ""
    return HTMLResponse(_PAGE.format(text=escape(text), button=form), status, {"Cache-Control": "no-store"})


@dataclass(frozen=True)
class SecurityHeaders:
    """Headers of every response: browsers load nothing from elsewhere, and show the app in no frame."""

    app: ASGIApp
    policy: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pairs = [(b"content-security-policy", self.policy.encode()), *_SECURITY]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *pairs]
            await send(message)

        await self.app(scope, receive, send_with_headers)


def policy(index: str) -> str:
    """The Content-Security-Policy of the app, whose first file is `index`.

    Its inline scripts are allowed by their hashes. A component of ours reaches the browser as text, which Streamlit
    loads as `blob:`; Streamlit and Plotly write styles inline.
    """
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in _SCRIPT.findall(index)]
    return _POLICY.format(hashes=" ".join(f"'sha256-{digest}'" for digest in hashes))
