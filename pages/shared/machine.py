"""What this machine can do, found out in the background so that no page waits for it.

The engine takes seconds to import and the calibration some seconds to run; both happen in one thread of the
server, and pages look whether it is done. What the likelihood compiles is compiled in a process apart.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module

import streamlit as st

_PATIENCE = 0.05  # seconds a page waits for an answer that may be just there


@st.cache_resource(show_spinner=False)
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="disco-machine")


@st.cache_resource(show_spinner=False)
def _engine() -> Future:
    return _thread().submit(_load)


def _load() -> None:
    import_module("disco.estimator")
    import_module("disco.work.ahead").start()


@st.cache_resource(show_spinner=False)
def _calibration(device: str) -> Future:
    return _thread().submit(_calibrate, device)


def _calibrate(device: str) -> None:
    from disco.devices import choose_device
    from disco.work.forecast import calibrate

    calibrate(choose_device(device).type)


def engine_ready() -> bool:
    """Whether the engine is loaded; the first call starts to load it."""
    return _is_over(_engine())


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
