"""Half-sent requests end by themselves and leave room for whole ones."""

import asyncio
import socket
import threading
import urllib.request
from collections.abc import Iterator

import pytest
import uvicorn

from disco.server import slow_clients
from disco.server.slow_clients import InTime

HALF = b"GET /health HTTP/1.1\r\nHost: lab\r\nX-Long: "
WHOLE = b"GET /health HTTP/1.1\r\nHost: lab\r\n\r\n"
PATIENCE = 60  # seconds; a test that passes never waits this long


async def answer(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})
    elif scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        await receive()  # the connection
        await send({"type": "websocket.send", "text": (await receive())["text"]})


@pytest.fixture
def port(monkeypatch) -> Iterator[int]:
    """The port of a server with this way to wait, without a limit of seconds unless a test sets one."""
    monkeypatch.setattr(slow_clients, "SECONDS", 10 * PATIENCE)
    with socket.create_server(("127.0.0.1", 0), backlog=2000) as listening:
        server = uvicorn.Server(uvicorn.Config(answer, http=InTime, log_config=None, lifespan="off"))
        thread = threading.Thread(target=asyncio.run, args=(server.serve([listening]),))
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join(PATIENCE)
    assert not thread.is_alive() and not InTime._waiting


def opened(port: int, data: bytes) -> socket.socket:
    found = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    found.sendall(data)
    return found


def reads(connection: socket.socket, end: bytes) -> bytes:
    """What comes up to this end."""
    found = b""
    while not found.endswith(end) and (more := connection.recv(1000)):
        found += more
    assert found.endswith(end)
    return found


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


def health(port: int) -> bytes:
    return urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=PATIENCE).read()


@pytest.mark.parametrize("data", [b"", HALF, WHOLE + HALF])
def test_a_request_that_does_not_come_in_time_is_given_up(port, monkeypatch, data):
    monkeypatch.setattr(slow_clients, "SECONDS", 0.05)
    connection = opened(port, data)
    if data.startswith(WHOLE):
        reads(connection, b"ok")
        connection.sendall(b"more of the second request")
    assert is_closed(connection)


def test_the_longest_waiting_go_first_where_there_are_many(port, monkeypatch):
    monkeypatch.setattr(slow_clients, "MOST", 20)
    half = []
    for _ in range(50):
        half.append(opened(port, HALF))
        assert health(port) == b"ok"
    assert all(map(is_closed, half[:29]))
    half[-1].sendall(b"1\r\n\r\n")  # the last is answered once it is whole
    reads(half[-1], b"ok")


def test_whoever_has_asked_waits_for_nothing(port, monkeypatch):
    monkeypatch.setattr(slow_clients, "MOST", 3)
    upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {}\r\n\r\n"
    lasting = opened(port, b"GET / HTTP/1.1\r\nHost: lab\r\n" + upgrade.format("A" * 22 + "==").encode())
    assert b"101" in reads(lasting, b"\r\n\r\n").splitlines()[0]
    for _ in range(10):
        opened(port, HALF)
        assert health(port) == b"ok"
    lasting.sendall(b"\x81\x82\0\0\0\0hi")  # a masked text
    assert reads(lasting, b"hi") == b"\x81\x02hi"
