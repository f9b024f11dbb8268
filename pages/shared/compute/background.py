"""Background computations for pages: progress, cancel, an error in a sentence, a result.

Each runs in a server thread under a key, so a refresh or another tab finds it again. The work itself never touches
Streamlit.
"""

import atexit
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import add_script_run_ctx

from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.progress import Callback, Event
from pages.shared.compute.facts import kept
from pages.shared.widgets import redraw
from pages.shared.widgets.names import plain

SECONDS = 0.5  # between two checks of a running computation
_starting = threading.Lock()
_OURS = __name__  # the first part of the keys of what is kept
_LAST_STEP = 5.0  # seconds that all computations together have to stop when the server ends

T = TypeVar("T")
Key = tuple[str | int, ...]


@dataclass
class Computation(Generic[T]):
    """One computation.

    Attributes:
        progress: 0 to 1.
        stage: the current part of the work, in the work's own word.
        state: running, done, stopped or failed.
        error: what went wrong, one sentence.
        result: the return value of the work.
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
        """Do the work; the state records how it ended.

        Args:
            work: takes `hear` as its callback, and raises FitStopped soon after that returned False.
            failure: begins the sentence on an unexpected error.
        """
        try:
            self.result = work(self.hear)
            self.state = "done"
        except FitStopped:
            self.state = "stopped"
        except (InputError, ScoreUnavailable) as error:
            self.error, self.state = str(error), "failed"
        except Exception as error:  # nobody else would learn of it
            self.error, self.state = f"{failure}: {error}", "failed"


_threads: dict[threading.Thread, Computation] = {}  # of started computations; ended ones go when another starts


@atexit.register
def _end() -> None:
    """Stop running computations before the interpreter exits: a thread inside torch would abort the process."""
    for job in _threads.values():
        job.cancel()
    end = time.monotonic() + _LAST_STEP
    for thread in _threads:
        thread.join(max(0.0, end - time.monotonic()))


_running: dict[Key, Computation] = {}


def begin(
    key: Key, work: Callable[[Callback], T], failure: str, at_once: bool = False, patience: float = 0.0
) -> Computation[T]:
    """Start some work, or find it if it is already running; the arguments are those of `Computation.do`.

    Args:
        at_once: the work takes only a moment, and is done before this returns.
        patience: how many seconds to wait for work that is started now.
    """
    if at_once:
        found = Computation()
        found.do(work, failure)
        return keep(key, found)
    with _starting:
        found = find(key)
        if found is not None and found.is_running:
            return found
        found = _running[key] = Computation()
        for ended in [one for one in _threads if not one.is_alive()]:
            del _threads[ended]
        thread = threading.Thread(target=_do, args=(key, found, work, failure), daemon=True)
        add_script_run_ctx(thread)  # on a server, it says for whom the thread works
        _threads[thread] = found
        thread.start()
    thread.join(patience)
    return found


def _do(key: Key, computation: Computation[T], work: Callable[[Callback], T], failure: str) -> None:
    try:
        computation.do(work, failure)
    finally:
        keep(key, computation)
        del _running[key]


def find(key: Key) -> Computation | None:
    """The computation of a key that is running, or that has ended and is still kept."""
    return _running.get(key) or kept.find((_OURS, key))


def keep(key: Key, computation: Computation[T]) -> Computation[T]:
    """Keep an ended computation under a key."""
    kept.put((_OURS, key), computation)
    return computation


def forget(key: Key) -> None:
    """Drop an ended computation, so it can begin anew."""
    kept.drop((_OURS, key))


def box(title: str, icon: str, key: Key) -> DeltaGenerator:
    """A box for a computation, open once it was asked for."""
    return st.expander(title, icon=icon, expanded=find(key) is not None)


def panel(
    key: Key,
    offer: Callable[[], Callable[[Callback], T] | None],
    shown: Callable[[T], None],
    words: Callable[[str], str],
    failure: str,
    is_quiet: bool = False,
) -> None:
    """A computation: its button, its progress with a button to cancel, or its result.

    Args:
        key: of the computation; its first part also names the elements.
        offer: draws the button that starts it, and returns the work once it is pressed.
        shown: draws the result; not called if it is None, such as for work that is kept with a run.
        words: the text of the bar at a stage of the work.
        failure: as in `Computation.do`.
        is_quiet: one line instead of the bar and the button.
    """
    job = find(key)
    if job is not None and job.is_running:
        st.fragment(_progress, run_every=SECONDS)(key, words, is_quiet)
    elif job is not None and job.result is not None:
        shown(job.result)
    else:
        if job is not None and job.state == "failed":
            st.error(plain(job.error))
        elif job is not None and job.state == "stopped":
            st.caption("Cancelled. Nothing was kept.")
        if (work := offer()) is not None:
            begin(key, work, failure)
            st.rerun()


def _progress(key: Key, words: Callable[[str], str], is_quiet: bool) -> None:
    job = find(key)
    if job is None or not job.is_running:
        redraw.page()
        return
    said = job.waits_for or (words(job.stage) if job.stage or is_quiet else "Starting")
    if is_quiet:
        st.caption(f"{said} …")
        return
    progress, button = st.columns([3, 1], vertical_alignment="center")
    progress.progress(min(job.progress, 1.0), text=said)
    button.button("Cancel", key=f"{key[0]}_cancel", on_click=job.cancel)
