"""What this machine can do, found out in the background so that no page waits for it.

The engine takes seconds to import and the calibration some seconds to run; both happen in one thread of the
server, and pages look whether it is done. The likelihood is compiled in a process apart: in the server, that would
keep every page waiting.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from typing import TypeVar

import streamlit as st

from disco.errors import FitStopped
from disco.progress import Callback, Event

_PATIENCE = 0.05  # seconds a page waits for an answer that may be just there
_SECONDS = 0.5  # between two looks at what is waited for
PREPARING = "Preparing curves, once on this computer"

T = TypeVar("T")


@st.cache_resource(show_spinner=False)
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="disco-machine")


@st.cache_resource(show_spinner=False)
def _engine() -> Future:
    return _thread().submit(import_module, "disco.estimator")


@st.cache_resource(show_spinner=False)
def _calibration(device: str) -> Future:
    return _thread().submit(_calibrate, device)


def _calibrate(device: str) -> None:
    from disco.devices import choose_device
    from disco.work.forecast import calibrate

    calibrate(choose_device(device).type)


@st.cache_resource(show_spinner=False)
def _compilation() -> threading.Event:
    is_over = threading.Event()
    # No thread of a pool: the interpreter would wait for it at its end.
    threading.Thread(target=_compile, args=(_engine(), is_over), name="disco-compiler", daemon=True).start()
    return is_over


def _compile(engine: Future, is_over: threading.Event) -> None:
    try:
        engine.result()
        import_module("disco.work.ahead").ensure()
    finally:
        is_over.set()


def engine_ready() -> bool:
    """Whether the engine is loaded; the first call starts to load it."""
    _compilation()
    return _is_over(_engine())


def compiled() -> bool:
    """Whether the likelihood is compiled, so that a page may fit a node; the first call starts to compile it."""
    return _compilation().wait(_PATIENCE)


def once_compiled(work: Callable[[Callback], T]) -> Callable[[Callback], T]:
    """Work in the background that first waits until the likelihood is compiled.

    Args:
        work: is given a callback, as in `background.begin`.
    """
    is_over = _compilation()

    def waiting(hear: Callback) -> T:
        while not is_over.wait(_PATIENCE):
            if hear(Event("", 0, 1, 0.0, message=PREPARING)) is False:
                raise FitStopped("stopped while the likelihood was compiled")
        return work(hear)

    return waiting


def once(is_ready: Callable[[], bool], words: str, draw: Callable[[], None]) -> None:
    """Draw what needs something of this machine or, until that is there, say what is waited for."""
    if is_ready():
        draw()
    else:
        st.fragment(_wait, run_every=_SECONDS)(is_ready, words)


def _wait(is_ready: Callable[[], bool], words: str) -> None:
    if is_ready():
        st.rerun()
    st.caption(f":material/hourglass_top: {words} …")


def calibrated(device: str) -> bool:
    """Whether the speed of a device (auto, cpu or cuda) is known; the first call starts to measure it.

    Raises:
        InputError: the device is not there.
    """
    future = _calibration(device)
    if not _is_over(future):
        return False
    if future.exception() is not None:
        _calibration.clear(device)  # the next call tries again
    future.result()
    return True


def _is_over(future: Future) -> bool:
    try:
        future.exception(timeout=_PATIENCE)
    except TimeoutError:
        return False
    return True
