"""Headers of every answer: browsers load nothing from elsewhere, and show the app in no frame."""

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from disco.server.start import HEAD

_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def policy(index: str) -> str:
    """The Content-Security-Policy of the app, whose first file is `index`.

    Its inline scripts are allowed by their hashes. A component of ours reaches the browser as text, which Streamlit
    loads as `blob:`; Streamlit and Plotly write styles inline.
    """
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in _SCRIPT.findall(index)]
    allowed = {
        "default-src": ["'self'"],
        "script-src": ["'self'", "blob:", *(f"'sha256-{digest}'" for digest in hashes)],
        "style-src": ["'self'", "'unsafe-inline'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "worker-src": ["'self'", "blob:"],
        "frame-src": ["'self'", "blob:"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
    return "; ".join(" ".join([name, *values]) for name, values in allowed.items())


def index_of_the_app() -> str:
    """The first file that the server sends, with the server's additions."""
    from streamlit import file_util

    return HEAD + Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")


@dataclass(frozen=True)
class SecurityHeaders:
    """The web application, with these headers in every response."""

    app: ASGIApp
    policy: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers()]
            await send(message)

        await self.app(scope, receive, send_with_headers)

    def _headers(self) -> list[tuple[bytes, bytes]]:
        headers = {
            "content-security-policy": self.policy,
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
            "cross-origin-opener-policy": "same-origin",
        }
        return [(name.encode(), value.encode()) for name, value in headers.items()]
