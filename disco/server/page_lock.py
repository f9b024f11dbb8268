"""Pages run one after the other, in the order of their clicks.

Threads that compute share one interpreter. With thirty pages at once on two processor cores, each click took twice the
processor time, most of it to hand the interpreter from one thread to another, and every page finished only when all
did.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from disco import apart, system
from disco.server import streamlit_internals

LEASE = 0.5  # seconds after which a page that still runs or waits no longer blocks other pages


class Turns:
    """A fair lock for page scripts, each of which holds it for at most `lease` seconds."""

    def __init__(self, lease: float = LEASE) -> None:
        self.lease = lease
        self._changed = threading.Condition()
        self._waiting: OrderedDict[object, None] = OrderedDict()
        self._holder: object | None = None
        self._own = threading.local()  # the turn of each thread
        self._until = 0.0  # the end of the holder's turn

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and hold it until the end or the lease expires."""
        ticket = self._own.turn = object()
        with self._changed:
            self._waiting[ticket] = None
            while next(iter(self._waiting)) is not ticket:
                self._changed.wait()
            while self._holder is not None and (remaining := self._until - time.monotonic()) > 0:
                self._changed.wait(remaining)
            del self._waiting[ticket]
            self._holder, self._until = ticket, time.monotonic() + self.lease
            self._changed.notify_all()
        try:
            yield
        finally:
            self.leave()

    def leave(self, process: int | None = None) -> None:
        """End this thread's turn, if it has one; the thread runs on, concurrently.

        Args:
            process: one that it waits for, which gets a lower priority than pages.
        """
        with self._changed:
            if process is not None and hasattr(self._own, "turn"):
                system.lower_priority(process)
            if self._holder is not None and self._holder is getattr(self._own, "turn", None):
                self._holder = None
                self._changed.notify_all()


def take() -> None:
    """Make Streamlit run pages, and fragments, in turns."""
    turns = Turns()
    apart.when_waiting(turns.leave)
    streamlit_internals.run_pages_in(turns.turn)
    streamlit_internals.send_together()
