"""Pages run one after the other, in the order of their clicks.

Threads that compute share one interpreter. With thirty pages at once on two processor cores, each click took twice the
processor time, most of it to hand the interpreter from one thread to another, and every page finished only when all
did.
"""

import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import ParamSpec, TypeVar

from disco import apart, system

TOGETHER = 0.02  # seconds
LEASE = 0.5  # seconds after which a page that still runs or waits no longer blocks other pages

P = ParamSpec("P")
T = TypeVar("T")


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
    from streamlit.runtime.scriptrunner import script_runner

    turns = Turns()
    apart.when_waiting(turns.leave)

    def in_turn(run: Callable[P, T]) -> Callable[P, T]:
        @wraps(run)
        def waits(*args: P.args, **kwargs: P.kwargs) -> T:
            with turns.turn():
                return run(*args, **kwargs)

        return waits

    script_runner.exec_func_with_error_handling = in_turn(script_runner.exec_func_with_error_handling)
    _send_together()


def _send_together() -> None:
    """Send what a page draws within a moment to the server's event loop at once, instead of element by element."""
    from streamlit.runtime.app_session import AppSession

    waiting: defaultdict[AppSession, list[Callable[[], None]]] = defaultdict(list)
    lock = threading.Lock()

    def call_soon(session: AppSession, callback: Callable[[], None]) -> None:
        with lock:
            waiting[session].append(callback)
            if len(waiting[session]) > 1:
                return
        loop = session._event_loop
        with suppress(RuntimeError):  # the server ends
            loop.call_soon_threadsafe(loop.call_later, TOGETHER, call, session)

    def call(session: AppSession) -> None:
        with lock:
            callbacks = waiting.pop(session)
        for callback in callbacks:
            session._event_loop.call_soon(callback)

    AppSession._call_soon_on_event_loop = call_soon  # type: ignore[assignment, method-assign]
