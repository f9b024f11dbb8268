"""A session of the app by Streamlit's own protocol: what a browser sends and gets, without drawing it."""

import asyncio
import http.client
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

PATIENCE = 300.0  # seconds for a click
_EARLY = ForwardMsg.FINISHED_EARLY_FOR_RERUN
_FRAGMENT = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
_FAULTS = ("exception",)
_TRIGGERS = ("button",)


class Lost(Exception):
    """The connection ended, or nothing came for too long."""


@dataclass
class Session:
    """An open page.

    Attributes:
        address: of the server, as http://127.0.0.1:8501.
        cookie: what the browser sends with every request.
        page, query: the address.
        elements: what is on the page, by its place.
        faults: the traces that a page has shown.
        received: bytes so far.
    """

    address: str
    cookie: str = ""
    page: str = ""
    query: str = ""
    elements: dict[tuple[int, ...], tuple[str, Any, str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    received: int = 0
    _socket: ClientConnection | None = None
    _messages: dict[str, bytes] = field(default_factory=dict)
    _repeated: dict[str, asyncio.Task] = field(default_factory=dict)
    _done: asyncio.Event = field(default_factory=asyncio.Event)
    _reader: asyncio.Task | None = None
    id: str = ""
    _hashes: dict[str, str] = field(default_factory=dict)  # of the pages, by path
    _number: int = 0  # of the page's runs
    _drawn: dict[tuple[int, ...], int] = field(default_factory=dict)  # the run that drew an element

    async def open(self, page: str = "", query: str = "") -> float:
        """Load a page anew: seconds until it is whole."""
        began = time.perf_counter()
        await self.close()
        self.elements.clear()
        self._drawn.clear()
        self._hashes.clear()
        stream = f"ws://{urlsplit(self.address).netloc}/_stcore/stream"
        await asyncio.to_thread(_request, self.address, "GET", f"/{page}", self._headers())
        self._socket = await connect(
            stream,
            additional_headers=self._headers(),
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
        return time.perf_counter() - began

    def _headers(self) -> dict[str, str]:
        return {"Cookie": self.cookie} if self.cookie else {}

    async def close(self) -> None:
        """Leave the page."""
        self._stop_repeating()
        if self._reader is not None:
            self._reader.cancel()
        if self._socket is not None:
            await self._socket.close()
        self._socket = self._reader = None

    async def go(self, page: str) -> float:
        """A click in the menu: seconds until the page is whole."""
        began = time.perf_counter()
        self._stop_repeating()
        self.page = page
        await self._run()
        return time.perf_counter() - began

    async def use(self, kind: str, label: str, value: Any = None) -> float:
        """Use an element: seconds until what depends on it is redrawn."""
        began = time.perf_counter()
        element, fragment = self.find(kind, label)
        await self._run(element.id, kind, value, fragment)
        return time.perf_counter() - began

    def find(self, kind: str, label: str) -> tuple[Any, str]:
        """An element by the beginning of its label, and its fragment."""
        for element_kind, element, fragment in self.elements.values():
            if element_kind == kind and plain(getattr(element, "label", "")).startswith(label):
                return element, fragment
        raise KeyError(f"There is no {kind} {label!r} on {self.page}; there are {sorted(self.labels())}")

    def labels(self) -> set[tuple[str, str]]:
        """Kind and label of all that can be used."""
        usable = [(kind, element) for kind, element, _ in self.elements.values() if getattr(element, "id", "")]
        return {(kind, plain(getattr(element, "label", ""))) for kind, element in usable}

    def texts(self) -> list[str]:
        """All that is written on the page."""
        return [
            text
            for _, element, _ in self.elements.values()
            if isinstance(text := getattr(element, "body", None) or getattr(element, "label", None), str)
        ]

    async def until(self, is_there: Callable[["Session"], bool], seconds: float = PATIENCE) -> float:
        """Seconds until the page shows something by itself."""
        began = time.perf_counter()
        while not is_there(self):
            if time.perf_counter() - began > seconds:
                raise Lost(f"{self.page} did not show it in {seconds:.0f} s; it says {self.texts()[-8:]}")
            await asyncio.sleep(0.1)
        return time.perf_counter() - began

    async def _run(self, element: str = "", kind: str = "", value: Any = None, fragment: str = "") -> None:
        """Let the page run, with an element used, and wait for its end."""
        self._done.clear()
        await self._send(element, kind, value, fragment)
        try:
            await asyncio.wait_for(self._done.wait(), PATIENCE)
        except TimeoutError:
            raise Lost(f"{self.page} did not answer in {PATIENCE:.0f} s.") from None
        if self._reader is None or self._reader.done():
            raise Lost(f"The connection of {self.page} ended.") from self._reader and self._reader.exception()

    async def _send(
        self, element: str = "", kind: str = "", value: Any = None, fragment: str = "", is_auto: bool = False
    ) -> None:
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash = self.query, self._hashes.get(self.page, "")
        state.page_name = "" if state.page_script_hash else self.page
        state.fragment_id, state.is_auto_rerun = fragment, is_auto
        state.cached_message_hashes.extend(self._messages)
        if element:
            used = state.widget_states.widgets.add(id=element)
            _fill(used, kind, value)
        await self._write(message)

    async def _write(self, message: BackMsg) -> None:
        if self._socket is None:
            raise Lost("The page is closed.")
        try:
            await self._socket.send(message.SerializeToString())
        except ConnectionClosed:
            raise Lost(f"The connection of {self.page} ended.") from None

    async def _read(self, stream: ClientConnection) -> None:
        """Take what comes, until the connection ends."""
        try:
            with suppress(ConnectionClosed):
                async for data in stream:
                    self.received += len(data)
                    self._take(ForwardMsg.FromString(data if isinstance(data, bytes) else data.encode()))
        finally:
            self._done.set()

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
            self._number += 1
            self.id = message.new_session.initialize.session_id or self.id
        elif kind == "navigation":
            self._stop_repeating()  # the whole page runs anew
            self._hashes = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
            current = message.navigation.page_script_hash
            self.page = next((path for path, digest in self._hashes.items() if digest == current), "")
        elif kind == "delta":
            self._place(message)
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            again = message.auto_rerun
            self._repeat(again.fragment_id, again.interval)
        elif kind == "stop_auto_rerun":
            if (task := self._repeated.pop(message.stop_auto_rerun.fragment_id, None)) is not None:
                task.cancel()
        elif kind == "script_finished" and message.script_finished != _EARLY:
            self._forget(message.script_finished == _FRAGMENT)
            self._done.set()

    def _forget(self, is_fragment: bool) -> None:
        """Leave out what the last run has not drawn again."""
        fragments = {self.elements[path][2] for path, run in self._drawn.items() if run == self._number}
        for path in [path for path, run in self._drawn.items() if run < self._number]:
            if not is_fragment or self.elements[path][2] in fragments:
                del self.elements[path], self._drawn[path]

    def _place(self, message: ForwardMsg) -> None:
        path, delta = tuple(message.metadata.delta_path), message.delta
        if delta.WhichOneof("type") == "new_element":
            name = delta.new_element.WhichOneof("type")
            element = getattr(delta.new_element, name)
            self.elements[path], self._drawn[path] = (name, element, delta.fragment_id), self._number
            if name in _FAULTS:
                self.faults.append(f"{self.page}: {element.message}")

    def _stop_repeating(self) -> None:
        for task in self._repeated.values():
            task.cancel()
        self._repeated.clear()

    def _repeat(self, fragment: str, interval: float) -> None:
        """Let a part of the page run again and again, as the page asks."""

        async def run() -> None:
            with suppress(Lost):
                while True:
                    await asyncio.sleep(interval)
                    await self._send(fragment=fragment, is_auto=True)

        if fragment not in self._repeated:
            self._repeated[fragment] = asyncio.create_task(run())


def plain(label: str) -> str:
    """A label without icons."""
    return " ".join(word for word in label.split() if not word.startswith(":material"))


def _fill(used: Any, kind: str, value: Any) -> None:
    """Write what an element is set to, as its widget would."""
    if kind in _TRIGGERS:
        used.trigger_value = True
    elif kind == "slider":
        values = value if isinstance(value, list | tuple) else [value]
        used.double_array_value.data.extend(values)
    elif kind == "checkbox":
        used.bool_value = value
    elif kind in ("selectbox", "text_input", "radio") and isinstance(value, str):
        used.string_value = value
    elif kind == "button_group":
        used.string_array_value.data.extend([value] if isinstance(value, str) else value)
    elif isinstance(value, int):
        used.int_value = value
    else:
        raise TypeError(f"{kind} cannot be set to {value!r}")


def guest_cookie(address: str, invitation: str) -> str:
    """The cookie of a new guest of the server.

    Args:
        invitation: the secret of the link.
    """
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
