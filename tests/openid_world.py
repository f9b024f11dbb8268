"""An OpenID provider on this machine that takes everybody for the same user, without asking."""

import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "disco", "a-secret-of-the-client"


class Provider(ThreadingHTTPServer):
    """The provider; `claims` are those of whoever logs in next."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.claims: dict[str, Any] = {}
        self.key = RSAKey.generate_key(2048, {"kid": "1"})
        self.nonces: dict[str, str] = {}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def token(self, code: str) -> str:
        """The signed claims for a code."""
        now = int(time.time())
        more = {"iss": self.address, "aud": CLIENT, "iat": now, "exp": now + 600, "nonce": self.nonces.pop(code)}
        return jwt.encode({"alg": "RS256", "kid": "1"}, {**self.claims, **more}, self.key)


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        asked, at = urlsplit(self.path), self.server.address
        query = {name: values[0] for name, values in parse_qs(asked.query).items()}
        if asked.path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            self._tell({"issuer": at, **{name: f"{at}/{path}" for name, path in names.items()}})
        elif asked.path == "/keys":
            self._tell({"keys": [self.server.key.as_dict(private=False)]})
        elif asked.path == "/authorize":
            code = secrets.token_hex(8)
            self.server.nonces[code] = query.get("nonce", "")
            self.send_response(302)
            self.send_header(
                "Location", f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"
            )
            self.end_headers()

    def do_POST(self) -> None:
        body = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        token = self.server.token(body["code"][0])
        self._tell({"access_token": "x", "token_type": "Bearer", "expires_in": 600, "id_token": token})

    def _tell(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing to stderr."""


@contextmanager
def provider() -> Iterator[Provider]:
    """A running provider."""
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
