"""Computations in the background, for pages: progress, cancel, a sentence on what went wrong, a result.

Each runs in a thread of the server under a key, so a refresh or another tab finds it again. The work itself never
touches Streamlit.
"""

import atexit
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import streamlit as st

from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.progress import Callback, Event
from pages.shared.frame.names import plain

SECONDS = 0.5  # between two looks at a computation that is running
_MOST_RESULTS = 8  # kept in memory
_starting = threading.Lock()
_LAST_STEP = 5.0  # seconds that a computation gets to stop when the server ends

T = TypeVar("T")
Key = tuple[str | int, ...]


@dataclass
class Computation(Generic[T]):
    """One computation.

    Attributes:
        progress: 0 to 1.
        stage: the part of the work that it is at, a word of the work's own.
        state: running, done, stopped or failed.
        error: what went wrong, one sentence.
        result: what the work returned.
        waits_for: what it waits for before its first stage, in words.
    """

    progress: float = 0.0
    stage: str = ""
    state: str = "running"
    error: str = ""
    result: T | None = None
    waits_for: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def is_running(self) -> bool:
        """Whether it is still running."""
        return self.state == "running"

    def hear(self, event: Event) -> bool:
        """The callback of the work: it records the progress, and returns False to stop the work."""
        self.progress, self.stage = event.progress, event.stage
        self.waits_for = "" if event.stage else event.message
        return not self._stop.is_set()

    def cancel(self) -> None:
        """Ask the work to stop at its next step."""
        self._stop.set()

    def do(self, work: Callable[[Callback], T], failure: str) -> None:
        """Do the work; the state tells how it ended.

        Args:
            work: is given `hear` as its callback, and raises FitStopped soon after that returned False.
            failure: opens the sentence on an error that the work did not foresee.
        """
        try:
            self.result = work(self.hear)
            self.state = "done"
        except FitStopped:
            self.state = "stopped"
        except (InputError, ScoreUnavailable) as error:
            self.error, self.state = str(error), "failed"
        except Exception as error:  # the thread has nobody else to tell
            self.error, self.state = f"{failure}: {error}", "failed"


_threads: dict[threading.Thread, Computation] = {}  # of computations begun; those that ended go when another begins


@atexit.register
def _end() -> None:
    """Stop what is running before the interpreter ends: a thread that is then within torch would abort the process."""
    for job in _threads.values():
        job.cancel()
    for thread in _threads:
        thread.join(_LAST_STEP)


@st.cache_resource(show_spinner=False)
def _all() -> dict[Key, Computation]:
    return {}


def begin(key: Key, work: Callable[[Callback], T], failure: str) -> Computation[T]:
    """Start some work, or find it if it is running already; the arguments are those of `Computation.do`."""
    with _starting:
        found = find(key)
        if found is None or not found.is_running:
            found = keep(key, Computation())
            for ended in [one for one in _threads if not one.is_alive()]:
                del _threads[ended]
            thread = threading.Thread(target=found.do, args=(work, failure), daemon=True)
            _threads[thread] = found
            thread.start()
    return found


def find(key: Key) -> Computation | None:
    """The computation of a key that was begun, or kept, since the server started."""
    return _all().get(key)


def keep(key: Key, computation: Computation[T]) -> Computation[T]:
    """Let a key find a computation; the oldest results are forgotten when there are many."""
    everything = _all()
    everything[key] = computation
    with_result = [other for other, one in list(everything.items()) if one.result is not None]
    for old in with_result[:-_MOST_RESULTS]:
        everything.pop(old, None)
    return computation


def bar(computation: Computation, text: str, key: str, width: int = 3) -> None:
    """The progress of a running computation, and a button that cancels it.

    Args:
        text: what is being done.
        key: of the button.
        width: of the progress bar, in buttons.
    """
    progress, button = st.columns([width, 1], vertical_alignment="center")
    progress.progress(min(computation.progress, 1.0), text=computation.waits_for or text)
    button.button("Cancel", key=key, on_click=computation.cancel)


def say_end(computation: Computation | None) -> None:
    """Say why a computation that ended has no result; nothing if it has one, or if none was begun."""
    if computation and computation.state == "failed":
        st.error(plain(computation.error))
    elif computation and computation.state == "stopped":
        st.caption("Cancelled; nothing was kept.")


def panel(
    key: Key,
    offer: Callable[[], Callable[[Callback], T] | None],
    shown: Callable[[T], None],
    words: Callable[[str], str],
    failure: str,
) -> None:
    """A computation that the reader asks for: the offer, its progress with a button to cancel, or what it found.

    Args:
        key: of the computation; its first part names the elements, too.
        offer: draws what starts it, and returns the work once the reader asks for it.
        shown: draws the result.
        words: what is being done at a stage of the work, as the text of the bar.
        failure: as in `Computation.do`.
    """
    job = find(key)
    if job is not None and job.is_running:
        st.fragment(_running, run_every=SECONDS)(key, words)
    elif job is not None and job.result is not None:
        shown(job.result)
    else:
        say_end(job)
        if (work := offer()) is not None:
            begin(key, work, failure)
            st.rerun()


def _running(key: Key, words: Callable[[str], str]) -> None:
    job = find(key)
    if job is None or not job.is_running:
        st.rerun()
    bar(job, words(job.stage) if job.stage else "Starting", key=f"{key[0]}_cancel")
