"""Idle connections have a time limit to send their request, and their number is limited.

Otherwise half-sent requests, which cost their sender nothing, would use all file descriptors of the server.
"""

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SECONDS = 15.0  # to send a request up to the end of its headers
MOST = 250  # connections without a request; a descriptor limit of 1,024 is usual


class InTime(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # chosen by uvicorn at import
    """HTTP by uvicorn, for requests that arrive in time; if there are many, the longest-waiting one is closed."""

    _waiting: ClassVar[dict["InTime", asyncio.TimerHandle]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        previous = self.cycle
        super().data_received(data)
        is_websocket = self.transport.get_protocol() is not self
        if is_websocket or self.cycle is not previous:
            self._stop_waiting()
        elif previous is None or previous.response_complete:  # first or later request, still incomplete
            self._wait()

    def connection_lost(self, error: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(error)

    def _wait(self) -> None:
        if self not in self._waiting:
            if len(self._waiting) >= MOST:
                next(iter(self._waiting))._give_up()
            self._waiting[self] = self.loop.call_later(SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if timer := self._waiting.pop(self, None):
            timer.cancel()

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()
