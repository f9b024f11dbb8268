"""The address of the page, `?run=ID&draft=TOKEN`: the open run, and the draft.

The session holds the same, and every page synchronises the two, so a refresh, a deep link or another tab shows the same
run and draft. Graph adds what it shows (`pages.shared.session.shown`).
"""

from collections.abc import Iterator
from itertools import count

import streamlit as st

_KEYS = {"run": "shared_run", "draft": "shared_token"}
_GOING = "shared_going"
_SECONDS = 0.1  # until the browser asks for the second run, long before any other timer


def parameter(name: str) -> str | None:
    """The value of a parameter of the address, such as `run` or `draft`."""
    return st.query_params.get(name)


def every(name: str) -> list[str]:
    """The values of a parameter of the address that may be repeated."""
    return st.query_params.get_all(name)


def stored(name: str) -> str | None:
    """The session's value; name is `run` or `draft`."""
    return st.session_state.get(_KEYS[name])


def keep(name: str, value: str | None) -> None:
    """Write an id to the session and to the address; None removes it from both."""
    if value is None:
        st.session_state.pop(_KEYS[name], None)
        st.query_params.pop(name, None)
        return
    st.session_state[_KEYS[name]] = value
    tell({name: value})


def tell(values: dict[str, str | list[str] | None]) -> None:
    """Write parameters to the address; None or an empty list removes one, a list repeats it."""
    current = {name: every(name) for name in st.query_params}
    lists = {name: [value] if isinstance(value, str) else value or [] for name, value in values.items()}
    updated = {name: texts for name, texts in (current | lists).items() if texts}
    if updated != current:
        # At once: every write is an entry in the browser's history.
        st.query_params.from_dict(
            {name: values_of if len(values_of) > 1 else values_of[0] for name, values_of in updated.items()}
        )


def parameters() -> dict[str, str]:
    """The parameters of a link to another page."""
    return {name: value for name in _KEYS if (value := stored(name))}


def go(page: str) -> None:
    """Switch to a page of the app by its name; the open run and the draft stay in the address."""
    st.session_state[_GOING] = page
    st.switch_page(f"pages/{page}/page.py", query_params=parameters())


def arrive(page: str) -> None:
    """On the page that `go` led to, draw it once more as soon as the browser knows it; switch again on another page.

    Streamlit (1.67) merges a switch with a timer's request that comes in between, and then draws the former page anew.
    A request that comes later, before the browser knows of the new page, clears that page once it is drawn.
    """
    target = st.session_state.pop(_GOING, None)
    if target not in (None, page):
        go(target)
    if target is not None:
        with st.sidebar:  # at its end, where an empty container is not seen
            st.fragment(_again, run_every=_SECONDS)(count())


def _again(calls: Iterator[int]) -> None:
    if next(calls):
        st.rerun()
