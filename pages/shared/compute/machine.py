"""The capabilities of this machine, determined in the background so no page has to wait.

The engine takes seconds to import, in one server thread, and pages check whether it is done. The likelihood is compiled
in a separate process: in the server, that would block every page.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from typing import Any, TypeVar

import streamlit as st

from disco.errors import FitStopped
from disco.progress import Callback, Event
from disco.work import ENGINE
from pages.shared.widgets import errors

_PATIENCE = 0.05  # seconds a page waits for an answer that may be almost ready
_SECONDS = 0.5  # between two checks
PREPARING = "Preparing curves (once on this computer)"

T = TypeVar("T")


@st.cache_resource(show_spinner=False)
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="disco-machine")


@st.cache_resource(show_spinner=False)
def _engine() -> Future:
    return _thread().submit(import_module, ENGINE[0])


@st.cache_resource(show_spinner=False)
def _rest() -> Future:
    return _thread().submit(lambda: [import_module(name) for name in ENGINE[1:]])


@st.cache_resource(show_spinner=False)
def _compilation() -> threading.Event:
    is_over = threading.Event()
    # Not a pool thread: the interpreter would wait for it on exit.
    threading.Thread(target=_compile, args=(_engine(), is_over), name="disco-compiler", daemon=True).start()
    return is_over


def _compile(engine: Future, is_over: threading.Event) -> None:
    try:
        engine.result()
        import_module("disco.work.ahead").ensure()
    finally:
        is_over.set()


@st.cache_resource(show_spinner=False)
def _drawn() -> threading.Event:
    return threading.Event()


def begin() -> None:
    """Start loading the engine, if it has not begun; called when a page is drawn.

    Imports in two threads share one interpreter: a first page drawn meanwhile would take three times as long.
    """
    _compilation()
    _rest()
    _drawn().set()


def begun() -> bool:
    """Whether a page has been drawn since the start of the app; waits a little if not."""
    return _drawn().wait(_PATIENCE)


def engine_ready() -> bool:
    """Whether the engine is loaded; the first call starts loading it."""
    _compilation()
    return _is_over(_engine())


def compiled() -> bool:
    """Whether the likelihood is compiled, so a page may fit a node; the first call starts compiling it."""
    return _compilation().wait(_PATIENCE)


def once_compiled(work: Callable[..., T]) -> Callable[..., T]:
    """Background work (`background.Slow`) that first waits until the likelihood is compiled."""
    is_over = _compilation()

    def waiting(*arguments: Any) -> T:
        hear: Callback = arguments[-1]
        while not is_over.wait(_PATIENCE):
            if hear(Event("", 0, 1, 0.0, message=PREPARING)) is False:
                raise FitStopped("stopped while the likelihood was compiled")
        return work(*arguments)

    return waiting


def once(is_ready: Callable[[], bool], words: str | Callable[[], str], draw: Callable[[], None]) -> None:
    """Draw something once it is ready; until then, say what the page waits for."""
    if is_ready():
        draw()
    else:
        st.fragment(_wait, run_every=_SECONDS)(is_ready, words)


def _wait(is_ready: Callable[[], bool], words: str | Callable[[], str]) -> None:
    if is_ready():
        errors.redraw()
    st.caption(f":material/hourglass_top: {words if isinstance(words, str) else words()} …")


def _is_over(future: Future) -> bool:
    try:
        future.exception(timeout=_PATIENCE)
    except TimeoutError:
        return False
    return True
