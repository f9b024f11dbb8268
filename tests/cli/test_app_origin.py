"""Which pages in a browser may use the app, whom it asks for that, and where a browser finds the root of the app."""

import gzip
import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser_world import served
from streamlit import file_util

from disco.server.slow_clients import MOST


class _Proxy(BaseHTTPRequestHandler):
    """Notes what it is asked for, and fetches nothing."""

    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.requestline)
        self.send_error(502)

    do_CONNECT = do_HEAD = do_POST = do_GET

    def log_message(self, *told: object) -> None:
        pass


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of the app, which reaches the internet only through the proxy."""
    proxy = HTTPServer(("127.0.0.1", 0), _Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{proxy.server_port}"
    variables = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), address)
    with served(tmp_path_factory.mktemp("app") / "runs", **variables, no_proxy="", NO_PROXY="") as app:
        yield urlsplit(app).port
        asleep = takes_nothing(urlsplit(app).port)  # and yet the app ends
    asleep.close()
    proxy.shutdown()
    proxy.server_close()


def takes_nothing(port: int) -> socket.socket:
    """A connection that asks for the largest file of the app and does not read it."""
    static = Path(file_util.get_static_dir())
    largest = max(static.rglob("*.js"), key=lambda file: file.stat().st_size).relative_to(static)
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    opened.connect(("127.0.0.1", port))
    opened.sendall(f"GET /{largest} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    assert opened.recv(15) == b"HTTP/1.1 200 OK"
    return opened


def status(port: int, host: str, origin: str) -> int:
    """The status with which the app answers a page of `origin` that opens a websocket to `host`."""
    headers = {"Host": host.format(port), "Origin": origin.format(port), "Upgrade": "websocket"}
    headers |= {"Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": f"{'A' * 22}=="}
    lines = ["GET /_stcore/stream HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    with socket.create_connection(("127.0.0.1", port), timeout=120) as opened:
        opened.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(opened.makefile("rb").readline().split()[1])


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "localhost:{}"])
def test_the_app_s_own_pages_may_use_it(port, host):
    assert status(port, host, f"http://{host}") == 101


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:{}", "http://evil.example"),
        ("localhost:{}", "https://evil.example:{}"),
        ("127.0.0.1:{}", "http://127.0.0.1:1"),
        ("localhost:{}", "http://localhost:9999"),
        ("127.0.0.1:{}", "null"),
        ("evil.example:{}", "http://evil.example:{}"),  # a name that leads to this machine since the page was loaded
    ],
)
def test_other_pages_may_not_and_nobody_outside_is_asked(port, host, origin):
    assert status(port, host, origin) == 403 and _Proxy.asked == []


@pytest.mark.parametrize("page", ["graph", "train", "data"])
def test_a_link_to_a_page_says_where_the_root_is_so_that_the_browser_need_not_guess(port, page):
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/{page}?run=some", headers={"Accept-Encoding": "gzip"})
    for _ in range(2):  # as a browser asks, and once more: no answer changes the next
        with urllib.request.urlopen(asked, timeout=30) as answer:
            said = gzip.decompress(answer.read()).decode()
    assert 'BACKEND_BASE_URL: new URL(".", location.href).href' in said and 'id="root"' in said
    assert answer.headers["Cache-Control"] == "no-cache" and answer.headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("path", ["", "graph", "_stcore/health", "nowhere"])
def test_no_page_of_another_origin_may_frame_the_app(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=30) as answer:
        headers = answer.headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"] and headers["X-Frame-Options"] == "DENY"


def test_a_half_sent_request_makes_room_for_others(port):
    with ExitStack() as connections:
        first, *_ = (
            connections.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            for _ in range(MOST + 1)
        )
        with suppress(ConnectionResetError):
            assert first.recv(1) == b""


def test_no_page_around_the_app_may_control_it(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/host-config", timeout=30) as answer:
        said = json.load(answer)
    assert said["allowedOrigins"] == [] and said["enableCustomParentMessages"] is False
