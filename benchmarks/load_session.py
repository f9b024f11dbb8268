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
_PART = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
_FAULTS = ("exception",)
_TOKEN = "_streamlit_xsrf"
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
    _kept: dict[str, bytes] = field(default_factory=dict)
    _repeated: dict[str, asyncio.Task] = field(default_factory=dict)
    _done: asyncio.Event = field(default_factory=asyncio.Event)
    _reader: asyncio.Task | None = None
    id: str = ""
    _urls: asyncio.Future | None = None  # to which a file is sent
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
        where = urlsplit(self.address)
        more = {"Cookie": self.cookie} if self.cookie else {}
        stream = f"ws://{where.netloc}/_stcore/stream"
        await asyncio.to_thread(self._index, page)
        self._socket = await connect(
            stream,
            additional_headers=more,
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

    def _index(self, page: str) -> None:
        where = urlsplit(self.address)
        asked = http.client.HTTPConnection(where.hostname or "", where.port, timeout=PATIENCE)
        asked.request("GET", f"/{page}", headers={"Cookie": self.cookie} if self.cookie else {})
        asked.getresponse().read()
        asked.close()

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

    async def upload(self, label: str, name: str, data: bytes) -> float:
        """Give a file to a box: seconds until the page shows what it is."""
        began = time.perf_counter()
        element, fragment = self.find("file_uploader", label)
        self._urls = asyncio.get_running_loop().create_future()
        message = BackMsg()
        asked = message.file_urls_request
        asked.request_id, asked.session_id = "1", self.id
        asked.file_names.append(name)
        await self._write(message)
        urls = await asyncio.wait_for(self._urls, PATIENCE)
        status = await asyncio.to_thread(self._put, urls.upload_url, name, data)
        if status == 204:
            file = {"file_id": urls.file_id, "name": name, "size": len(data), "file_urls": urls}
            await self._run(element.id, "file_uploader", file, fragment)
        return time.perf_counter() - began

    def _put(self, path: str, name: str, data: bytes) -> int:
        """Send a file; the status of the answer."""
        where, edge = urlsplit(self.address), "edge-of-a-part"
        asked = http.client.HTTPConnection(where.hostname or "", where.port, timeout=PATIENCE)
        asked.request("GET", "/_stcore/health")
        answer = asked.getresponse()
        answer.read()
        cookie = next(one for one in answer.headers.get_all("Set-Cookie") or [] if one.startswith(_TOKEN))
        token = cookie.partition(";")[0].partition("=")[2]
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + data + f"\r\n--{edge}--\r\n".encode()
        headers = {"Cookie": f"{self.cookie}; {_TOKEN}={token}", "X-Xsrftoken": token}
        headers["Content-Type"] = f"multipart/form-data; boundary={edge}"
        asked.request("PUT", path if path.startswith("/") else f"/{path}", body, headers)
        answer = asked.getresponse()
        answer.read()
        asked.close()
        return answer.status

    async def use(self, kind: str, label: str, value: Any = None) -> float:
        """Use an element: seconds until what depends on it is redrawn."""
        began = time.perf_counter()
        element, fragment = self.find(kind, label)
        await self._run(element.id, kind, value, fragment)
        return time.perf_counter() - began

    def find(self, kind: str, label: str) -> tuple[Any, str]:
        """An element by the beginning of its label, and its fragment."""
        for own, element, fragment in self.elements.values():
            if own == kind and plain(getattr(element, "label", "")).startswith(label):
                return element, fragment
        raise KeyError(f"There is no {kind} {label!r} on {self.page}; there are {sorted(self.labels())}")

    def labels(self) -> set[tuple[str, str]]:
        """Kind and label of all that can be used."""
        those = [(kind, element) for kind, element, _ in self.elements.values() if getattr(element, "id", "")]
        return {(kind, plain(getattr(element, "label", ""))) for kind, element in those}

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
        state.cached_message_hashes.extend(self._kept)
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
            place = message.metadata
            message = ForwardMsg.FromString(self._kept[message.ref_hash])
            message.metadata.CopyFrom(place)
            kind = message.WhichOneof("type")
        elif message.metadata.cacheable and message.hash:
            self._kept[message.hash] = message.SerializeToString()
        if kind == "new_session":
            self._number += 1
            self.id = message.new_session.initialize.session_id or self.id
        elif kind == "navigation":
            self._stop_repeating()  # the whole page runs anew
            self._hashes = {one.url_pathname: one.page_script_hash for one in message.navigation.app_pages}
            shown = message.navigation.page_script_hash
            self.page = next((path for path, own in self._hashes.items() if own == shown), "")
        elif kind == "file_urls_response" and self._urls is not None:
            self._urls.set_result(message.file_urls_response.file_urls[0])
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
            self._forget(message.script_finished == _PART)
            self._done.set()

    def _forget(self, is_part: bool) -> None:
        """Leave out what the last run has not drawn again."""
        fragments = {self.elements[place][2] for place, run in self._drawn.items() if run == self._number}
        for place in [place for place, run in self._drawn.items() if run < self._number]:
            if not is_part or self.elements[place][2] in fragments:
                del self.elements[place], self._drawn[place]

    def _place(self, message: ForwardMsg) -> None:
        place, delta = tuple(message.metadata.delta_path), message.delta
        if delta.WhichOneof("type") == "new_element":
            name = delta.new_element.WhichOneof("type")
            element = getattr(delta.new_element, name)
            self.elements[place], self._drawn[place] = (name, element, delta.fragment_id), self._number
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
    elif kind == "file_uploader":
        used.file_uploader_state_value.uploaded_file_info.add(**value)
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


def guest(address: str, invitation: str) -> str:
    """The cookie of a new guest of the server.

    Args:
        invitation: the secret of the link.
    """
    where = urlsplit(address)
    asked = http.client.HTTPConnection(where.hostname or "", where.port, timeout=PATIENCE)
    asked.request("POST", f"/?invite={invitation}")
    answer = asked.getresponse()
    answer.read()
    asked.close()
    cookies = answer.headers.get_all("Set-Cookie") or []
    return "; ".join(cookie.partition(";")[0] for cookie in cookies)
