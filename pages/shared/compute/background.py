"""Something slow for a page: computed once for all sessions, with progress, cancel, and an error in a sentence.

It runs in a server thread under a key, so a refresh or another tab meets it again, and its result is cached. The key
holds the stamp of its source, so a changed source is computed again. The work never touches Streamlit.
"""

import atexit
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import add_script_run_ctx

from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.progress import Event
from pages.shared.compute.cache import results
from pages.shared.widgets import errors
from pages.shared.widgets.names import plain

PATIENCE = 0.2  # seconds that a page waits for a result before it shows the progress
_SECONDS = 0.5  # between two checks of a running computation
_LAST_STEP = 5.0  # seconds that all computations together have to stop when the server ends
_STOPPED = "The computation was cancelled."

T = TypeVar("T")
Key = tuple[Hashable, ...]
Work = Callable[..., T]


@dataclass
class Computation(Generic[T]):
    """The state of one computation.

    Attributes:
        progress: 0 to 1.
        stage: the current part of the work, in the work's own word.
        state: running, done, stopped or failed.
        error: one sentence.
        waits_for: what it waits for before its first stage, in words.
        is_dropped: how it ends is not kept.
    """

    progress: float = 0.0
    stage: str = ""
    state: str = "running"
    error: str = ""
    result: T | None = None
    waits_for: str = ""
    is_dropped: bool = False
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

    def do(self, work: Work[T], failure: str, *inputs: object) -> None:
        """Do the work; the state records how it ended. Arguments as those of `Slow`."""
        try:
            self.result = work(*inputs, self.hear)
            self.state = "done"
        except FitStopped:
            self.state = "stopped"
        except (InputError, ScoreUnavailable) as error:
            self.error, self.state = str(error), "failed"
        except Exception as error:  # nobody else would learn of it
            self.error, self.state = f"{failure}: {error}", "failed"


_starting = threading.Lock()
_running: dict[Key, Computation] = {}
_threads: dict[threading.Thread, Computation] = {}  # of started computations; ended ones go when another starts


@atexit.register
def _end() -> None:
    """Stop running computations before the interpreter exits: a thread inside torch would abort the process."""
    for computation in _threads.values():
        computation.cancel()
    end = time.monotonic() + _LAST_STEP
    for thread in _threads:
        thread.join(max(0.0, end - time.monotonic()))


@dataclass(frozen=True)
class Slow(Generic[T]):
    """The declaration of something slow.

    Attributes:
        key: what identifies its result, with the stamps of its sources; its first part also names the elements.
        work: takes the inputs and a callback, and raises FitStopped soon after that returned False. Runs in a thread.
        words: the text of the bar, or a function that returns it from the stage of the work.
        failure: begins the sentence on an unexpected error.
        inputs: called in the session when the work starts; returns the first arguments of the work.
        again: label of the button that starts it again after it was cancelled.
        is_quiet: one line instead of the bar and the button; no page waits for it.
    """

    key: Key
    work: Work[T]
    words: str | Callable[[str], str]
    failure: str
    inputs: Callable[[], tuple] = tuple
    again: str = "Compute it"
    is_quiet: bool = False

    @property
    def _cache_key(self) -> tuple:
        return __name__, self.key

    def find(self) -> Computation[T] | None:
        """The computation that is running, or that has ended and is still cached."""
        return _running.get(self.key) or results.find(self._cache_key)

    @property
    def result(self) -> T | None:
        """The result; None while there is none."""
        computation = self.find()
        return None if computation is None else computation.result

    def keep(self, computation: Computation[T]) -> Computation[T]:
        """Cache an ended computation."""
        results.put(self._cache_key, computation)
        return computation

    def begin(self, anew: bool = False) -> Computation[T]:
        """Start the work, unless it is running or, without `anew`, has ended."""
        computation = self.find()
        if computation is not None and (computation.is_running or not anew):
            return computation
        with st.spinner(f"{self.words} …" if isinstance(self.words, str) else "Computing …"):
            return self._start()

    def _start(self) -> Computation[T]:
        with _starting:
            if self.key in _running:
                return _running[self.key]
            inputs = self.inputs()
            computation = _running[self.key] = Computation()
            for thread in [thread for thread in _threads if not thread.is_alive()]:
                del _threads[thread]
            thread = threading.Thread(target=self._do, args=(computation, inputs), daemon=True)
            add_script_run_ctx(thread)  # on a server, it says for whom the thread works
            _threads[thread] = computation
            thread.start()
        if not self.is_quiet:
            thread.join(PATIENCE)
        return computation

    def replace_earlier(self) -> None:
        """Stop what this session saw of the same kind under another key; it begins anew when it is needed again."""
        name = f"seen_{self.key[0]}"
        earlier = _running.get(st.session_state.get(name, self.key))
        if earlier is not None and st.session_state[name] != self.key:
            earlier.is_dropped = True
            earlier.cancel()
        st.session_state[name] = self.key

    def value(self) -> T:
        """The result, for other work: waits for it, and tries again after an error; InputError if there is none."""
        computation = self.find()
        computation = self.begin(anew=computation is not None and computation.state in ("failed", "stopped"))
        while computation.is_running:
            time.sleep(_SECONDS)
        if computation.state != "done":
            raise InputError(computation.error or _STOPPED)
        return computation.result

    def box(self, title: str, icon: str) -> DeltaGenerator:
        """An expander for it, open once it was requested."""
        return st.expander(title, icon=icon, expanded=self.find() is not None)

    def panel(self, draw: Callable[[T], None], offer: Callable[[], bool] | None = None) -> bool:
        """Its button, its progress with a button to cancel, or its result; return whether it has ended.

        Args:
            draw: draws the result; not called if it is None, such as for work that is stored with a run.
            offer: draws the button that starts it, and returns whether it was pressed; by default it starts by itself.
        """
        computation = self.find()
        if computation is None and offer is None:
            computation = self.begin()
        if computation is not None and computation.is_running:
            st.fragment(self._progress, run_every=_SECONDS)()
            return False
        if computation is not None and computation.result is not None:
            draw(computation.result)
            return True
        if computation is not None and computation.error:
            st.error(plain(computation.error))
        elif computation is not None and computation.state == "stopped":
            st.caption("Cancelled. Nothing was kept.")
        if offer() if offer is not None else self._is_offered_again(computation):
            self.begin(anew=True)
            st.rerun()
        return True

    def _is_offered_again(self, computation: Computation[T]) -> bool:
        """Draw the button that starts it again; not after an error in the data, which would only come back."""
        is_unexpected = computation.error.startswith(self.failure)
        can_help = computation.state == "stopped" or is_unexpected
        return can_help and not self.is_quiet and st.button(self.again, key=f"{self.key[0]}_again")

    def _do(self, computation: Computation[T], inputs: tuple) -> None:
        try:
            computation.do(self.work, self.failure, *inputs)
        finally:
            if not computation.is_dropped:
                self.keep(computation)
            del _running[self.key]

    def _progress(self) -> None:
        computation = self.find()
        if computation is None or not computation.is_running:
            errors.redraw()
            return
        words = computation.waits_for or "Starting"
        if not computation.waits_for and (computation.stage or self.is_quiet):
            words = self.words if isinstance(self.words, str) else self.words(computation.stage)
        if self.is_quiet:
            st.caption(f"{words} …")
            return
        progress, button = st.columns([3, 1], vertical_alignment="center")
        progress.progress(min(computation.progress, 1.0), text=words)
        button.button("Cancel", key=f"{self.key[0]}_cancel", on_click=computation.cancel)
