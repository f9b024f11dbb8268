"""A session of the app by Streamlit's own protocol: what a browser sends and receives, without drawing it."""

import asyncio
import http.client
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

PATIENCE = 300.0  # seconds for a click


class Lost(Exception):
    """The connection ended, or nothing came for too long."""


class PageElement(NamedTuple):
    """An element on the page, its fragment, and the run that drew it."""

    kind: str
    element: Any
    fragment: str
    run: int


@dataclass
class Session:
    """An open page.

    Attributes:
        address: of the server, as http://127.0.0.1:8501.
        cookie: what the browser sends with every request.
        page, query: the address.
        elements: what is on the page, by its path.
        faults: the traces that a page has shown.
    """

    address: str
    cookie: str
    page: str = ""
    query: str = ""
    elements: dict[tuple[int, ...], PageElement] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _socket: ClientConnection | None = None
    _reader: asyncio.Task | None = None
    _is_complete: asyncio.Event = field(default_factory=asyncio.Event)
    _messages: dict[str, bytes] = field(default_factory=dict)  # by hash: the server does not send them again
    _repeated: dict[str, asyncio.Task] = field(default_factory=dict)  # by fragment
    _hashes: dict[str, str] = field(default_factory=dict)  # of the pages, by path
    _run_number: int = 0

    async def open(self, page: str, query: str) -> float:
        """Load a page: seconds until it is complete."""
        start = time.perf_counter()
        headers = {"Cookie": self.cookie}
        await asyncio.to_thread(_request, self.address, "GET", f"/{page}", headers)
        self._socket = await connect(
            f"ws://{urlsplit(self.address).netloc}/_stcore/stream",
            additional_headers=headers,
            origin=self.address,  # type: ignore[arg-type]
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=None,
            compression=None,
            open_timeout=PATIENCE,
            ping_interval=None,
        )
        self._reader = asyncio.create_task(self._read(self._socket))
        self.page, self.query = page, query
        await self._run()
        return time.perf_counter() - start

    async def close(self) -> None:
        """Leave the page."""
        self._stop_repeating()
        if self._reader is not None and self._socket is not None:
            self._reader.cancel()
            await self._socket.close()

    async def go(self, page: str) -> float:
        """A click in the menu: seconds until the page is complete."""
        start = time.perf_counter()
        self._stop_repeating()
        self.page = page
        await self._run()
        return time.perf_counter() - start

    async def use(self, kind: str, label: str, value: Any) -> float:
        """Use an element: seconds until what depends on it is redrawn."""
        start = time.perf_counter()
        drawn = self.find(kind, label)
        await self._run(drawn, value)
        return time.perf_counter() - start

    def find(self, kind: str, label: str) -> PageElement:
        """An element by the beginning of its label, icons left out."""
        for drawn in self.elements.values():
            words = getattr(drawn.element, "label", "").split()
            if drawn.kind == kind and " ".join(w for w in words if not w.startswith(":material")).startswith(label):
                return drawn
        raise KeyError(f"There is no {kind} {label!r} on {self.page}")

    async def _run(self, used: PageElement | None = None, value: Any = None) -> None:
        """Let the page run, with an element used, and wait for its end."""
        self._is_complete.clear()
        await self._send(used, value, used.fragment if used else "")
        try:
            await asyncio.wait_for(self._is_complete.wait(), PATIENCE)
        except TimeoutError:
            raise Lost(f"{self.page} did not answer in {PATIENCE:.0f} s.") from None
        if self._reader is None or self._reader.done():
            raise Lost(f"The connection of {self.page} ended.") from self._reader and self._reader.exception()

    async def _send(self, used: PageElement | None, value: Any, fragment: str, is_auto: bool = False) -> None:
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash = self.query, self._hashes.get(self.page, "")
        state.page_name = "" if state.page_script_hash else self.page
        state.fragment_id, state.is_auto_rerun = fragment, is_auto
        state.cached_message_hashes.extend(self._messages)
        if used is not None:
            widget = state.widget_states.widgets.add(id=used.element.id)
            if used.kind == "slider":
                widget.double_array_value.data.append(value)
            else:  # a selectbox
                widget.string_value = value
        try:
            await self._socket.send(message.SerializeToString())  # type: ignore[union-attr]
        except ConnectionClosed:
            raise Lost(f"The connection of {self.page} ended.") from None

    async def _read(self, stream: ClientConnection) -> None:
        """Take all messages, until the connection ends."""
        try:
            with suppress(ConnectionClosed):
                async for data in stream:
                    self._take(ForwardMsg.FromString(data if isinstance(data, bytes) else data.encode()))
        finally:
            self._is_complete.set()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            metadata = message.metadata
            message = ForwardMsg.FromString(self._messages[message.ref_hash])
            message.metadata.CopyFrom(metadata)
            kind = message.WhichOneof("type")
        elif message.metadata.cacheable and message.hash:
            self._messages[message.hash] = message.SerializeToString()
        if kind == "new_session":
            self._run_number += 1
        elif kind == "navigation":
            self._stop_repeating()  # the complete page runs anew
            self._hashes = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
            current = message.navigation.page_script_hash
            self.page = next((path for path, digest in self._hashes.items() if digest == current), "")
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._place(message)
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self._repeat(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            if (task := self._repeated.pop(message.stop_auto_rerun.fragment_id, None)) is not None:
                task.cancel()
        elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._forget(message.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
            self._is_complete.set()

    def _place(self, message: ForwardMsg) -> None:
        delta = message.delta
        kind = delta.new_element.WhichOneof("type")
        element = getattr(delta.new_element, kind)
        self.elements[tuple(message.metadata.delta_path)] = PageElement(
            kind, element, delta.fragment_id, self._run_number
        )
        if kind == "exception":
            self.faults.append(f"{self.page}: {element.message}")

    def _forget(self, is_fragment: bool) -> None:
        """Remove what the last run has not drawn again."""
        fragments = {drawn.fragment for drawn in self.elements.values() if drawn.run == self._run_number}
        self.elements = {
            path: drawn
            for path, drawn in self.elements.items()
            if drawn.run == self._run_number or (is_fragment and drawn.fragment not in fragments)
        }

    def _stop_repeating(self) -> None:
        for task in self._repeated.values():
            task.cancel()
        self._repeated.clear()

    def _repeat(self, fragment: str, interval: float) -> None:
        """Let a fragment run again and again, as the page requests."""

        async def run() -> None:
            with suppress(Lost):
                while True:
                    await asyncio.sleep(interval)
                    await self._send(None, None, fragment, is_auto=True)

        if fragment not in self._repeated:
            self._repeated[fragment] = asyncio.create_task(run())


def guest_cookie(address: str, invitation: str) -> str:
    """The cookie of a new guest of the server, from the secret of an invitation's link."""
    answer = _request(address, "POST", f"/?invite={invitation}", {})
    cookies = answer.headers.get_all("Set-Cookie") or []
    return "; ".join(cookie.partition(";")[0] for cookie in cookies)


def _request(address: str, method: str, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
    """The answer to a request, read to its end."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer
