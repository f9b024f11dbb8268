"""Pages run one after the other, in the order of their clicks.

Threads that compute share one interpreter. With thirty pages at once on two processor cores, each click took twice the
processor time, most of it to hand the interpreter from one thread to another, and was ready only when all were.
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
LEASE = 0.5  # seconds after which a page that still runs, or waits for something, keeps nobody from running beside it

P = ParamSpec("P")
T = TypeVar("T")


class Turns:
    """Who may run.

    Args:
        lease: seconds that a turn lasts at most.
    """

    def __init__(self, lease: float = LEASE) -> None:
        self.lease = lease
        self._changed = threading.Condition()
        self._waiting: OrderedDict[object, None] = OrderedDict()
        self._holder: object | None = None
        self._own = threading.local()  # the turn of each thread
        self._until = 0.0  # the end of the holder's turn

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and keep it until the end, or as long as a turn lasts."""
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
        """End the turn of this thread, if it has one; it goes on beside the others.

        Args:
            process: what it waits for, which comes after the pages from now on.
        """
        with self._changed:
            if process is not None and hasattr(self._own, "turn"):
                system.lower_priority(process)
            if self._holder is not None and self._holder is getattr(self._own, "turn", None):
                self._holder = None
                self._changed.notify_all()


def take() -> None:
    """Let Streamlit run pages, and the parts that run alone, in turns."""
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
    """Let what a page draws within a moment reach the server's own thread at once, instead of one element at a time."""
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
